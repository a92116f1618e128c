// SPDX-License-Identifier: Apache-2.0
// RNN, LSTM, GRU and their cells. The LSTM without projections is in rnn_test.cc as well.
#include <cmath>

#include "spruce/nn/rnn.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace recurrent_layers_test {

// The layer of a case; `size` is how many of the inputs are x and states.
template <class L, class LayerOptions>
L layer_of(const Inputs& in, const Options& o, size_t size, LayerOptions options) {
  options.num_layers = o.integer("layers");
  options.bidirectional = o.flag("both");
  options.batch_first = o.flag("first");
  options.bias = o.flag("bias");
  return filled(L::init(sp::Key(0), 2, 3, options), in, size);
}

nn::SequenceOptions steps_of(const Options& o) {
  if (o.text("form") == "lengths") return {.lengths = sp::array({2, 4, 1})};
  if (o.text("form") != "mask") return {};
  const Array mask = sp::array({{1, 1, 0, 0}, {1, 1, 1, 1}, {1, 0, 0, 0}}) > 0;
  return {.mask = o.flag("first") ? mask : sp::transpose(mask)};
}

template <class L, class LayerOptions>
Function run(const LayerOptions& options) {
  return [options](const Inputs& in, const Options& o) {
    const size_t start = o.flag("start") ? 1 : 0;
    const L layer = layer_of<L>(in, o, 1 + start, options);
    const nn::RecurrentResult r = layer(in[0], start ? in[1] : Array(), steps_of(o));
    return joined({r.output, r.state});
  };
}

TEST(RNN, AsPyTorch) {
  check("rnn", 13, run<nn::RNN>(nn::RNNOptions{}));
  check("rnn_relu", 13, run<nn::RNN>(nn::RNNOptions{.nonlinearity = nn::Nonlinearity::kRelu}));
}

TEST(GRU, AsPyTorch) { check("gru", 13, run<nn::GRU>(nn::GRUOptions{})); }

TEST(LSTM, ProjectionsAndLengthsAsPyTorch) {
  check("lstm_layer", 26, [](const Inputs& in, const Options& o) {
    const size_t start = o.flag("start") ? 2 : 0;
    const auto layer =
        layer_of<nn::LSTM>(in, o, 1 + start, nn::LSTMOptions{.proj_size = o.integer("proj")});
    const nn::LSTMState state = start ? nn::LSTMState{in[1], in[2]} : nn::LSTMState{};
    const nn::LSTMResult r = layer(in[0], state, steps_of(o));
    return joined({r.output, r.state.h, r.state.c});
  });
}

TEST(Cells, AsPyTorch) {
  check("rnn_cell", 16, [](const Inputs& in, const Options& o) {
    const size_t start = o.flag("start") ? 1 : 0;
    const bool relu = o.text("kind") == "relu";
    const auto cell = nn::RNNCell::init(
        sp::Key(0), 2, 3,
        {.bias = o.flag("bias"),
         .nonlinearity = relu ? nn::Nonlinearity::kRelu : nn::Nonlinearity::kTanh});
    return sp::ravel(filled(cell, in, 1 + start)(in[0], start ? in[1] : Array()));
  });
  check("gru_cell", 8, [](const Inputs& in, const Options& o) {
    const size_t start = o.flag("start") ? 1 : 0;
    const auto cell = nn::GRUCell::init(sp::Key(0), 2, 3, {.bias = o.flag("bias")});
    return sp::ravel(filled(cell, in, 1 + start)(in[0], start ? in[1] : Array()));
  });
  check("lstm_cell", 8, [](const Inputs& in, const Options& o) {
    const size_t start = o.flag("start") ? 2 : 0;
    const auto cell = nn::LSTMCell::init(sp::Key(0), 2, 3, {.bias = o.flag("bias")});
    const nn::LSTMState state = start ? nn::LSTMState{in[1], in[2]} : nn::LSTMState{};
    const nn::LSTMState next = filled(cell, in, 1 + start)(in[0], state);
    return joined({next.h, next.c});
  });
}

// What a sequence gives alone, it gives in a batch of longer ones.
TEST(GRU, LengthsMayBeTraced) {
  const nn::GRU net = nn::GRU::init(sp::Key(0), 2, 3, {.num_layers = 2, .bidirectional = true});
  const Array x = sp::random::normal(sp::Key(1), {6, 4, 2}), lengths = sp::array({6, 0, 3, 1});
  const auto f = [&](const Array& lengths) { return net(x, {}, {.lengths = lengths}).output; };
  const Array y = f(lengths);
  EXPECT_TRUE(sp::allclose(sp::jit(f)(lengths), y));
  const Array three = net(x[{sp::slice(3), 2}]).output;
  EXPECT_TRUE(sp::allclose(y[{sp::slice(3), 2}], three));
  EXPECT_EQ(sp::max(sp::abs(y[{sp::slice(), 1}])).item<float>(), 0);
  const auto one = [&](const Array& x, const Array& n) {
    return net(x, {}, {.lengths = n}).output;
  };
  EXPECT_TRUE(sp::allclose(sp::vmap(one, {.in_axes = {1, 0}, .out_axes = 1})(x, lengths), y));
}

