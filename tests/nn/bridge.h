// SPDX-License-Identifier: Apache-2.0
// What the bridge promises of a layer: the same as a struct, as a module, as a function and
// compiled, in both modes, with buffers and random numbers.
#pragma once

#include <gtest/gtest.h>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace bridge_property_test {

inline constexpr CloseOptions kClose{.rtol = 1e-4, .atol = 1e-5};

template <class R>
void expect_close(const R& a, const R& b) {
  const std::vector<Array> x = tree::leaves(a), y = tree::leaves(b);
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(allclose(x[i], y[i], kClose)) << i;
}

// `in` are the inputs; `named` says which layer it is.
template <class L, class... In>
void check_layer(const char* named, const L& layer, const In&... in) {
  SCOPED_TRACE(named);
  for (const bool training : {false, true}) {
    SCOPED_TRACE(training ? "training" : "evaluation");
    Context ctx;
    ctx.training = training;
    ctx.key = Key(5);
    const auto expected = internal::call_with_context(layer, ctx, Loc::none(), in...);
    const NamedArrays after = Stateful<L>(ctx.updated(layer)).state_dict();

    Stateful<L> module(layer);
    module.train(training);
    module.seed(Key(5));
    const auto f = functionalize(module);
    const auto [pure, buffers] = f.apply(f.params, f.buffers, {training, Key(5)}, in...);
    EXPECT_TRUE(tree::equal(module.layer(), layer));  // not touched by the function
    Stateful<L> other(layer);
    other.train(training);
    other.seed(Key(5));
    const auto fast = compile(other)(in...);
    const auto stateful = module(in...);
    for (const auto* got : {&stateful, &pure}) EXPECT_TRUE(tree::equal(*got, expected));
    expect_close(fast, expected);
    EXPECT_TRUE(tree::equal(module.state_dict(), after));
    EXPECT_TRUE(tree::equal(module.named_buffers(), buffers));
    expect_close(other.state_dict(), after);
    EXPECT_TRUE(array_equal(module.node()->key.data(), other.node()->key.data()));
    // And back.
    Stateful<L> back(layer);
    restore(back, f.params, buffers);
    EXPECT_TRUE(tree::equal(back.state_dict(), after));
  }
}

}  // namespace bridge_property_test
}  // namespace spruce::nn
