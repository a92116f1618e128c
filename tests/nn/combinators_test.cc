// SPDX-License-Identifier: Apache-2.0
// Factories of several inputs and outputs, made of others; the estimator.
#include "spruce/nn/combinators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace combinators_test {

TEST(Factories, EveryLayerHasOneUnderItsName) {
  const Key k(0);
  const Array row = ones({2, 6}), signal = ones({2, 3, 8}), image = ones({2, 3, 8, 8}),
              volume = ones({2, 3, 4, 4, 4}), words = array({{1, 2}, {3, 4}});
  const auto shape = [&](const auto& factory, const auto&... x) {
    return factory(factory.init(k, x...))(x...).shape();
  };
  EXPECT_EQ(shape(linear_layer(4), row), (Shape{2, 4}));
  EXPECT_EQ(shape(bilinear_layer(4), row, ones({2, 5})), (Shape{2, 4}));
  EXPECT_EQ(shape(conv1d_layer(4, 3), signal), (Shape{2, 4, 6}));
  EXPECT_EQ(shape(conv3d_layer(4, 3), volume), (Shape{2, 4, 2, 2, 2}));
  EXPECT_EQ(shape(conv_transpose3d_layer(4, 3), volume), (Shape{2, 4, 6, 6, 6}));
  EXPECT_EQ(shape(instance_norm1d_layer(), signal), signal.shape());
  EXPECT_EQ(shape(instance_norm2d_layer(), image), image.shape());
  EXPECT_EQ(shape(instance_norm3d_layer(), volume), volume.shape());
  EXPECT_EQ(shape(prelu_layer(), row), row.shape());
  EXPECT_EQ(shape(embedding_bag_layer(9, 4), words), (Shape{2, 4}));
  EXPECT_EQ(shape(multihead_attention_layer(2), ones({5, 2, 6}), ones({7, 2, 6}), ones({7, 2, 6})),
            (Shape{5, 2, 6}));
  const auto lstm = lstm_layer(4);
  EXPECT_EQ(lstm(lstm.init(k, signal))(signal).output.shape(), (Shape{2, 3, 4}));
  const auto output = [&](const auto& factory) {
    return factory(factory.init(k, signal))(signal).output.shape();
  };
  EXPECT_EQ(output(rnn_layer(4)), (Shape{2, 3, 4}));
  EXPECT_EQ(output(gru_layer(4, {.bidirectional = true})), (Shape{2, 3, 8}));
  EXPECT_EQ(shape(rnn_cell_layer(4), row), (Shape{2, 4}));
  EXPECT_EQ(shape(gru_cell_layer(4), row, ones({2, 4})), (Shape{2, 4}));
  const auto cell = lstm_cell_layer(4);
  EXPECT_EQ(cell(cell.init(k, row))(row).h.shape(), (Shape{2, 4}));
  const TransformerLayerOptions small{.dim_feedforward = 8};
  EXPECT_EQ(shape(transformer_encoder_layer(2, small), signal), signal.shape());
  EXPECT_EQ(shape(transformer_decoder_layer(2, small), signal, signal), signal.shape());
  EXPECT_EQ(shape(transformer_encoder(2, 2, small), signal), signal.shape());
  EXPECT_EQ(shape(transformer_decoder(2, 1, small), signal, signal), signal.shape());
  EXPECT_EQ(shape(transformer_layer(2, {1, 1, small}), signal, signal), signal.shape());
  EXPECT_EQ(shape(learned_positions_layer(5), signal), signal.shape());
  EXPECT_EQ(shape(lora_layer(4, {.r = 2}), row), (Shape{2, 4}));
  const auto softmax = adaptive_log_softmax_with_loss_layer(9, {3});
  const Array target = array({0, 8});
  EXPECT_EQ(softmax(softmax.init(k, row, target))(row, target).output.shape(), (Shape{2}));
}

TEST(Factories, RecurrentLayersDropInTraining) {
  const Array x = random::normal(Key(1), {5, 2, 3});
  const auto net = gru_layer(16, {.num_layers = 2, .dropout = 0.5f});
  const auto p = net.init(Key(0), x);
  Context ctx{.training = true, .key = Key(2)};
  const Array y = net(p)(x, ctx).output;
  EXPECT_EQ(ctx.keys_used, 1);
  Context same{.training = true, .key = Key(2)};
  EXPECT_TRUE(array_equal(y, p(x, {}, same).output));
  EXPECT_FALSE(array_equal(y, net(p)(x).output));
}

