// SPDX-License-Identifier: Apache-2.0
// Errors inside of models name the layer that they arise in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace error_paths_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

const Array kWrong = ones({5, 7});

TEST(ErrorPaths, OfASequential) {
  const auto net = sequential(dense(4), relu, sequential(tanh, dense(3)), repeat(2, dense(3)));
  const auto p = net.init(Key(0), ones({5, 2}));
  const auto other = net.init(Key(0), ones({5, 7}));
  EXPECT_THAT(message([&] { net(p)(kWrong); }),
              StartsWith("sequential: layer 0 (Linear): linear: x f32[5,7] and weight f32[4,2]"));
  auto inner = other;
  std::get<1>(std::get<2>(inner)) = Linear::init(Key(0), 9, 3);
  EXPECT_THAT(message([&] { net(inner)(kWrong); }),
              StartsWith("sequential: layer 2.1 (Linear): linear: x f32[5,4] and weight f32[3,9]"));
  auto repeated = other;
  std::get<3>(repeated)[1] = Linear::init(Key(0), 9, 3);
  EXPECT_THAT(message([&] { net(repeated)(kWrong); }),
              StartsWith("sequential: layer 3.1 (Linear): linear: x f32[5,3]"));
  const auto fails = sequential(relu, [](const Array& x) -> Array {
    if (x.rank() == 2) throw ValueError("mine: a message");
    return x;
  });
  EXPECT_THAT(message([&] { fails.init(Key(0), kWrong); }),
              StartsWith("sequential: layer 1 (a function): mine: a message"));
  // Under jit and grad as well.
  EXPECT_THAT(message([&] { jit([&](const Array& x) { return net(p)(x); })(kWrong); }),
              StartsWith("sequential: layer 0 (Linear): linear:"));
  EXPECT_THAT(message([&] { grad([&](const auto& p) { return sum(net(p)(kWrong)); })(p); }),
              StartsWith("sequential: layer 0 (Linear): linear:"));
  // Nothing is left behind.
  EXPECT_THAT(message([&] { linear(kWrong, ones({2, 3})); }), StartsWith("linear: x f32[5,7]"));
}

TEST(ErrorPaths, OfModules) {
  Net net(Key(0));
  EXPECT_THAT(message([&] { net(kWrong); }),
              StartsWith("Net: layer block.fc (Linear): linear: x f32[5,7] and weight f32[8,4]"));
  net.eval();
  net.set_layer("out", Linear::init(Key(0), 3, 2));
  EXPECT_THAT(message([&] { net(ones({5, 4})); }), StartsWith("Net: layer out (Linear): linear:"));
  const auto f = functionalize(net);
  EXPECT_THAT(message([&] { f.apply(f.params, f.buffers, {}, kWrong); }),
              StartsWith("Net: layer block.fc (Linear): linear:"));
  EXPECT_THAT(message([&] { net.block->to_string(), (*net.block)(kWrong); }),
              StartsWith("Block: layer fc (Linear): linear:"));
  // A layer by itself is what is called.
  EXPECT_THAT(message([&] { net.out(kWrong); }), StartsWith("linear: x f32[5,7]"));
}

TEST(ErrorPaths, KeepTheTypeOfTheError) {
  const auto net = sequential(embedding_layer(3, 2));
  const auto p = net.init(Key(0), zeros({2}, int32));
  EXPECT_THROW(net(p)(ones({2})), DtypeError);
  EXPECT_THROW(net(p)(full({2}, 7, int32)), IndexError);
}

}  // namespace error_paths_test
}  // namespace spruce::nn
