// SPDX-License-Identifier: Apache-2.0
// The number of a slice along a named axis of vmap, which alone can tell it.
#include "spruce/core/rules/collective.h"
#include "spruce/core/rules/cost.h"

namespace spruce {

extern constinit const Primitive axis_index_p = {
    .name = "axis_index",
    .shape =
        [](const ShapeArgs&) {
          return Aval{Dtype::kInt32, false, Shape{}};
        },
    .params = kParamsOf<CollectiveParams>,
    .flops = rules::no_flops,
};

}  // namespace spruce