TEST(Factories, PartsMayGiveAndTakeSeveralArrays) {
  const auto split_halves = [](const Array& x) { return std::tuple{x * 2.0f, x * 3.0f}; };
  const auto net = sequential(split_halves, bilinear_layer(3), relu);
  const Array x = random::normal(Key(1), {5, 4});
  const auto p = net.init(Key(0), x);
  EXPECT_TRUE(allclose(net(p)(x), relu(std::get<1>(p)(x * 2.0f, x * 3.0f))));
  // Two inputs of the whole.
  const auto two = sequential(bilinear_layer(3), dense(2));
  const auto q = two.init(Key(0), x, ones({5, 6}));
  EXPECT_EQ(std::get<0>(q).weight.shape(), (Shape{3, 4, 6}));
  EXPECT_EQ(two(q)(x, ones({5, 6})).shape(), (Shape{5, 2}));
  // Two outputs of the whole, and a result that is no tuple.
  const auto rnn = sequential(lstm_layer(4), [](const LSTMResult& r) {
    return std::pair{r.output, r.state.h};
  });
  const Array sequence = ones({6, 2, 3});
  const auto [output, h] = rnn(rnn.init(Key(0), sequence))(sequence);
  EXPECT_EQ(output.shape(), (Shape{6, 2, 4}));
  EXPECT_EQ(h.shape(), (Shape{1, 2, 4}));
}

TEST(Factories, ParallelAndResidual) {
  const auto net = sequential(parallel(dense(4), sequential(dense(6), relu, dense(4))), add,
                              residual(dense(4), tanh));
  const Array x = random::normal(Key(1), {5, 3});
  const auto p = net.init(Key(0), x);
  const auto& [a, b] = std::get<0>(p);
  const Array sum_ = a(x) + std::get<2>(b)(relu(std::get<0>(b)(x)));
  EXPECT_TRUE(allclose(net(p)(x), sum_ + tanh(std::get<0>(std::get<2>(p))(sum_))));
  const auto wrong = residual(dense(5));
  EXPECT_THROW(wrong(wrong.init(Key(0), x))(x), ShapeError);
  const auto three = parallel(dense(1), dense(2), tanh);
  const auto [u, v, w] = three(three.init(Key(0), x))(x);
  EXPECT_EQ(v.shape(), (Shape{5, 2}));
  EXPECT_EQ(w.shape(), (Shape{5, 3}));
}

TEST(Factories, RepeatedBlocksHaveParametersOfTheirOwn) {
  const auto block = sequential(dense(4), Dropout{0.5f}, tanh);
  const auto net = repeat(3, block);
  const Array x = random::normal(Key(1), {5, 4});
  const auto p = net.init(Key(0), x);
  EXPECT_EQ(p.size(), 3u);
  EXPECT_FALSE(array_equal(std::get<0>(p[0]).weight, std::get<0>(p[1]).weight));
  Array y = x;
  for (const auto& one : p) y = block(one)(y);
  EXPECT_TRUE(array_equal(net(p)(x), y));
  EXPECT_EQ(tree::entries(p)[0].path, "0.0.weight");
  // The first block may see another width.
  EXPECT_EQ(repeat(2, dense(4)).init(Key(0), ones({2, 7}))[0].weight.shape(), (Shape{4, 7}));
  EXPECT_TRUE(array_equal(repeat(0, dense(4))(repeat(0, dense(4)).init(Key(0), x))(x), x));
  EXPECT_THROW(repeat(-1, dense(4)), ValueError);
}

