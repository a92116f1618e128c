// SPDX-License-Identifier: Apache-2.0
// New keys from a key: key i is the encrypted counter i.
#include "spruce/core/cpu/random/threefry.h"
#include "spruce/core/random/primitives.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/random.h"

namespace spruce {
namespace {

struct Both {
  SPRUCE_INLINE cpu::Words operator()(uint32_t a, uint32_t b) const { return {a, b}; }
};

Aval random_split_shape(const ShapeArgs& a) {
  const int64_t n = a.params.get<RandomSplitParams>().n;
  if (n < 0) throw ValueError(std::string(a.op) + ": cannot make " + std::to_string(n) + " keys");
  Shape shape = rules::key_batch(a);
  shape.push_back(n);
  shape.push_back(2);
  check_shape(a.op, shape);
  return Aval{Dtype::kUint32, false, shape};
}

void random_split_kernel(const KernelArgs& args) {
  cpu::fill_from_counters<cpu::Words>(args, args.params.get<RandomSplitParams>().n, Both());
}

std::vector<Sample> random_split_samples() {
  std::vector<Sample> samples;
  for (const Shape& batch : {Shape{}, Shape{2}, Shape{2, 3}, Shape{0}}) {
    for (const int64_t n : {0, 1, 3}) {
      samples.push_back({{rules::key_sample(batch)}, Params::make(RandomSplitParams{n}), true});
    }
  }
  return samples;
}

}  // namespace

extern constinit const Primitive random_split_p = {
    .name = "random_split",
    .shape = random_split_shape,
    .cpu = random_split_kernel,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_keys,
    .samples = random_split_samples,
    .params = kParamsOf<RandomSplitParams>,
    .flops = rules::flops_per_output<40>,
};

}  // namespace spruce