TEST(Recurrent, NanBehindTheEndReachesNoGradient) {
  const Array x = sp::random::normal(sp::Key(1), {4, 2, 3});
  const auto agree = [&](const auto& net) {
    const auto f = [](const auto& net, const Array& x) {
      return sp::sum(net(x, {}, nn::SequenceOptions{.lengths = sp::array({4, 2})}).output);
    };
    const auto clean = x.at(sp::slice(2, sp::none), 1).set(0);
    const auto nan = x.at(sp::slice(2, sp::none), 1).set(NAN);
    const auto want = sp::tree::entries(sp::grad(f)(net, clean));
    const auto got = sp::tree::entries(sp::grad(f)(net, nan));
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_TRUE(sp::array_equal(got[i].value, want[i].value)) << want[i].path;
  };
  agree(nn::RNN::init(sp::Key(0), 3, 2, {.bidirectional = true}));
  agree(nn::GRU::init(sp::Key(0), 3, 2, {.num_layers = 2}));
  agree(nn::LSTM::init(sp::Key(0), 3, 2));
}

TEST(GRU, DropoutBetweenLayersInTraining) {
  const nn::GRU net = nn::GRU::init(sp::Key(0), 3, 8, {.num_layers = 2, .dropout = 0.5f});
  const Array x = sp::random::normal(sp::Key(1), {4, 2, 3});
  nn::Context evaluation, training{.training = true, .key = sp::Key(2)};
  EXPECT_TRUE(sp::array_equal(net(x, {}, evaluation).output, net(x).output));
  const nn::RecurrentResult r = net(x, {}, training);
  EXPECT_FALSE(sp::allclose(r.output, net(x).output));
  EXPECT_TRUE(sp::allclose(r.state[0], net(x).state[0]));
}

TEST(Recurrent, NamesOfPyTorch) {
  const nn::LSTM net =
      nn::LSTM::init(sp::Key(0), 2, 3, {.num_layers = 2, .bidirectional = true, .proj_size = 1});
  const auto state = net.state_dict();
  EXPECT_EQ(state.size(), 20u);
  EXPECT_EQ(state.at("weight_ih_l1_reverse").shape(), (sp::Shape{12, 2}));
  EXPECT_TRUE(sp::array_equal(state.at("weight_hr_l0"), *net.cells[0].weight_hr));
  EXPECT_TRUE(sp::array_equal(state.at("bias_hh_l0_reverse"), *net.cells[1].bias_hh));
  EXPECT_TRUE(sp::tree::equal(sp::tree::map(sp::zeros_like, net).load_state_dict(state), net));
}

// As PyTorch's default, and each from its own key.
TEST(Recurrent, InitialValues) {
  const nn::GRU net = nn::GRU::init(sp::Key(0), 3, 16, {.num_layers = 2, .bidirectional = true});
  ASSERT_EQ(net.cells.size(), 4u);
  EXPECT_EQ(net.cells[2].weight_ih.shape(), (sp::Shape{48, 32}));
  const double largest = sp::max(sp::abs(net.cells[0].weight_hh)).item<double>();
  EXPECT_LE(largest, 0.25);
  EXPECT_GT(largest, 0.24);
  EXPECT_FALSE(sp::array_equal(net.cells[0].weight_hh, net.cells[1].weight_hh));
  const nn::RNN ones = nn::RNN::init(
      sp::Key(0), 3, 4, {.init = {.weight = [](const sp::Key&, const sp::Shape& s, sp::Dtype d) {
                           return sp::ones(s, d);
                         }}});
  EXPECT_TRUE(sp::array_equal(ones.cells[0].weight_ih, sp::ones({4, 3})));
  EXPECT_FALSE(sp::array_equal(*ones.cells[0].bias_ih, sp::ones({4})));
}

// As PyTorch's layers would under type promotion, and as Linear does.
TEST(Recurrent, PromotesTheDtypesOfInputsWeightsAndStates) {
  const nn::GRU gru = nn::GRU::init(sp::Key(0), 3, 4);
  const nn::LSTM lstm = nn::LSTM::init(sp::Key(0), 3, 4);
  const Array x = sp::ones({5, 2, 3}), h = sp::zeros({1, 2, 4});
  const Array wanted = gru(x).output, of_lstm = lstm(x).output;
  for (const sp::Dtype dtype : {sp::float16, sp::bfloat16, sp::int32}) {
    EXPECT_TRUE(sp::array_equal(gru(sp::astype(x, dtype)).output, wanted));
    EXPECT_TRUE(sp::array_equal(gru(x, sp::astype(h, dtype)).output, wanted));
    EXPECT_TRUE(sp::array_equal(lstm(sp::astype(x, dtype)).output, of_lstm));
    const nn::LSTMResult r = lstm(x, nn::LSTMState{sp::astype(h, dtype), h});
    EXPECT_TRUE(sp::array_equal(r.output, of_lstm));
    EXPECT_EQ(r.state.c.dtype(), sp::float32);
  }
  EXPECT_EQ(gru(x, sp::astype(h, sp::float64)).output.dtype(), sp::float64);
}