TEST(Factories, StackedBlocksRunInALoop) {
  const auto block = sequential(dense(4), Dropout{0.5f}, tanh);
  const auto plain = repeat(3, block);
  const auto loop = repeat(3, block, stacked);
  const Array x = random::normal(Key(1), {5, 4});
  const auto p = plain.init(Key(0), x);
  const auto s = loop.init(Key(0), x);
  EXPECT_EQ(std::get<0>(s).weight.shape(), (Shape{3, 4, 4}));
  EXPECT_TRUE(allclose(std::get<0>(s).weight[1], std::get<0>(p[1]).weight));
  EXPECT_TRUE(allclose(loop(s)(x), plain(p)(x), {.rtol = 1e-4, .atol = 1e-5}));
  const auto g = grad([&](const auto& q) { return sum(loop(q)(x)); })(s);
  const auto h = grad([&](const auto& q) { return sum(plain(q)(x)); })(p);
  EXPECT_TRUE(
      allclose(std::get<0>(g).weight[2], std::get<0>(h[2]).weight, {.rtol = 1e-4, .atol = 1e-5}));
  Context ctx{.training = true, .key = Key(3)};
  const Array trained = loop(s)(x, ctx);
  EXPECT_FALSE(allclose(trained, loop(s)(x)));
  const auto norm = repeat(2, sequential(dense(4), batch_norm_layer()), stacked);
  const auto q = norm.init(Key(0), x);
  EXPECT_EQ(norm(q)(x).shape(), x.shape());
  Context training{.training = true};
  EXPECT_THROW(norm(q)(x, training), ValueError);
}

TEST(Estimator, FitsAndLeavesItselfUnchanged) {
  const Array x = random::normal(Key(1), {120, 2});
  const Array y = (x[{ellipsis, 0}] * x[{ellipsis, 1}] > 0.0f).astype(int32);
  const auto e = estimator(sequential(dense(16), relu, dense(2)), cross_entropy,
                           optim::adam({.learning_rate = 1e-2f}), {.epochs = 30, .batch_size = 32});
  const auto fitted = e.fit(Key(0), x, y);
  EXPECT_EQ(fitted.history().loss.size(), 30u);
  EXPECT_LT(fitted.history().loss.back(), 0.5f * fitted.history().loss.front());
  EXPECT_GT(fitted.score(x, y), 0.9f);
  EXPECT_EQ(fitted.predict(x).shape(), (Shape{120, 2}));
  const auto before = fitted.parameters();
  const auto next = fitted.step(x, y);
  EXPECT_TRUE(tree::equal(fitted.parameters(), before));
  EXPECT_FALSE(tree::equal(next.parameters(), before));
  EXPECT_EQ(next.history().loss.size(), 31u);
  EXPECT_EQ(fitted.history().loss.size(), 30u);
  EXPECT_TRUE(tree::equal(e.fit(Key(0), x, y).parameters(), before));  // a function of its key
  EXPECT_FALSE(tree::equal(e.fit(Key(1), x, y).parameters(), before));
}

TEST(Estimator, IsTheLoopWrittenOut) {
  const Array x = random::normal(Key(1), {8, 3}), y = sum(x, 1, {.keepdims = true});
  const auto factory = sequential(dense(4), batch_norm_layer(), Dropout{0.2f}, dense(1));
  const auto optimizer = optim::sgd({.learning_rate = 0.1f});
  const auto fitted = estimator(factory, mse_loss, optimizer,
                                {.epochs = 3, .batch_size = 100, .shuffle = false, .jit = false})
                          .fit(Key(5), x, y);
  const Key keys = random::split(Key(5), 4), k_init = keys[0], k_step = keys[2];
  auto p = factory.init(k_init, x);
  auto state = optimizer.init(p);
  for (int64_t i = 0; i < 3; ++i) {
    const auto loss = [&](const auto& q) {
      Context ctx{.training = true, .key = random::fold_in(k_step, i)};
      const auto model = factory(q);
      const Array value = mse_loss(model(x, ctx), y);
      return std::pair{value, ctx.updated(model.parameters())};
    };
    const auto [out, grads] = value_and_grad(loss)(p);
    const auto [updates, next] = optimizer.update(grads, state, p);
    p = optim::apply_updates(out.second, updates);
    state = next;
    EXPECT_FLOAT_EQ(out.first.item<float>(), fitted.history().loss[static_cast<size_t>(i)]);
  }
  EXPECT_TRUE(tree::equal(fitted.parameters(), p));
  EXPECT_EQ(std::get<1>(p).num_batches_tracked->value.item<int64_t>(), 3);
  EXPECT_TRUE(array_equal(fitted.predict(x), factory(p)(x)));
}

TEST(Estimator, BatchesCoverTheDataOnce) {
  const EstimatorOptions options{.batch_size = 4};
  const std::vector<Array> all = internal::batches(options, Key(3), 10);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].shape(), (Shape{2}));
  EXPECT_TRUE(array_equal(sort(concatenate(all)), arange(10)));
  EXPECT_EQ(internal::batches({.batch_size = 4, .drop_last = true}, Key(3), 10).size(), 2u);
  EXPECT_EQ(internal::batches({.batch_size = 40, .drop_last = true}, Key(3), 10).size(), 1u);
}

