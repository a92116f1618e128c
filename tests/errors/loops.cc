// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

namespace {

struct State {
  Array x;
  std::vector<Array> more;
};

Array add(const Array& a, const Array& b) { return a + b; }
std::pair<Array, Array> step(const Array& c, const Array& x) { return {c + x, c}; }

}  // namespace

Section loop_mistakes() {
  return {
      "Loops and branches",
      __FILE__,
      {
          {"A traced value of another loop",
           CODE(Array kept; sp::map([&](const Array& x) { return kept = x; }, sp::ones({3}));
                sp::fori_loop(
                    0, 3, [&](const Array&, const Array& c) { return c + kept; }, sp::ones({}))),
           CODE(const Array kept = sp::map([](const Array& x) { return x; }, sp::ones({3}))[2];
                sp::fori_loop(
                    0, 3, [&](const Array&, const Array& c) { return c + kept; }, sp::ones({}))),
           "TracerError",
           "add: a traced value of map of type f32[] is used outside of the function that it was "
           "traced in, or on another thread; return it from that function (or hand it on as a "
           "second result) instead of storing it elsewhere" HERE},
          {"A carry that changes its shape", CODE(sp::scan(step, sp::zeros({}), sp::ones({4, 3}))),
           CODE(sp::scan(step, sp::zeros({3}), sp::ones({4, 3}))), "ShapeError",
           "scan: carry is f32[] before the body and f32[3] after it; a carry keeps its shape from "
           "step to step" HERE},
          {"A carry that changes its dtype",
           CODE(sp::scan(
               [](const State& s) {
                 return std::pair{State{s.x, {s.more[0] / 2}}, sp::none};
               },
               State{sp::zeros({}), {sp::array(8)}}, {.length = 3})),
           CODE(sp::scan(
               [](const State& s) {
                 return std::pair{State{s.x, {sp::floor_divide(s.more[0], 2)}}, sp::none};
               },
               State{sp::zeros({}), {sp::array(8)}}, {.length = 3})),
           "DtypeError",
           "scan: carry.more.0 is i32[] before the body and f32[] after it; convert one of them "
           "with astype" HERE},
          {"A carry that grows",
           CODE(sp::while_loop([](const State& s) { return s.x < 3; },
                               [](const State& s) {
                                 return State{s.x + 1, {s.x, s.x}};
                               },
                               State{sp::array(0), {sp::array(0)}})),
           CODE(sp::while_loop([](const State& s) { return s.x < 3; },
                               [](const State& s) {
                                 return State{s.x + 1, {s.x}};
                               },
                               State{sp::array(0), {sp::array(0)}})),
           "TreeError",
           "while_loop: the carry before the body and the one after it have different forms: at "
           "more: 1 entries in the first, 2 entries in the second; return a carry like the one "
           "that the body gets" HERE},
          {"Slices of different lengths",
           CODE(sp::scan(
               [](const Array& c, const std::pair<Array, Array>& x) {
                 return std::pair{c + x.first * x.second, sp::none};
               },
               0.0f, std::pair{sp::ones({3}), sp::ones({4})})),
           CODE(sp::scan(
               [](const Array& c, const std::pair<Array, Array>& x) {
                 return std::pair{c + x.first * x.second, sp::none};
               },
               0.0f, std::pair{sp::ones({3}), sp::ones({3})})),
           "ShapeError",
           "scan: xs.0 is f32[3], xs.1 is f32[4]; all leaves of xs must have one size along axis "
           "0" HERE},
          {"Steps through a number", CODE(sp::scan(step, 0.0f, sp::array(3.0f))),
           CODE(sp::scan(step, 0.0f, sp::array({3.0f}))), "ShapeError",
           "scan: xs is f32[], which has no axis to step along; stack the steps along axis "
           "0" HERE},
          {"A length that is not that of the slices",
           CODE(sp::scan(step, 0.0f, sp::ones({3}), {.length = 4})),
           CODE(sp::scan(step, 0.0f, sp::ones({3}))), "ShapeError",
           "scan: xs is f32[3], the length is 4; they must agree, or leave the length out" HERE},
          {"A loop without a length",
           CODE(
               sp::scan(
                   [](const Array& c) {
                     return std::pair{c + 1, sp::none};
                   },
                   0, {})),
           CODE(
               sp::scan(
                   [](const Array& c) {
                     return std::pair{c + 1, sp::none};
                   },
                   0, {.length = 3})),
           "ValueError",
           "scan: there are no xs that say how many steps there are; give a length that is not "
           "negative: {.length = n}" HERE},
          {"A length below zero", CODE(sp::scan(step, 0.0f, sp::ones({3}), {.length = -2})),
           CODE(sp::scan(step, 0.0f, sp::ones({3}))), "ValueError",
           "scan: the length is -2; it must not be negative" HERE},
          {"A loop over an empty array", CODE(sp::map(sp::sin, Array())),
           CODE(sp::map(sp::sin, sp::ones({3}))), "ValueError",
           "map: all arrays of xs are undefined: they have been moved from, as by "
           "step(std::move(model)), or were never given values" HERE},
          {"Prefixes of an empty array", CODE(sp::associative_scan(add, Array())),
           CODE(sp::associative_scan(add, sp::ones({3}))), "ValueError",
           "associative_scan: all arrays of xs are undefined: they have been moved from, as by "
           "step(std::move(model)), or were never given values" HERE},
          {"Reverse mode through a loop without a bound", CODE(sp::grad([](const Array& x) {
             return sp::while_loop([](const Array& y) { return y < 9.0f; },
                                   [](const Array& y) { return y * y; }, x);
           })(sp::array(2.0f))),
           CODE(sp::grad([](const Array& x) {
             return sp::while_loop([](const Array& y) { return y < 9.0f; },
                                   [](const Array& y) { return y * y; }, x, {.max_steps = 9});
           })(sp::array(2.0f))),
           "DerivativeError",
           "while_loop: reverse mode needs to know how many steps there are at most; give "
           "{.max_steps = n}, or use forward mode (jvp, jacfwd)" HERE},
          {"A bound below zero",
           CODE(sp::while_loop([](const Array& y) { return y < 9.0f; },
                               [](const Array& y) { return y * y; }, 2.0f, {.max_steps = -3})),
           CODE(sp::while_loop([](const Array& y) { return y < 9.0f; },
                               [](const Array& y) { return y * y; }, 2.0f, {.max_steps = 3})),
           "ValueError",
           "while_loop: max_steps is -3; it must not be negative, except for -1, no bound" HERE},
          {"Bounds that are too far apart",
           CODE(sp::fori_loop(
               INT64_MIN, INT64_MAX, [](const Array&, const Array& x) { return x; }, 1.0f)),
           CODE(sp::fori_loop(
               INT64_MAX - 3, INT64_MAX, [](const Array&, const Array& x) { return x; }, 1.0f)),
           "ValueError",
           "fori_loop: the bounds are -9223372036854775808 and 9223372036854775807, which are more "
           "than 2^63 - 1 steps apart; nest two loops" HERE},
          {"A bound that is no index",
           CODE(sp::fori_loop(
               0, UINT64_MAX, [](const Array&, const Array& x) { return x; }, 1.0f)),
           CODE(sp::fori_loop(
               0, 3u, [](const Array&, const Array& x) { return x; }, 1.0f)),
           "ValueError",
           "fori_loop: the bound 18446744073709551615 is above 2^63 - 1, the largest index; count "
           "from a smaller one" HERE},
          {"Bounds that no dtype holds",
           CODE(sp::fori_loop(
               sp::array(0).astype(sp::int64), sp::array(3).astype(sp::uint64),
               [](const Array&, const Array& x) { return x; }, 1.0f)),
           CODE(sp::fori_loop(
               sp::array(0).astype(sp::int64), sp::array(3).astype(sp::uint32),
               [](const Array&, const Array& x) { return x; }, 1.0f)),
           "DtypeError",
           "fori_loop: the bounds are i64[] and u64[], and no integer dtype holds both; convert "
           "one "
           "of them with astype" HERE},
          {"A condition with a shape",
           CODE(sp::while_loop([](const Array& y) { return y < 9.0f; },
                               [](const Array& y) { return y * y; }, sp::array({2.0f, 3.0f}))),
           CODE(sp::while_loop([](const Array& y) { return sp::all(y < 9.0f); },
                               [](const Array& y) { return y * y; }, sp::array({2.0f, 3.0f}))),
           "ShapeError",
           "while_loop: the condition is bool[2]; it must be one bool: reduce it with all or "
           "any" WITHIN},
          {"Branches by the elements of an array",
           CODE(sp::cond(sp::array({true, false}), sp::sin, sp::sin, sp::ones({2}))),
           CODE(sp::where(sp::array({true, false}), sp::sin(sp::ones({2})), sp::ones({2}))),
           "ShapeError",
           "cond: the predicate is bool[2]; it must be one bool: reduce it with all or any, or "
           "choose element by element with where" HERE},
          {"Branches with results of different shapes",
           CODE(sp::cond(
               sp::array(true), [](const Array& x) { return x; },
               [](const Array& x) { return sp::sum(x); }, sp::ones({2}))),
           CODE(sp::cond(
               sp::array(true), [](const Array& x) { return sp::max(x); },
               [](const Array& x) { return sp::sum(x); }, sp::ones({2}))),
           "ShapeError",
           "cond: result is f32[] where the predicate does not hold and f32[2] where it holds; all "
           "branches give results of one shape" HERE},
          {"Branches with results of different forms",
           CODE(sp::switch_(sp::array(1),
                            std::tuple{[](const Array& x) {
                                         return State{x, {}};
                                       },
                                       [](const Array& x) {
                                         return State{x, {x}};
                                       }},
                            sp::ones({2}))),
           CODE(sp::switch_(sp::array(1),
                            std::tuple{[](const Array& x) {
                                         return State{x, {0 * x}};
                                       },
                                       [](const Array& x) {
                                         return State{x, {x}};
                                       }},
                            sp::ones({2}))),
           "TreeError",
           "switch_: the result from branch 0 and the one from branch 1 have different forms: at "
           "more: 0 entries in the first, 1 entries in the second" WITHIN},
          {"A branch that returns nothing",
           CODE(sp::cond(
               sp::array(true), [](const Array& x) { return x; },
               [](const Array&) { return Array(); }, sp::ones({2}))),
           CODE(sp::cond(
               sp::array(true), [](const Array& x) { return x; },
               [](const Array& x) { return sp::zeros_like(x); }, sp::ones({2}))),
           "TreeError",
           "cond: the result where the predicate does not hold and the one where it holds have "
           "different forms: at the root: an array in the second, an undefined one in the "
           "first" WITHIN},
          {"A branch by a number that is no integer",
           CODE(sp::switch_(sp::array(1.0f), std::vector{add, add}, sp::ones({2}), sp::ones({2}))),
           CODE(sp::switch_(sp::array(1), std::vector{add, add}, sp::ones({2}), sp::ones({2}))),
           "DtypeError",
           "switch_: the index is f32[], not an integer; convert it with astype" HERE},
          {"A prefix operation that does not keep its shapes",
           CODE(sp::associative_scan([](const Array& a, const Array& b) { return sp::sum(a * b); },
                                     sp::ones({4}))),
           CODE(sp::associative_scan(sp::multiply, sp::ones({4}))), "ShapeError",
           "associative_scan: the function gives f32[] for xs of type f32[2]; it must keep the "
           "types of its arguments, for any size of axis 0" HERE},
      }};
}
