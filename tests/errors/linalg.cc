// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

Section linalg_mistakes() {
  return {
      "Linear algebra",
      __FILE__,
      {
          {"The inverse of a matrix that is not square", CODE(sp::linalg::inv(sp::ones({2, 3}))),
           CODE(sp::linalg::pinv(sp::ones({2, 3}))), "ShapeError",
           "linalg::inv: takes square matrices, f[..., n, n], got f32[2,3]; linalg::pinv takes "
           "others" HERE},
          {"More equations than unknowns", CODE(sp::linalg::solve(sp::ones({3, 2}), sp::ones({3}))),
           CODE(sp::linalg::lstsq(sp::ones({3, 2}), sp::ones({3}))), "ShapeError",
           "linalg::solve: takes square matrices, f[..., n, n], got f32[3,2]; linalg::lstsq takes "
           "others" HERE},
          {"A right side of another size", CODE(sp::linalg::solve(sp::eye(2), sp::ones({3}))),
           CODE(sp::linalg::solve(sp::eye(3), sp::ones({3}))), "ShapeError",
           "linalg::solve: takes a, f[..., n, n], and b, f[n] or f[..., n, k], got f32[2,2] and "
           "f32[3]; give b the rows of a" HERE},
          {"A vector in the place of a matrix", CODE(sp::linalg::qr(sp::ones({3}))),
           CODE(sp::linalg::qr(sp::ones({3, 1}))), "ShapeError",
           "linalg::qr: takes matrices, f[..., m, n], got f32[3]; give it a second axis with "
           "expand_dims or reshape" HERE},
          {"A mode of qr that does not exist", CODE(sp::linalg::qr(sp::eye(2), {.mode = "full"})),
           CODE(sp::linalg::qr(sp::eye(2), {.mode = "complete"})), "ValueError",
           "linalg::qr: mode \"full\" is unknown; give \"reduced\" or \"complete\"" HERE},
          {"The derivative of singular vectors that are not determined",
           CODE(sp::grad([](const Array& x) { return sp::sum(sp::linalg::svd(x).u); })(
               sp::ones({2, 3}))),
           CODE(sp::grad([](const Array& x) {
             return sp::sum(sp::linalg::svd(x, {.full_matrices = false}).u);
           })(sp::array({{1.0f, 2.0f, 0.0f}, {0.0f, 1.0f, 3.0f}}))),
           "DerivativeError",
           "linalg::svd: singular vectors that belong to no singular value, here of f32[2,3], are "
           "not determined by it, so they have no derivative; give .full_matrices = false" HERE},
          {"A norm that matrices do not have", CODE(sp::norm(sp::ones({2, 2}), {.ord = 3})),
           CODE(sp::norm(sp::ones({2, 2}), {.ord = 2})), "ValueError",
           "norm: ord 3 is no norm of matrices, here f32[2,2]; give \"fro\", \"nuc\", 1, -1, 2, "
           "-2, INFINITY or -INFINITY, or name one axis" HERE},
      }};
}
