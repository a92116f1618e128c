// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

Section axis_mistakes() {
  return {
      "Axes and shapes",
      __FILE__,
      {
          {"An axis that is not there", CODE(sp::sum(sp::zeros({2, 3}), 2)),
           CODE(sp::sum(sp::zeros({2, 3}), 1)), "ShapeError",
           "sum: axis 2 is out of range for an array of rank 2, whose axes are -2..1" HERE},
          {"A negative axis that is not there", CODE(sp::mean(sp::zeros({2, 3}), -3)),
           CODE(sp::mean(sp::zeros({2, 3}), -2)), "ShapeError",
           "mean: axis -3 is out of range for an array of rank 2, whose axes are -2..1" HERE},
          {"An unsigned axis below zero",
           CODE(const std::vector<int> v; const Array x = sp::zeros({3});
                sp::stack({x, x}, v.size() - 1)),
           CODE(const std::vector<int> v(1); const Array x = sp::zeros({3});
                sp::stack({x, x}, v.size() - 1)),
           "ShapeError",
           "stack: axis 9223372036854775807 is out of range for an array of rank 2, whose axes are "
           "-2..1" HERE},
          {"An axis named twice", CODE(sp::sum(sp::zeros({2, 3}), {1, -1})),
           CODE(sp::sum(sp::zeros({2, 3}), {0, 1})), "ShapeError",
           "sum: axis -1 is given twice in [1,-1]" HERE},
          {"The size of an axis that is not there", CODE(sp::zeros({2, 3}).shape(2)),
           CODE(sp::zeros({2, 3}).shape(1)), "ShapeError",
           "shape: axis 2 is out of range for an array of rank 2, whose axes are -2..1" HERE},
          {"The largest of no elements", CODE(sp::max(sp::zeros({0, 3}), 0)),
           CODE(sp::max(sp::zeros({0, 3}), 1)), "ShapeError",
           "max: f32[0,3] has no elements along axes [0], and none of nothing is the largest or "
           "smallest; reduce an array with elements there" HERE},
          {"The place of the largest of no elements", CODE(sp::argmax(sp::zeros({0}))),
           CODE(sp::argmax(sp::zeros({1}))), "ShapeError",
           "argmax: f32[0] has no elements along axes [0], and none of nothing is the largest or "
           "smallest; reduce an array with elements there" HERE},
          {"A shape with another number of elements", CODE(sp::zeros({2, 3}).reshape({4, 2})),
           CODE(sp::zeros({2, 3}).reshape({3, 2})), "ShapeError",
           "reshape: f32[2,3] has 6 elements, shape [4,2] has 8; give a shape with as many, or -1 "
           "for one size that follows from the others" HERE},
          {"Two open sizes", CODE(sp::zeros({2, 3}).reshape({-1, -1})),
           CODE(sp::zeros({2, 3}).reshape({-1})), "ShapeError",
           "reshape: shape [-1,-1] has more than one -1; only one size can follow from the "
           "others" HERE},
          {"An open size that does not come out even", CODE(sp::zeros({2, 3}).reshape({4, -1})),
           CODE(sp::zeros({2, 3}).reshape({3, -1})), "ShapeError",
           "reshape: no size in place of the -1 of [4,-1] gives the 6 elements of f32[2,3]; the "
           "other sizes must divide their number" HERE},
          {"Broadcasting to a shape that does not fit",
           CODE(sp::broadcast_to(sp::zeros({3}), {3, 2})),
           CODE(sp::broadcast_to(sp::zeros({3}), {2, 3})), "ShapeError",
           "broadcast_to: f32[3] does not broadcast to shape [3,2]; sizes must be equal or 1, "
           "aligned at the last axis" HERE},
          {"An order of axes that is none", CODE(sp::transpose(sp::zeros({2, 3}), {0, 0})),
           CODE(sp::transpose(sp::zeros({2, 3}), {1, 0})), "ShapeError",
           "transpose: axis 0 is given twice in [0,0]" HERE},
          {"An order with too few axes", CODE(sp::transpose(sp::zeros({2, 3, 4}), {1, 0})),
           CODE(sp::transpose(sp::zeros({2, 3, 4}), {1, 0, 2})), "ShapeError",
           "transpose: [1,0] is no order of the axes of f32[2,3,4]; name each of its 3 axes "
           "once" HERE},
          {"Moving axes to too few places", CODE(sp::moveaxis(sp::zeros({2, 3, 4}), {0, 1}, {2})),
           CODE(sp::moveaxis(sp::zeros({2, 3, 4}), {0, 1}, {1, 2})), "ShapeError",
           "moveaxis: 2 axes are to be moved to 1 places; name as many places as axes" HERE},
          {"Squeezing an axis that is not of size 1", CODE(sp::squeeze(sp::zeros({2, 1}), 0)),
           CODE(sp::squeeze(sp::zeros({2, 1}), 1)), "ShapeError",
           "squeeze: axis 0 of f32[2,1] has size 2; only axes of size 1 can be taken out" HERE},
          {"Adding an axis without saying where", CODE(sp::expand_dims(sp::zeros({2}), sp::none)),
           CODE(sp::expand_dims(sp::zeros({2}), 0)), "ValueError",
           "expand_dims: no axis is named; say where the axis of size 1 goes" HERE},
          {"Concatenating arrays that differ elsewhere",
           CODE(sp::concatenate({sp::zeros({2, 3}), sp::zeros({2, 4})}, 0)),
           CODE(sp::concatenate({sp::zeros({2, 3}), sp::zeros({2, 4})}, 1)), "ShapeError",
           "concatenate: f32[2,3] and f32[2,4] (array 1) do not join along axis 0; all other sizes "
           "must be equal" HERE},
          {"Stacking arrays of different shapes", CODE(sp::stack({sp::zeros({2}), sp::zeros({3})})),
           CODE(sp::stack({sp::zeros({3}), sp::zeros({3})})), "ShapeError",
           "stack: the shapes of f32[2] and f32[3] (array 1) differ; all must be equal" HERE},
          {"Stacking nothing", CODE(sp::stack(std::vector<Array>{})),
           CODE(sp::stack(std::vector<Array>{sp::zeros({2})})), "ValueError",
           "stack: there are no arrays to join; give at least one" HERE},
          {"Cutting into parts that are not equal", CODE(sp::split(sp::zeros({7}), 3)),
           CODE(sp::array_split(sp::zeros({7}), 3)), "ShapeError",
           "split: axis 0 of f32[7] has no 3 equal parts; use array_split, or name the places to "
           "cut at" HERE},
          {"More of the largest than there are", CODE(sp::top_k(sp::zeros({3}), 4)),
           CODE(sp::top_k(sp::zeros({3}), 3)), "ValueError",
           "top_k: k is 4, but the last axis of f32[3] has 3 entries; k must be between 0 and "
           "that" HERE},
          {"Padding for another number of axes",
           CODE(sp::pad(sp::zeros({2, 3}), {{1, 1}, {0, 0}, {2, 2}})),
           CODE(sp::pad(sp::zeros({2, 3}), {{1, 1}, {2, 2}})), "ShapeError",
           "pad: 3 pairs of widths are given for an array of rank 2; give one for each axis" HERE},
          {"Padding by more than memory can hold",
           CODE(sp::pad(sp::zeros({3}), {{std::numeric_limits<int64_t>::max(), 1}})),
           CODE(sp::pad(sp::zeros({3}), {{7, 1}})), "ShapeError",
           "pad: low [9223372036854775807], high [1], interior [0] do not fit f32[3]; none of them "
           "can be beyond 2^60" HERE},
          {"Bits seen as a dtype of another size", CODE(sp::bitcast(sp::zeros({3}), sp::float64)),
           CODE(sp::bitcast(sp::zeros({3}), sp::int32)), "DtypeError",
           "bitcast: the elements of f32[3] cannot be read as float64; both need the same number "
           "of bytes, and bool is only itself" HERE},
      }};
}

