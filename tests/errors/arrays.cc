// SPDX-License-Identifier: Apache-2.0
#include "mistakes.h"

namespace sp = spruce;
using sp::Array;

Section array_mistakes() {
  return {
      "Arrays and dtypes",
      __FILE__,
      {
          {"An array that nobody has set", CODE(Array x; sp::exp(x)),
           CODE(Array x = sp::zeros({2}); sp::exp(x)), "ValueError",
           "exp: this Array is empty, the argument x (default-constructed, or moved from); give it "
           "a value before it is used" HERE},
          {"An operand that nobody has set", CODE(Array b; sp::matmul(sp::ones({2, 2}), b)),
           CODE(Array b = sp::ones({2, 2}); sp::matmul(sp::ones({2, 2}), b)), "ValueError",
           "matmul: this Array is empty, the argument b (default-constructed, or moved from); give "
           "it a value before it is used" HERE},
          {"A leaf that nobody has set",
           CODE(sp::tree::map(sp::exp, std::vector<Array>{sp::ones({2}), Array()})),
           CODE(sp::tree::map(sp::exp, std::vector<Array>{sp::ones({2}), sp::ones({2})})),
           "ValueError",
           "tree::map: the leaf 1 is an empty Array (default-constructed, or moved from), which "
           "the function does not take; give it a value, or return it as it is where it is not "
           "defined()" HERE},
          {"An entry that the shape lacks", CODE(sp::zeros({2, 3}).shape()[2]),
           CODE(sp::zeros({2, 3}).shape()[-1]), "ShapeError",
           "shape: the shape [2,3] has no entry 2; they are 0..1, and -1..-2 from the end"},
          {"An unsigned index below zero",
           CODE(const std::vector<int> v; sp::zeros({3})[v.size() - 1]),
           CODE(const std::vector<int> v(3); sp::zeros({3})[v.size() - 1]), "IndexError",
           "operator[]: the unsigned index 18446744073709551615 is out of range for every array; "
           "below zero, unsigned numbers start over from the largest one: compute it with "
           "int64_t" HERE},
          {"More parts than could be held", CODE(sp::split(sp::zeros({0}), int64_t{1} << 40)),
           CODE(sp::split(sp::zeros({8}), 4)), "ValueError",
           "split: 1099511627776 sections of an axis of size 0; at most one for each entry, or "
           "1048576, can be made" HERE},
          {"Counts that add up to too much",
           CODE(sp::repeat(sp::zeros({2}), std::vector<int64_t>{INT64_MAX, 1})),
           CODE(sp::repeat(sp::zeros({2}), std::vector<int64_t>{2, 1})), "ShapeError",
           "repeat: the counts for axis 0 of f32[2] add up to more than int64 can count" HERE},
          {"Shapes that do not broadcast", CODE(sp::zeros({2, 3}) + sp::zeros({4})),
           CODE(sp::zeros({2, 3}) + sp::zeros({3})), "ShapeError",
           "add: f32[2,3], f32[4] do not broadcast: axis -1 has sizes 3 and 4; sizes must be equal "
           "or 1, aligned at the last axis" HERE},
          {"A condition whose shape does not broadcast",
           CODE(sp::where(sp::array({true, false}), sp::zeros({3}), sp::ones({3}))),
           CODE(sp::where(sp::array({true, false, true}), sp::zeros({3}), sp::ones({3}))),
           "ShapeError",
           "where: shapes [2] and [3] do not broadcast: axis -1 has sizes 2 and 3; sizes must be "
           "equal or 1, aligned at the last axis" HERE},
          {"Values that do not fill the shape", CODE(sp::array({1.0f, 2.0f, 3.0f}, {2, 2})),
           CODE(sp::array({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2})), "ShapeError",
           "array: 3 values do not fill shape [2,2], which has 4 elements" HERE},
          {"Nested lists of different lengths", CODE(sp::array({{1.0f, 2.0f}, {3.0f}})),
           CODE(sp::array({{1.0f, 2.0f}, {3.0f, 4.0f}})), "ShapeError",
           "array: nested lists are ragged: one has 1 entries, the first has 2" HERE},
          {"A negative size", CODE(sp::zeros({2, -3})), CODE(sp::zeros({2, 3})), "ShapeError",
           "zeros: shape [2,-3] has the negative size -3 on axis 1" HERE},
          {"More elements than can be counted",
           CODE(sp::zeros({int64_t{1} << 40, int64_t{1} << 40})), CODE(sp::zeros({4, 4})),
           "ShapeError",
           "zeros: shape [1099511627776,1099511627776] has more bytes than int64 can count" HERE},
          {"More bytes than there is memory", CODE(sp::zeros({int64_t{1} << 51})),
           CODE(sp::zeros({int64_t{1} << 11})), "DeviceError",
           "zeros: there is no memory on the device cpu for f32[2251799813685248], "
           "9007199254740992 bytes; make it "
           "smaller, or let other arrays go (memory::live_bytes() says what they hold)" HERE},
          {"A rank above 16", CODE(sp::zeros(sp::Shape::filled(17, 1))),
           CODE(sp::zeros(sp::Shape::filled(16, 1))), "ShapeError",
           "shape: rank 17 is above the largest one, 16; merge axes by reshape"},
          {"A range with step 0", CODE(sp::arange(0, 5, 0)), CODE(sp::arange(0, 5, 2)),
           "ValueError", "arange: a step of 0 leads nowhere; give another one" HERE},
          {"A negative number of points", CODE(sp::linspace(0.0f, 1.0f, -1)),
           CODE(sp::linspace(0.0f, 1.0f, 5)), "ValueError",
           "linspace: -1 numbers cannot be made; n must not be negative" HERE},
          {"A C++ number that the dtype does not hold", CODE(sp::zeros({2}, sp::int8) + 300),
           CODE(sp::zeros({2}, sp::int16) + 300), "ValueError",
           "add: the number 300 does not fit in int8, the dtype of the array; convert the array "
           "with astype, or pass array(300)" HERE},
          {"A difference of truth values", CODE(sp::array({true, false}) - sp::array({true, true})),
           CODE(sp::array({true, false}) ^ sp::array({true, true})), "DtypeError",
           "subtract: takes numbers, not bool, got bool[2], bool[2]; convert with astype" HERE},
          {"Bits of floating values", CODE(sp::ones({2}) & sp::ones({2})),
           CODE(sp::ones({2}, sp::int32) & sp::ones({2}, sp::int32)), "DtypeError",
           "bitwise_and: takes bool or integers, got f32[2], f32[2]; convert with astype" HERE},
          {"The remainder of shapes that do not broadcast", CODE(sp::zeros({2, 3}) % sp::ones({4})),
           CODE(sp::zeros({2, 3}) % sp::ones({3})), "ShapeError",
           "remainder: f32[2,3], f32[4] do not broadcast: axis -1 has sizes 3 and 4; sizes must be "
           "equal or 1, aligned at the last axis" HERE},
          {"The greatest common divisor of floating values", CODE(sp::gcd(sp::ones({2}), 2.0f)),
           CODE(sp::gcd(sp::ones({2}, sp::int32), 2)), "DtypeError",
           "gcd: takes integers, got f32[2], f32*[]; convert with astype" HERE},
          {"A negative power of integers", CODE(sp::power(sp::arange(3), -1)),
           CODE(sp::power(sp::arange(3.0f), -1)), "ValueError",
           "power: i32[3] to the power of -1 is no integer; convert it to a floating dtype with "
           "astype first" HERE},
          {"Reading one number from many", CODE(sp::zeros({3}).item<float>()),
           CODE(sp::zeros({1}).item<float>()), "ShapeError",
           "item: an array of type f32[3] has 3 elements; item reads arrays with exactly one" HERE},
          {"Reading one number as another type", CODE(sp::array(1.5f).item<int>()),
           CODE(sp::array(1.5f).item<float>()), "DtypeError",
           "item: an array of type f32[] does not read as int32; ask for its own C++ type or "
           "convert with astype" HERE},
          {"Reading elements as another type", CODE(sp::arange(3).to_vector<float>()),
           CODE(sp::arange(3).to_vector<int32_t>()), "DtypeError",
           "to_vector: an array of type i32[3] does not read as float32; ask for its own C++ type "
           "or convert with astype" HERE},
          {"Seeing elements as another type", CODE(const Array x = sp::arange(3); x.data<double>()),
           CODE(const Array x = sp::arange(3); x.data<int32_t>()), "DtypeError",
           "data: an array of type i32[3] does not read as float64; ask for its own C++ type or "
           "convert with astype" HERE},
          {"The truth of several numbers", CODE(if (sp::zeros({3}) == sp::ones({3})) return ),
           CODE(if (sp::all(sp::zeros({3}) == sp::ones({3}))) return ), "ShapeError",
           "bool: an array of type bool[3] has 3 elements; reduce it with any or all first, or "
           "write & instead of && and | instead of ||"},
          {"A NaN, with checks on request",
           CODE(sp::set_debug_nans(true); sp::log(sp::array({1.0f, -1.0f}))),
           CODE(sp::set_debug_nans(false); sp::log(sp::array({1.0f, -1.0f}))), "ValueError",
           "log(f32[2]): the result f32[2] has a NaN and the inputs have none; look at the inputs "
           "of this operation (SPRUCE_DEBUG_NANS=1 checks each result)" HERE},
          {"Another NaN, from infinities",
           CODE(sp::set_debug_nans(true); const Array x = sp::exp(sp::array({100.0f})); x - x),
           CODE(sp::set_debug_nans(false); const Array x = sp::exp(sp::array({100.0f})); x - x),
           "ValueError",
           "sub(f32[1], f32[1]): the result f32[1] has a NaN and the inputs have none; look at the "
           "inputs of this operation (SPRUCE_DEBUG_NANS=1 checks each result)" HERE},
          {"A label that is no class in a compiled function, with checks on request",
           CODE(sp::set_debug_nans(true); const auto loss = sp::jit([](const Array& y) {
                                            return sp::nn::cross_entropy(sp::ones({2, 3}), y);
                                          });
                loss(sp::array({0, 3}))),
           CODE(sp::set_debug_nans(false); const auto loss = sp::jit([](const Array& y) {
                                             return sp::nn::cross_entropy(sp::ones({2, 3}), y);
                                           });
                loss(sp::array({0, 2}))),
           "IndexError",
           "cross_entropy: the target holds class 3, the input has classes 0..2" HERE},
          {"A loss that becomes NaN while an estimator is fitted",
           CODE(const auto net = sp::nn::estimator(sp::nn::dense(1), sp::nn::mse_loss,
                                                   sp::optim::sgd({.learning_rate = 1e30f}));
                net.fit(sp::Key(0), sp::ones({64, 2}), sp::ones({64, 1}))),
           CODE(const auto net = sp::nn::estimator(sp::nn::dense(1), sp::nn::mse_loss,
                                                   sp::optim::sgd({.learning_rate = 0.1f}));
                net.fit(sp::Key(0), sp::ones({64, 2}), sp::ones({64, 1}))),
           "ValueError",
           "fit: the loss of step 3, in epoch 1 is NaN (steps and epochs count from 0); look for "
           "NaN in the data, take a smaller learning rate or optim::clip_by_global_norm; "
           "SPRUCE_DEBUG_NANS=1 names the operation that makes the first NaN" HERE},
          {"A loss that is NaN, checked in a compiled step",
           CODE(const auto step = sp::jit([](const Array& w, const Array& x, const Array& i) {
                  const Array loss = sp::sum(w * x);
                  sp::check(!sp::isnan(loss), "the loss is NaN at step {}", i);
                  return w - loss;
                });
                step(sp::ones({2}), sp::log(sp::array({1.0f, -1.0f})), sp::array(7))),
           CODE(const auto step = sp::jit([](const Array& w, const Array& x, const Array& i) {
                  const Array loss = sp::sum(w * x);
                  sp::check(!sp::isnan(loss), "the loss is NaN at step {}", i);
                  return w - loss;
                });
                step(sp::ones({2}), sp::array({1.0f, 2.0f}), sp::array(7))),
           "CheckError", "check: the loss is NaN at step 7" HERE},
      }};
}
