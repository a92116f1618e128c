// SPDX-License-Identifier: Apache-2.0
// A contraction that writes its result with the axes in another order.
#include "spruce/core/cpu/gemm/dot.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval dot_transposed_plain(Avals in, const DotTransposedParams& p) {
  return output_avals(dot_general_p, in, dot_params(p.dot()))[0];
}

Aval dot_transposed_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<DotTransposedParams>();
  const Aval product = dot_transposed_plain(a.in, p);
  const std::vector<const Aval*> in = {&product};
  return output_avals(transpose_p, in, Params::make(TransposeParams{p.perm}))[0];
}

void kernel(const KernelArgs& args) {
  const auto& p = args.params.get<DotTransposedParams>();
  cpu::run_dot(args, p.dot(), p.perm);
}

std::unique_ptr<const PreparedKernel> prepare(const PrepareArgs& args) {
  const auto& p = args.params.get<DotTransposedParams>();
  return cpu::prepare_dot(args, p.dot(), p.perm);
}

rules::RowReads rows(const RowArgs& args) {
  const auto& p = args.params.get<DotTransposedParams>();
  return cpu::rows_of_dot(args, p.dot(), p.perm);
}

std::vector<Array> dot_transposed_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<DotTransposedParams>();
  return {rules::transpose_axes(bind1(dot_general_p, in, dot_params(p.dot())), p.perm)};
}

std::vector<Sample> dot_transposed_samples() {
  const auto sample = [](const Shape& a, const Shape& b, DotTransposedParams p) {
    return rules::sample_of({a, b}, Params::make(std::move(p)));
  };
  return {
      sample({2, 3}, {3, 4}, {{1}, {0}, {}, {}, {1, 0}}),
      sample({2, 4}, {5, 3, 4}, {{1}, {2}, {}, {}, {1, 0, 2}}),
      sample({5, 2, 4}, {4, 3}, {{2}, {0}, {}, {}, {0, 2, 1}}),
      sample({2, 3, 4}, {2, 4, 5}, {{2}, {1}, {0}, {0}, {1, 0, 2}}),
      sample({2, 3, 4}, {2, 4, 5}, {{2}, {1}, {0}, {0}, {2, 1, 0}}),
      sample({2, 3, 2}, {2, 4, 2}, {{0, 2}, {2, 0}, {}, {}, {1, 0}}),
      sample({2, 0}, {0, 3}, {{1}, {0}, {}, {}, {1, 0}}),
      sample({0, 3}, {3, 2}, {{1}, {0}, {}, {}, {1, 0}}),
  };
}

}  // namespace

extern constinit const Primitive dot_transposed_p = {
    .name = "dot_transposed",
    .shape = dot_transposed_shape,
    .cpu = kernel,
    .samples = dot_transposed_samples,
    .params = kParamsOf<DotTransposedParams>,
    .expand = dot_transposed_expand,
    .prepare = prepare,
    .rows = rows,
};

}  // namespace spruce
