// SPDX-License-Identifier: Apache-2.0
// A new key from a key and a number: the encrypted counter (0, number).
#include "spruce/core/cpu/random/threefry.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/random.h"

namespace spruce {
namespace {

Aval random_fold_in_shape(const ShapeArgs& a) {
  const Shape batch = rules::key_batch(a);
  const Aval& data = *a.in[1];
  if (data.dtype != Dtype::kUint32) {
    throw DtypeError(std::string(a.op) + ": the number is u32, got " + to_string(data) +
                     "; convert it with astype");
  }
  if (!(data.shape == batch)) {
    throw ShapeError(std::string(a.op) + ": " + to_string(*a.in[0]) + " holds keys of shape " +
                     to_string(batch) + " and the numbers have shape " + to_string(data.shape) +
                     "; give one number a key");
  }
  return Aval{Dtype::kUint32, false, a.in[0]->shape};
}

void random_fold_in_kernel(const KernelArgs& args) {
  const auto *keys = args.in[0].as<const uint32_t>(), *data = args.in[1].as<const uint32_t>();
  auto* out = args.out[0].as<uint32_t>();
  for (int64_t i = 0, n = args.in[1].numel(); i < n; ++i) {
    uint32_t a = 0, b = data[i];
    cpu::threefry2x32(keys[2 * i], keys[2 * i + 1], a, b);
    out[2 * i] = a;
    out[2 * i + 1] = b;
  }
}

void batch(const BatchArgs& a) {
  a.out[0] = bind1(a.p,
                   {rules::materialize_batch(a.in[0], a.batched[0], a.size),
                    rules::materialize_batch(a.in[1], a.batched[1], a.size)},
                   a.params);
}

std::vector<Sample> random_fold_in_samples() {
  std::vector<Sample> samples;
  for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 2}, Shape{0}}) {
    SampleInput data;
    data.aval = Aval{Dtype::kUint32, false, batch};
    data.low = 0;
    data.high = 50;
    samples.push_back({{rules::key_sample(batch), data}, {}, true});
  }
  return samples;
}

}  // namespace

extern constinit const Primitive random_fold_in_p = {
    .name = "random_fold_in",
    .shape = random_fold_in_shape,
    .cpu = random_fold_in_kernel,
    .jvp = rules::jvp_zero,
    .batch = batch,
    .samples = random_fold_in_samples,
    .flops = rules::flops_per_output<40>,
};

}  // namespace spruce