Section product_mistakes() {
  return {
      "Products",
      __FILE__,
      {
          {"Matrices that do not fit", CODE(sp::matmul(sp::zeros({2, 3}), sp::zeros({4, 5}))),
           CODE(sp::matmul(sp::zeros({2, 3}), sp::zeros({3, 5}))), "ShapeError",
           "matmul: the contracted sizes differ: a f32[2,3] has 3 on axis 1, b f32[4,5] has 4 on "
           "axis 0" HERE},
          {"A matrix product with a number", CODE(sp::matmul(sp::zeros({2, 3}), 2.0f)),
           CODE(sp::zeros({2, 3}) * 2.0f), "ShapeError",
           "matmul: an operand has no axes: a f32[2,3], b f32*[]; multiply by it with *" HERE},
          {"Batches that do not fit", CODE(sp::matmul(sp::zeros({2, 3, 4}), sp::zeros({5, 4, 3}))),
           CODE(sp::matmul(sp::zeros({2, 3, 4}), sp::zeros({2, 4, 3}))), "ShapeError",
           "matmul: shapes [2] and [5] do not broadcast: axis -1 has sizes 2 and 5; sizes must be "
           "equal or 1, aligned at the last axis" HERE},
          {"Contracted axes that are not as many",
           CODE(sp::tensordot(sp::zeros({2, 3}), sp::zeros({3, 2}), {0, 1}, {0})),
           CODE(sp::tensordot(sp::zeros({2, 3}), sp::zeros({3, 2}), {0, 1}, {1, 0})), "ShapeError",
           "tensordot: axes [0,1] of a and [0] of b are not as many; a f32[2,3], b f32[3,2]" HERE},
          {"A diagonal of an array of rank 3", CODE(sp::diag(sp::zeros({2, 2, 2}))),
           CODE(sp::diagonal(sp::zeros({2, 2, 2}))), "ShapeError",
           "diag: takes a vector or a matrix, got f32[2,2,2]; diagonal() takes any rank" HERE},
          {"einsum: a character that is no subscript",
           CODE(sp::einsum("i1,i->i", {sp::zeros({2}), sp::zeros({2})})),
           CODE(sp::einsum("i,i->i", {sp::zeros({2}), sp::zeros({2})})), "ValueError",
           "einsum(\"i1,i->i\"): the character '1' is no letter, at character 2" HERE},
          {"einsum: an operand is missing", CODE(sp::einsum("ij,jk->ik", {sp::zeros({2, 3})})),
           CODE(sp::einsum("ij,jk->ik", {sp::zeros({2, 3}), sp::zeros({3, 2})})), "ValueError",
           "einsum(\"ij,jk->ik\"): it has the subscripts of 2 operands, 1 are given" HERE},
          {"einsum: subscripts for another rank", CODE(sp::einsum("ijk->k", {sp::zeros({2, 3})})),
           CODE(sp::einsum("ij->j", {sp::zeros({2, 3})})), "ShapeError",
           "einsum(\"ijk->k\"): operand 0 is f32[2,3] and has the subscripts of 3 axes" HERE},
          {"einsum: a subscript with two sizes",
           CODE(sp::einsum("ij,jk->ik", {sp::zeros({2, 3}), sp::zeros({4, 5})})),
           CODE(sp::einsum("ij,jk->ik", {sp::zeros({2, 3}), sp::zeros({3, 5})})), "ShapeError",
           "einsum(\"ij,jk->ik\"): 'j' has the sizes 3 and 4, the latter on axis 0 of operand 1, "
           "f32[4,5]" HERE},
          {"einsum: a result that no operand has", CODE(sp::einsum("ij->ik", {sp::zeros({2, 3})})),
           CODE(sp::einsum("ij->ji", {sp::zeros({2, 3})})), "ValueError",
           "einsum(\"ij->ik\"): the result has 'k', which no operand has, at character 5" HERE},
      }};
}
