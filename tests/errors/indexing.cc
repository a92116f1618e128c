// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

Section index_mistakes() {
  return {
      "Indices and slices",
      __FILE__,
      {
          {"An index beyond the end", CODE(sp::arange(3)[3]), CODE(sp::arange(3)[-3]), "?", "?"},
          {"More indices than axes", CODE(sp::zeros({2, 3})[{0, 1, 2}]),
           CODE(sp::zeros({2, 3})[{0, 1}]), "?", "?"},
          {"An element of a number", CODE(sp::array(1.0f)[0]), CODE(sp::array(1.0f)[sp::ellipsis]),
           "?", "?"},
          {"Two ellipses", CODE(sp::zeros({2, 3})[{sp::ellipsis, 0, sp::ellipsis}]),
           CODE(sp::zeros({2, 3})[{sp::ellipsis, 0}]), "?", "?"},
          {"A slice with step 0", CODE(sp::arange(5)[sp::slice(0, 5, 0)]),
           CODE(sp::arange(5)[sp::slice(0, 5, 2)]), "?", "?"},
          {"Floating indices", CODE(sp::arange(5)[sp::array({0.0f, 1.0f})]),
           CODE(sp::arange(5)[sp::array({0, 1})]), "?", "?"},
          {"Indices in an array beyond the end", CODE(sp::arange(5)[sp::array({0, 7})]),
           CODE(sp::arange(5)[sp::array({0, -5})]), "?", "?"},
          {"A mask of another shape", CODE(sp::arange(3)[sp::array({true, false})]),
           CODE(sp::arange(3)[sp::array({true, false, true})]), "?", "?"},
          {"take: an index beyond the end", CODE(sp::take(sp::zeros({4, 2}), sp::array({1, 4}), 0)),
           CODE(sp::take(sp::zeros({4, 2}), sp::array({1, 3}), 0)), "?", "?"},
          {"take_along_axis: another rank",
           CODE(sp::take_along_axis(sp::zeros({4, 2}), sp::array({1, 0}), 1)),
           CODE(sp::take_along_axis(sp::zeros({4, 2}), sp::array({{1, 0}}), 1)), "?", "?"},
          {"An update that does not fit its place",
           CODE(sp::zeros({4}).at(sp::slice(0, 2)).set(sp::ones({3}))),
           CODE(sp::zeros({4}).at(sp::slice(0, 2)).set(sp::ones({2}))), "?", "?"},
          {"An update of a dtype that the array does not hold",
           CODE(sp::arange(4).at(0).add(sp::array(0.5f))),
           CODE(sp::arange(4.0f).at(0).add(sp::array(0.5f))), "?", "?"},
          {"Dividing integers in place", CODE(sp::arange(4).at(0).divide(2)),
           CODE(sp::arange(4.0f).at(0).divide(2)), "?", "?"},
          {"Floating class numbers", CODE(sp::one_hot(sp::array({0.0f, 1.0f}), 3)),
           CODE(sp::one_hot(sp::array({0, 1}), 3)), "?", "?"},
      }};
}
