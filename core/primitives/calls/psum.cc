// SPDX-License-Identifier: Apache-2.0
// The sum over a named axis of vmap. vmap itself carries it out; everything else passes it on.
#include "spruce/core/rules/collective.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce {
namespace {

void psum_transpose(const TransposeArgs& a) { a.out[0] = bind1(psum_p, {a.cts[0]}, a.params); }

}  // namespace

extern constinit const Primitive psum_p = {
    .name = "psum",
    .shape = rules::same_numeric,
    .jvp = rules::jvp_linear,
    .transpose = psum_transpose,
    .batch = rules::batch_elementwise,
    .params = kParamsOf<CollectiveParams>,
};

}  // namespace spruce
