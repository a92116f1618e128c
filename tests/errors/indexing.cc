// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

Section index_mistakes() {
  return {
      "Indices and slices",
      __FILE__,
      {
          {"An index beyond the end", CODE(sp::arange(3)[3]), CODE(sp::arange(3)[-3]), "IndexError",
           "operator[]: index 3 is out of range for axis 0 of i32[3], which has size 3; use "
           "indices from -3 to 2" HERE},
          {"More indices than axes", CODE(sp::zeros({2, 3})[{0, 1, 2}]),
           CODE(sp::zeros({2, 3})[{0, 1}]), "IndexError",
           "operator[]: 3 indices are too many for f32[2,3], which has rank 2" HERE},
          {"An element of a number", CODE(sp::array(1.0f)[0]), CODE(sp::array(1.0f)[sp::ellipsis]),
           "IndexError", "operator[]: 1 index is too many for f32[], which has rank 0" HERE},
          {"Two ellipses", CODE(sp::zeros({2, 3})[{sp::ellipsis, 0, sp::ellipsis}]),
           CODE(sp::zeros({2, 3})[{sp::ellipsis, 0}]), "IndexError",
           "operator[]: an index can have one ellipsis, got 2" HERE},
          {"A slice with step 0", CODE(sp::arange(5)[sp::slice(0, 5, 0)]),
           CODE(sp::arange(5)[sp::slice(0, 5, 2)]), "ValueError",
           "operator[]: the step of a slice is 0; use a positive or negative one" HERE},
          {"Floating indices", CODE(sp::arange(5)[sp::array({0.0f, 1.0f})]),
           CODE(sp::arange(5)[sp::array({0, 1})]), "DtypeError",
           "operator[]: indices must be integers, got f32[2]; convert them with astype" HERE},
          {"Indices in an array beyond the end", CODE(sp::arange(5)[sp::array({0, 7})]),
           CODE(sp::arange(5)[sp::array({0, -5})]), "IndexError",
           "operator[]: index 7 is out of range for axis 0 of i32[5], which has size 5; use "
           "indices from -5 to 4" HERE},
          {"A mask of another shape", CODE(sp::arange(3)[sp::array({true, false})]),
           CODE(sp::arange(3)[sp::array({true, false, true})]), "IndexError",
           "operator[]: the mask bool[2] does not fit i32[3]: axis 0 of the mask has size 2, axis "
           "0 of the array has 3" HERE},
          {"take: an index beyond the end", CODE(sp::take(sp::zeros({4, 2}), sp::array({1, 4}), 0)),
           CODE(sp::take(sp::zeros({4, 2}), sp::array({1, 3}), 0)), "IndexError",
           "take: index 4 is out of range for axis 0 of f32[4,2], which has size 4; use indices "
           "from -4 to 3" HERE},
          {"take_along_axis: another rank",
           CODE(sp::take_along_axis(sp::zeros({4, 2}), sp::array({1, 0}), 1)),
           CODE(sp::take_along_axis(sp::zeros({4, 2}), sp::array({{1, 0}}), 1)), "ShapeError",
           "take_along_axis: f32[4,2] and the indices i32[2] differ in rank; add axes with "
           "expand_dims" HERE},
          {"An update that does not fit its place",
           CODE(sp::zeros({4}).at(sp::slice(0, 2)).set(sp::ones({3}))),
           CODE(sp::zeros({4}).at(sp::slice(0, 2)).set(sp::ones({2}))), "ShapeError",
           "at.set: values of type f32[3] do not broadcast to the place of shape [2] in f32[4]; "
           "reshape them or change the index" HERE},
          {"An update of a dtype that the array does not hold",
           CODE(sp::arange(4).at(0).add(sp::array(0.5f))),
           CODE(sp::arange(4.0f).at(0).add(sp::array(0.5f))), "DtypeError",
           "at.add: the array i32[4] cannot hold values of type f32[]; convert them with "
           "astype(i32), or the array first" HERE},
          {"A C++ number that the array does not hold",
           CODE(sp::zeros({4}, sp::uint8).at(0).set(300)),
           CODE(sp::zeros({4}, sp::uint8).at(0).set(200)), "ValueError",
           "at.set: the number 300 does not fit in uint8, the dtype of the array; convert the "
           "array "
           "with astype, or pass array(300)" HERE},
          {"Dividing integers in place", CODE(sp::arange(4).at(0).divide(2)),
           CODE(sp::arange(4.0f).at(0).divide(2)), "DtypeError",
           "at.divide: takes a floating array, got i32[4]; convert it with astype first" HERE},
          {"Floating class numbers", CODE(sp::one_hot(sp::array({0.0f, 1.0f}), 3)),
           CODE(sp::one_hot(sp::array({0, 1}), 3)), "DtypeError",
           "one_hot: labels must be integers, got f32[2]; convert them with astype" HERE},
      }};
}
