// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

Section debugging_mistakes() {
  return {
      "Prints, checks and calls of C++",
      __FILE__,
      {
          {"A check that does not hold, in a compiled function", CODE(sp::jit([](const Array& x) {
             sp::check(x > 0.0f, "x must be positive, got {}", x);
             return sp::log(x);
           })(sp::array(-2.0f))),
           CODE(sp::jit([](const Array& x) {
             sp::check(x > 0.0f, "x must be positive, got {}", x);
             return sp::log(x);
           })(sp::array(2.0f))),
           "CheckError", "check: x must be positive, got -2.0" HERE},
          {"A check that does not hold for one of a batch", CODE(sp::vmap([](const Array& x) {
             sp::check(x > 0.0f, "x must be positive, got {}", x);
             return sp::log(x);
           })(sp::array({1.0f, -2.0f}))),
           CODE(sp::vmap([](const Array& x) {
             sp::check(x > 0.0f, "x must be positive, got {}", x);
             return sp::log(x);
           })(sp::array({1.0f, 2.0f}))),
           "CheckError", "check: x must be positive, got -2.0, in example [1] of [2]" HERE},
          {"A check of numbers", CODE(sp::check(sp::ones({3}), "all are there")),
           CODE(sp::check(sp::ones({3}) != 0.0f, "all are there")), "DtypeError",
           "check: the condition is f32[3]; it must be bool: compare the array with "
           "something" HERE},
          {"A value without a place", CODE(sp::debug::print("loss", sp::array(0.5f))),
           CODE(sp::check(true, "loss {}", sp::array(0.5f))), "ValueError",
           "debug::print: \"loss\" has 0 places {} for values, and 1 values were given; write one "
           "{} for each" HERE},
          {"A format of std::format", CODE(sp::debug::print("{:.3f}", 0.5f)),
           CODE(sp::check(true, "{}", 0.5f)), "ValueError",
           "debug::print: \"{:.3f}\" has a lone { at character 0; values go where {} stands, and "
           "{{ and }} are braces" HERE},
          {"C++ code that returns another shape than it said",
           CODE(sp::host_call([](const Array& x) { return sp::sum(x); }, {3}, sp::ones({3}))),
           CODE(sp::host_call([](const Array& x) { return sp::sum(x); }, {}, sp::ones({3}))),
           "ShapeError",
           "host_call: the result of the function is f32[], and host_call was told f32[3]" HERE},
          {"The gradient of C++ code", CODE(sp::grad([](const Array& x) {
             return sp::host_call([](const Array& a) { return a * a; }, {}, x);
           })(sp::array(3.0f))),
           CODE(sp::grad([](const Array& x) {
             return x *
                    sp::host_call([](const Array& a) { return a * a; }, {}, sp::stop_gradient(x));
           })(sp::array(3.0f))),
           "DerivativeError",
           "host_call(f32[]): this operation has no derivative rule; wrap it in stop_gradient or "
           "give one with custom_jvp" HERE},
          {"A file of a function that prints",
           CODE(sp::save_function(
               "prints.fn",
               [](const Array& x) {
                 sp::debug::print("{}", x);
                 return x;
               },
               sp::ones({3}))),
           CODE(sp::save_function(
               "prints.fn", [](const Array& x) { return x; }, sp::ones({3}))),
           "ValueError",
           "save_function: the function calls debug::print, which a file cannot hold; leave it out "
           "of "
           "what is saved" HERE},
      }};
}
