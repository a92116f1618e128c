// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/body/masked_operands.h"

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::internal {

std::vector<Array> masked_operands(std::vector<Array> in, const Mask& batched, const Array& mask) {
  bool shared = false;
  for (size_t i = 0; i < in.size(); ++i)
    shared = shared || (mask.size() > 0 && !batched[i] && is_floating(in[i].dtype()));
  if (!shared) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (batched[i] && is_floating(in[i].dtype())) in[i] = bind1(guard_p, {in[i], mask});
    }
    return in;
  }
  const Array some = any(mask);
  for (size_t i = 0; i < in.size(); ++i) {
    if (batched[i])
      in[i] = bind1(fill_unmasked_p, {in[i], mask});
    else if (is_floating(in[i].dtype()))
      in[i] = bind1(guard_p, {in[i], some});
  }
  return in;
}

}  // namespace spruce::internal
