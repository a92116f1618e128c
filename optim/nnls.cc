// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/nnls.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/control/loops/scan.h"

namespace spruce::optim {

Array nnls(const Array& a, const Array& b, const NnlsOptions& o, Loc loc) {
  const OpScope at("nnls", loc);
  spruce::internal::require_defined("nnls", "a", a, "b", b);
  if (!is_floating(a.dtype()) || b.dtype() != a.dtype()) {
    throw DtypeError("nnls: a is " + to_string(a.aval()) + ", b is " + to_string(b.aval()) +
                     "; both must have one floating dtype");
  }
  if (a.rank() != 2 || b.rank() < 1 || b.rank() > 2 || b.shape()[0] != a.shape()[0]) {
    throw ShapeError("nnls: a is " + to_string(a.aval()) + ", b is " + to_string(b.aval()) +
                     "; they must be f[m,n] and f[m], or f[m,n] and f[m,k]");
  }
  if (o.iterations < 0) {
    throw ValueError("nnls: iterations is " + std::to_string(o.iterations) +
                     ", it must not be negative");
  }
  const Array square_of = matmul(transpose(a), a), target = matmul(transpose(a), b);
  Array bound = o.lipschitz;
  if (!bound.defined()) {
    const Array sums = sum(abs(square_of), 0);
    bound = sqrt(sum(square(square_of)));
    if (sums.size() > 0) bound = minimum(bound, max(sums));
  }
  bound = where(bound == 0, ones_like(bound), bound);
  const auto step = [&](const std::tuple<Array, Array, Array>& carry) {
    const auto& [x, point, weight] = carry;
    const Array next = maximum(point - (matmul(square_of, point) - target) / bound, 0);
    const Array next_weight = (1 + sqrt(1 + 4 * square(weight))) / 2;
    return std::pair{std::tuple{next, next + (weight - 1) / next_weight * (next - x), next_weight},
                     none};
  };
  const Array start = zeros_like(target);
  return std::get<0>(
      scan(step, std::tuple{start, start, zeros({}, a.dtype())}, {.length = o.iterations}).first);
}

}  // namespace spruce::optim