TEST(Estimator, ScoresAreAccuracyAndDetermination) {
  EXPECT_FLOAT_EQ(internal::score(array({{1.0f, 2.0f}, {3.0f, 1.0f}}), array({1, 1})), 0.5f);
  const Array y = array({1.0f, 2.0f, 3.0f});
  EXPECT_FLOAT_EQ(internal::score(y, y), 1.0f);
  EXPECT_FLOAT_EQ(internal::score(full({3}, 2.0f), y), 0.0f);
  EXPECT_FLOAT_EQ(internal::score(array({1.0f, 2.0f, 4.0f}), y), 0.5f);
  EXPECT_THROW(internal::score(ones({2}), y), ShapeError);
  // One logit for each row.
  const Array logits = array({{-1.0f}, {2.0f}, {3.0f}, {-4.0f}}),
              ones_of = array({{0}, {1}, {0}, {0}});
  EXPECT_FLOAT_EQ(internal::score(logits, ones_of), 0.75f);
  EXPECT_FLOAT_EQ(internal::score(logits[{ellipsis, 0}], ones_of[{ellipsis, 0}] == 1), 0.75f);
  EXPECT_FLOAT_EQ(internal::score(ones_of.astype(float32), ones_of.astype(float32)), 1.0f);
  EXPECT_LT(internal::score(logits, ones_of.astype(float32)), 0.0f);
  EXPECT_FLOAT_EQ(internal::score(array({1.0f, 2.0f, 4.0f}), array({1, 2, 3})), 0.5f);
}

TEST(Estimator, ALastBatchOfOneNamesDropLast) {
  const Array x = random::normal(Key(1), {9, 3}), y = sum(x, 1, {.keepdims = true});
  const auto factory = sequential(dense(2), batch_norm_layer(), dense(1));
  const auto fit = [&](bool drop_last) {
    return estimator(factory, mse_loss, optim::adam(),
                     {.epochs = 1, .batch_size = 4, .drop_last = drop_last})
        .fit(Key(0), x, y);
  };
  EXPECT_THAT(message<ValueError>([&] { fit(false); }),
              testing::HasSubstr("the last of the batches of 4 has one example: leave it out with "
                                 "{.drop_last = true}"));
  fit(true);
}

TEST(Estimator, ANaNInTheLossNamesItsStep) {
  // Row 5 is NaN; without shuffling it stands in batch 2 of each epoch.
  Array x = random::normal(Key(1), {8, 3});
  const Array y = sum(x, 1, {.keepdims = true});
  const auto fit = [&](const EstimatorOptions& options) {
    return estimator(sequential(dense(1)), mse_loss, optim::sgd({.learning_rate = 0.1f}), options)
        .fit(Key(0), x, y);
  };
  const EstimatorOptions options{.epochs = 2, .batch_size = 2, .shuffle = false};
  const auto fitted = fit(options);
  x = x.at(5, 1).set(std::numeric_limits<float>::quiet_NaN());
  EXPECT_THAT(message<ValueError>([&] { fit(options); }),
              testing::HasSubstr("fit: the loss of step 2, in epoch 0 is NaN"));
  // The value before it is as it was.
  const Array before = fitted.predict(ones({1, 3}));
  EXPECT_THAT(message<ValueError>([&] { fitted.step(x, y); }),
              testing::HasSubstr("step: the loss of this step is NaN"));
  EXPECT_TRUE(array_equal(fitted.predict(ones({1, 3})), before));
}

TEST(Estimator, ChecksItsArguments) {
  const auto make = [](const EstimatorOptions& options) {
    return estimator(dense(1), mse_loss, optim::sgd({.learning_rate = 0.1f}), options);
  };
  EXPECT_THROW(make({.batch_size = 0}), ValueError);
  EXPECT_THROW(make({.epochs = -1}), ValueError);
  EXPECT_THROW(make({}).fit(Key(0), ones({3, 2}), ones({4, 1})), ShapeError);
  EXPECT_THROW(make({}).fit(Key(0), ones({0, 2}), ones({0, 1})), ShapeError);
  EXPECT_THROW(make({}).fit(Key(0), ones({}), ones({})), ShapeError);
}

}  // namespace combinators_test
}  // namespace spruce::nn
