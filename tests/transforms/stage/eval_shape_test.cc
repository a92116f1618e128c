// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/stage/eval_shape.h"

#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce {
namespace eval_shape_test {

struct Mlp {
  nn::Linear a, b;
  Array operator()(const Array& x) const { return b(nn::relu(a(x))); }
};
Mlp mlp(const Key& key, int64_t width) {
  const auto [k1, k2] = random::split<2>(key);
  return {nn::Linear::init(k1, width, width), nn::Linear::init(k2, width, 4)};
}

TEST(EvalShape, AModelOfTenToTheTwelfthParameters) {
  const int64_t before = memory::peak_bytes();
  const Mlp net = eval_shape([] { return mlp(Key(0), 1'000'000); });
  EXPECT_EQ(to_string(net.a.weight.aval()), "f32[1000000,1000000]");
  EXPECT_EQ(nn::count(net), 1'000'000'000'000 + 1'000'000 + 4'000'000 + 4);
  EXPECT_LT(memory::peak_bytes(), before + 1'000'000);
}

TEST(EvalShape, ResultsAreArgumentsOfAnother) {
  const Mlp net = eval_shape([] { return mlp(Key(0), 1'000'000); });
  const auto optimizer = optim::adam();
  const auto state = eval_shape([&](const Mlp& m) { return optimizer.init(m); }, net);
  const auto [updates, next] = eval_shape(
      [&](const Mlp& m, const auto& s) {
        const Array x = zeros({8, 1'000'000});
        return optimizer.update(grad([&](const Mlp& p) { return mean(p(x)); })(m), s, m);
      },
      net, state);
  EXPECT_EQ(to_string(updates.b.weight.aval()), "f32[4,1000000]");
  EXPECT_EQ(tree::leaves(next).size(), tree::leaves(state).size());
}

// The types are those of a real call, whatever runs inside.
TEST(EvalShape, AsInARealCall) {
  const Array x = ones({3, 4}), w = ones({4, 4});
  const auto f = [&](const Array& a) {
    const auto step = [&](const Array& c, const Array& row) {
      return std::pair{tanh(matmul(c, w)), sum(row)};
    };
    const auto [last, sums] = scan(step, zeros({4}), a);
    const auto twice = [](const Array& y) { return y * 2.0f; };
    return std::tuple{last,           sums,
                      vmap(twice)(a), jit(twice)(a),
                      nn::gelu(a),    cond(sum(a) > 0.0f, twice, twice, a),
                      argmax(a, 1),   std::string("static")};
  };
  const auto real = f(x), shapes = eval_shape(f, x);
  const std::vector<Array> a = tree::leaves(real), b = tree::leaves(shapes);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].aval(), b[i].aval()) << i;
  EXPECT_EQ(std::get<7>(shapes), "static");
}

TEST(EvalShape, WithinOtherTransforms) {
  const auto f = jit([](const Array& x) {
    const Array y = eval_shape([](const Array& a) { return matmul(a, transpose(a)); }, x);
    return full(y.shape(), 2.0f) * sum(x);
  });
  EXPECT_EQ(f(ones({2, 3})).to_vector<float>(), (std::vector<float>{12, 12, 12, 12}));
}

TEST(EvalShape, SummariesOfLargeModels) {
  std::string text;
  eval_shape([&] {
    const Mlp net = mlp(Key(0), 1'000'000);
    text = nn::summary(net, zeros({1, 1'000'000})).text();
    return net;
  });
  EXPECT_NE(text.find("1,000,005,000,004"), std::string::npos) << text;
}

struct Net : nn::Module {
  nn::Stateful<nn::Linear> fc;
  Net() { fc = register_module("fc", nn::Linear::init(Key(0), 2, 3)); }
  Array forward(const Array& x) override { return fc(x); }
};

TEST(EvalShape, AModuleGetsItsArraysFromAFile) {
  Net real;
  Net empty = eval_shape([] { return Net(); });
  EXPECT_TRUE(message([&] {
                return empty(ones({1, 2}));
              }).starts_with("Net: layer fc (Linear): linear: "));
  empty.load_state_dict(real.state_dict());
  EXPECT_TRUE(array_equal(empty(ones({1, 2})), real(ones({1, 2}))));
}

TEST(EvalShape, ErrorsAreThoseOfACall) {
  EXPECT_THROW(eval_shape([](const Array& x) { return x + ones({3}); }, ones({2})), ShapeError);
  EXPECT_THROW(eval_shape([](const Array& x) { return x.item<float>(); }, ones({})), TracerError);
  const Array x = eval_shape([](const Array& a) { return a * 2.0f; }, ones({2}));
  EXPECT_THROW(x.to_vector<float>(), TracerError);
  EXPECT_THROW(x + 1.0f, TracerError);
}

}  // namespace eval_shape_test
}  // namespace spruce
