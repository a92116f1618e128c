// SPDX-License-Identifier: Apache-2.0
// The first input, with what stands where the second, a mask for its leading axes, is false
// replaced by what stands at the first place where it is true. vmap hands it to the branches of a
// cond: an example that does not take a branch computes it with the operands of one that does, so
// that it meets no infinity of its own. A primitive and not the operations that it is made of,
// because a second vmap widens the mask: the first place is then one of all examples.
#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/derive/stop_gradient.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce {
namespace {

std::vector<Array> expand(std::span<const Array> in, const Params&) {
  const Array &x = in[0], &mask = in[1];
  if (mask.size() == 0) return {x};
  Shape rest{mask.shape().numel()};
  for (int i = mask.rank(); i < x.rank(); ++i) rest.push_back(x.shape()[i]);
  const Array first = argmax(astype(reshape(mask, {-1}), int32));
  return {where(rules::over_leading_axes(mask, x.rank()), x,
                reshape(stop_gradient(x), rest)[Index(first)])};
}

void fill_unmasked_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in);
  if (a.tangents[0].defined()) a.out_tangents[0] = bind1(guard_p, {a.tangents[0], a.in[1]});
}

void fill_unmasked_batch(const BatchArgs& a) {
  std::vector<Array> in;
  for (size_t i = 0; i < 2; ++i)
    in.push_back(rules::materialize_batch(a.in[i], a.batched[i], a.size));
  a.out[0] = bind1(a.p, in);
}

std::vector<Sample> fill_unmasked_samples() {
  Sample s = rules::sample_of({{2, 3}, {2}});
  s.in[1].aval.dtype = Dtype::kBool;
  s.in[1].values = {1, 1};
  return {s};
}

}  // namespace

extern constinit const Primitive fill_unmasked_p = {
    .name = "fill_unmasked",
    .shape = rules::masked_shape,
    .jvp = fill_unmasked_jvp,
    .batch = fill_unmasked_batch,
    .samples = fill_unmasked_samples,
    .call = expand,
    .expand = expand,
};

}  // namespace spruce
