// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/rnn.h"

#include "tests/nn/torch_cases.h"

namespace torch_cases {
namespace rnn_test {

// The parameters of lstm() in make_torch_cases.py, which come in the order of PyTorch's.
nn::LSTM torch_lstm(const Options& o, sp::Dtype dtype) {
  nn::LSTM net = nn::LSTM::init(sp::Key(0), 3, 5,
                                {.num_layers = o.integer("layers"),
                                 .bias = o.flag("bias"),
                                 .batch_first = o.flag("first"),
                                 .bidirectional = o.flag("both"),
                                 .dtype = dtype});
  double step = 0.31;
  return sp::tree::map(
      [&](const Array& a) { return (wave(a.shape(), step++) / 10.0).astype(dtype); }, net);
}

TEST(LSTM, AsPyTorch) {
  check("lstm", 16, [](const Array& x, const Options& o) {
    const int64_t cells = o.integer("layers") * (o.flag("both") ? 2 : 1);
    const Array start = (wave({2, cells, 2, 5}, 0.9) / 4.0).astype(x.dtype());
    const nn::LSTMResult r = torch_lstm(o, x.dtype())(x, {start[0], start[1]});
    return sp::concatenate({sp::ravel(r.output), sp::ravel(r.state.h), sp::ravel(r.state.c)});
  });
}

TEST(LSTM, StepsOfTheCell) {
  const auto cell = nn::LSTMCell::init(sp::Key(0), 3, 4);
  const nn::LSTM net{{cell}};
  const Array x = sp::random::normal(sp::Key(1), {6, 2, 3});
  nn::LSTMState state{sp::zeros({2, 4}), sp::zeros({2, 4})};
  const nn::LSTMResult r = net(x);
  for (int64_t t = 0; t < 6; ++t) {
    state = cell(x[t], state);
    EXPECT_TRUE(sp::allclose(r.output[t], state.h)) << t;
  }
  EXPECT_TRUE(sp::allclose(r.state.c[0], state.c));
  EXPECT_TRUE(sp::allclose(net(x[{sp::slice(), 1}]).output, r.output[{sp::slice(), 1}]));
}

TEST(LSTM, DerivativesOfParametersUnderTransforms) {
  const nn::LSTM net = nn::LSTM::init(sp::Key(0), 3, 4, {.dtype = sp::float64});
  const Array x = sp::random::normal(sp::Key(1), {5, 2, 3}, {.dtype = sp::float64});
  const auto loss = [](const nn::LSTM& p, const Array& x) {
    return sp::mean(sp::square(p(x).output));
  };
  const auto g = sp::grad(loss)(net, x), compiled = sp::jit(sp::grad(loss))(net, x);
  const double h = 1e-5;
  nn::LSTM more = net, less = net;
  const Array unit = sp::zeros({16, 4}, sp::float64).at(3, 2).set(h);
  more.cells[0].weight_hh = net.cells[0].weight_hh + unit;
  less.cells[0].weight_hh = net.cells[0].weight_hh - unit;
  const double slope = ((loss(more, x) - loss(less, x)) / (2 * h)).item<double>();
  EXPECT_NEAR((g.cells[0].weight_hh[{3, 2}].item<double>()), slope, 1e-8);
  EXPECT_TRUE(sp::allclose(g.cells[0].weight_hh, compiled.cells[0].weight_hh));
  EXPECT_TRUE(sp::allclose(*g.cells[0].bias_ih, *compiled.cells[0].bias_ih));
  // One gradient for each example of the batch, which sums to n times that of the mean.
  const auto each = sp::vmap(sp::grad(loss), {.in_axes = {sp::none, 1}})(net, x);
  EXPECT_TRUE(sp::allclose(sp::mean(each.cells[0].weight_ih, 0), g.cells[0].weight_ih));
}

TEST(LSTM, InitialValues) {
  const nn::LSTM net = nn::LSTM::init(sp::Key(0), 3, 16, {.num_layers = 2, .bidirectional = true});
  ASSERT_EQ(net.cells.size(), 4u);
  EXPECT_EQ(net.cells[2].weight_ih.shape(), (sp::Shape{64, 32}));
  const double largest = sp::max(sp::abs(net.cells[0].weight_hh)).item<double>();
  EXPECT_LE(largest, 0.25);
  EXPECT_GT(largest, 0.24);
  EXPECT_FALSE(nn::LSTM::init(sp::Key(0), 3, 4, {.bias = false}).cells[0].bias_ih);
}

TEST(LSTM, DropoutBetweenLayersInTraining) {
  const nn::LSTM net = nn::LSTM::init(sp::Key(0), 3, 8, {.num_layers = 2, .dropout = 0.5f});
  const Array x = sp::random::normal(sp::Key(1), {4, 2, 3}), zero = sp::zeros({2, 2, 8});
  nn::Context evaluation, training{.training = true, .key = sp::Key(2)};
  EXPECT_TRUE(sp::array_equal(net(x, {zero, zero}, evaluation).output, net(x).output));
  const nn::LSTMResult r = net(x, {zero, zero}, training);
  EXPECT_FALSE(sp::allclose(r.output, net(x).output));
  EXPECT_TRUE(sp::allclose(r.state.h[0], net(x).state.h[0]));  // the first layer drops nothing
}

TEST(LSTM, BadInput) {
  const nn::LSTM net = nn::LSTM::init(sp::Key(0), 3, 4);
  const Array zero = sp::zeros({1, 2, 4});
  EXPECT_THROW(net(sp::ones({5, 2, 4})), sp::ShapeError);
  EXPECT_THROW(net(sp::ones({3})), sp::ShapeError);
  EXPECT_THROW(net(sp::ones({5, 2, 3}), {zero, sp::zeros({1, 3, 4})}), sp::ShapeError);
  EXPECT_THROW(net(sp::ones({5, 2, 3}), {zero, {}}), sp::ShapeError);
  EXPECT_THROW(nn::LSTM::init(sp::Key(0), 3, 4, {.num_layers = 0}), sp::ValueError);
  EXPECT_THROW(nn::LSTM{}(sp::ones({5, 2, 3})), sp::ValueError);
}

}  // namespace rnn_test
}  // namespace torch_cases