TEST(Recurrent, BadInput) {
  const nn::GRU net = nn::GRU::init(sp::Key(0), 3, 4);
  const Array x = sp::ones({5, 2, 3});
  using sp::ShapeError, sp::ValueError, sp::DtypeError, sp::TreeError;
  expect_error<ShapeError>(
      [&] {
        net(sp::ones({5, 2, 4}));
      },
      "GRU: the last axis of x f32[5,2,4] must be input_size 3: weight_ih is f32[12,3]");
  expect_error<ShapeError>(
      [&] {
        nn::LSTM::init(sp::Key(0), 3, 4, {.batch_first = true})(sp::ones({2, 5, 4}));
      },
      "LSTM: the last axis of x f32[2,5,4] must be input_size 3");
  expect_error<ShapeError>([&] { net(sp::ones({3})); }, "GRU: takes f[t, n, in] or f[t, in]");
  expect_error<ShapeError>(
      [&] {
        net(x, sp::ones({1, 3, 4}));
      },
      "GRU: the state must be f[1,2,4], got f32[1,3,4]");
  expect_error<ShapeError>(
      [&] {
        net(x, {}, {.lengths = sp::array({1, 2, 3})});
      },
      "GRU: lengths is i32[3], it must be i[2]");
  expect_error<ValueError>(
      [&] {
        net(x, {}, {.lengths = sp::array({1, 6})});
      },
      "GRU: lengths must be within 0..5, the number of steps; got");
  expect_error<DtypeError>(
      [&] {
        net(x, {}, {.lengths = sp::array({1.0f, 2.0f})});
      },
      "GRU: lengths must be integers, got f32[2]");
  expect_error<DtypeError>(
      [&] {
        net(x, {}, {.mask = sp::ones({5, 2})});
      },
      "GRU: mask must be bool, true where a step counts, got f32[5,2]");
  expect_error<ShapeError>(
      [&] {
        net(x, {}, {.mask = sp::ones({2, 5}, sp::bool_)});
      },
      "GRU: mask is bool[2,5], it must be bool[5,2]");
  expect_error<ValueError>(
      [&] {
        net(x, {}, {.lengths = sp::array({1, 2}), .mask = sp::ones({5, 2}, sp::bool_)});
      },
      "GRU: lengths and mask exclude each other");
  expect_error<ValueError>([&] { nn::RNN{}(x); }, "RNN: there are no cells");
  expect_error<ValueError>(
      [&] {
        nn::GRU{{net.cells[0]}, false, true}(x);
      },
      "GRU: an odd number of cells");
  expect_error<ValueError>([] { nn::RNN::init(sp::Key(0), 3, 4, {.num_layers = 0}); },
                           "RNN: num_layers is 0, there must be at least one");
  const int64_t huge = std::numeric_limits<int64_t>::max() / 2;
  expect_error<ShapeError>([&] { nn::LSTM::init(sp::Key(0), 3, huge); }, "LSTM");
  expect_error<ShapeError>([&] { nn::GRUCell::init(sp::Key(0), 3, huge); }, "GRUCell::init");
  expect_error<ShapeError>([&] { nn::RNN::init(sp::Key(0), 3, 4, {.num_layers = huge}); }, "RNN");
  expect_error<ValueError>([] { nn::GRU::init(sp::Key(0), 3, 4, {.dropout = 2}); },
                           "GRU::init: dropout is 2");
  expect_error<ValueError>([] { nn::LSTM::init(sp::Key(0), 3, 4, {.proj_size = 4}); },
                           "LSTM::init: proj_size is 4, it must be from 0");
  expect_error<ShapeError>(
      [] {
        nn::RNNCell::init(sp::Key(0), 3, 4)(sp::ones({2, 5}));
      },
      "RNNCell: x f32[2,5] and weight f32[4,3] do not fit");
  expect_error<ShapeError>(
      [] {
        nn::GRUCell::init(sp::Key(0), 3, 4)(sp::ones({2, 3}), sp::ones({2, 3}));
      },
      "GRUCell: the state must be f[2,4], got f32[2,3]");
  auto state = net.state_dict();
  state["weight_ih_l1"] = x;
  expect_error<TreeError>([&] { net.load_state_dict(state); },
                          "GRU::load_state_dict: the layer has no 'weight_ih_l1'");
  state = net.state_dict();
  state["weight_ih_l0"] = x;
  expect_error<ShapeError>([&] { net.load_state_dict(state); },
                           "GRU::load_state_dict: 'weight_ih_l0' must be f[12,3], got f32[5,2,3]");
  state.erase("weight_ih_l0");
  expect_error<TreeError>([&] { net.load_state_dict(state); },
                          "GRU::load_state_dict: there is no 'weight_ih_l0'");
}

}  // namespace recurrent_layers_test
}  // namespace functional_cases
