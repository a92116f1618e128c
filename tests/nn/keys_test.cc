// SPDX-License-Identifier: Apache-2.0
// Streams of random numbers: by the path of the layer and the count of its uses.
#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace keys_test {

// Which elements a dropout of ones keeps.
Array ones_in() { return ones({64}); }
bool same(const Array& a, const Array& b) { return array_equal(a, b); }

// The rule of Context::next_key, written out.
Key stream(const Key& key, const std::string& path, int64_t use) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : path) {
    hash ^= static_cast<uint64_t>(c);
    hash *= 1099511628211u;
  }
  const Key low = random::fold_in(key, static_cast<int64_t>(hash % (uint64_t{1} << 32)));
  return random::fold_in(random::fold_in(low, static_cast<int64_t>(hash >> 32)), use);
}

Array mask_of(const Key& key) { return dropout(ones_in(), {.p = 0.5f, .key = key}); }

struct Two {
  Dropout a{0.5f};
  Dropout b{0.5f};
  std::pair<Array, Array> operator()(const Array& x, Context& ctx) const {
    const Array first = a(x, ctx);
    return {first, b(x, ctx)};
  }
};

TEST(Keys, AreByThePathAndTheCountOfItsUses) {
  const Key key(3);
  const Two net;
  Context ctx{.training = true, .key = key};
  const auto [a, b] = net(ones_in(), ctx.of(net));
  EXPECT_TRUE(same(a, mask_of(stream(key, "a", 0))));
  EXPECT_TRUE(same(b, mask_of(stream(key, "b", 0))));
  EXPECT_TRUE(same(net.a(ones_in(), ctx), mask_of(stream(key, "a", 1))));
  EXPECT_EQ(ctx.keys_used, 3);
}

TEST(Keys, OfUnknownLayersAreByTheCountAlone) {
  const Key key(3);
  Context ctx{.training = true, .key = key};
  EXPECT_TRUE(same(Dropout{0.5f}(ones_in(), ctx), mask_of(random::fold_in(key, 0))));
  EXPECT_TRUE(array_equal(ctx.next_key("mine").data(), random::fold_in(key, 1).data()));
  // A copy is unknown too.
  const Two net;
  ctx.of(net);
  const Dropout copy = net.a;
  EXPECT_TRUE(same(copy(ones_in(), ctx), mask_of(random::fold_in(key, 2))));
}

TEST(Keys, AreMissing) {
  Context none_given{.training = true};
  try {
    none_given.next_key("my_layer");
    FAIL() << "no error";
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("my_layer"), std::string::npos) << e.what();
  }
}

// Struct models: a dropout more, in front, behind and inside of a block.
struct Inner {
  Dropout drop{0.5f};
  std::optional<Dropout> more = {};
  Array operator()(const Array& x, Context& ctx) const {
    return drop(more ? (*more)(x, ctx) : x, ctx);
  }
};
struct Outer {
  std::vector<Inner> blocks;
  Dropout last{0.5f};
  Array operator()(const Array& x, Context& ctx) const {
    Array y = x;
    for (const Inner& b : blocks) y = b(y, ctx);
    return last(x, ctx);
  }
};
struct OuterWithMore {
  Dropout first{0.5f};
  std::vector<Inner> blocks;
  Dropout last{0.5f};
  Array operator()(const Array& x, Context& ctx) const {
    Array y = first(x, ctx);
    for (const Inner& b : blocks) y = b(y, ctx);
    return last(x, ctx);
  }
};

template <class M>
Array run(const M& model, const Array& x, const Key& key = Key(5)) {
  Context ctx{.training = true, .key = key};
  return model(x, ctx.of(model));
}

TEST(Keys, OfALayerStayWhereOneIsAddedElsewhere) {
  const Array x = ones_in();
  const Array plain = run(Outer{.blocks = {Inner{}, Inner{}}}, x);
  EXPECT_TRUE(same(plain, mask_of(stream(Key(5), "last", 0))));
  EXPECT_TRUE(same(plain, run(OuterWithMore{.blocks = {Inner{}}}, x)));
  EXPECT_TRUE(same(plain, run(Outer{.blocks = {Inner{.more = Dropout{0.5f}}}}, x)));
  EXPECT_FALSE(same(plain, run(Outer{}, x, Key(6))));
}

TEST(Keys, OfASequentialStayWhereAPartDrawsMore) {
  const Array x = ones_in();
  const auto of = [&](const auto& net) { return run(net(net.init(Key(0), x)), x); };
  const auto keep = [](const Array&) { return ones_in(); };  // what comes before does not show
  const Array plain = of(sequential(Identity{}, keep, Dropout{0.5f}));
  EXPECT_TRUE(same(plain, mask_of(stream(Key(5), "2", 0))));
  EXPECT_TRUE(same(plain, of(sequential(Dropout{0.5f}, keep, Dropout{0.5f}))));
  EXPECT_TRUE(
      same(plain, of(sequential(sequential(Identity{}, Dropout{0.5f}), keep, Dropout{0.5f}))));
  EXPECT_TRUE(same(plain, of(sequential(Residual{Dropout{0.5f}}, keep, Dropout{0.5f}))));
  const auto behind = sequential(parallel(Dropout{0.5f}, Identity{}),
                                 [](const Array& a, const Array&) { return a; });
  EXPECT_TRUE(same(of(behind), mask_of(stream(Key(5), "0.0", 0))));
  const auto more = sequential(
      parallel(Dropout{0.5f}, Dropout{0.5f}), [](const Array& a, const Array&) { return a; },
      Identity{});
  EXPECT_TRUE(same(of(more), of(behind)));
  // The layers of a struct that is a part are known by their names in it.
  EXPECT_TRUE(same(of(sequential(Identity{}, Inner{})), mask_of(stream(Key(5), "1.drop", 0))));
  EXPECT_TRUE(same(of(sequential(keep, repeat(2, sequential(keep, Dropout{0.5f})))),
                   mask_of(stream(Key(5), "1.1.1", 0))));
}

struct Part : Module {
  explicit Part(bool more) : more_(more) {
    if (more) added_ = register_module("added", Dropout{0.5f});
    drop_ = register_module("drop", Dropout{0.5f});
  }
  Array forward(const Array& x) override { return drop_(more_ ? ones_like(added_(x)) : x); }
  bool more_;
  Stateful<Dropout> added_, drop_;
};
struct Whole : Module {
  explicit Whole(bool more) {
    part_ = register_module("part", std::make_shared<Part>(more));
    last_ = register_module("last", Inner{});
  }
  Array forward(const Array& x) override { return stack({(*part_)(x), last_(x), last_(x)}); }
  std::shared_ptr<Part> part_;
  Stateful<Inner> last_;
};

TEST(Keys, OfModulesAreByPathInAllForms) {
  const Array x = ones_in();
  const Array expected =
      stack({mask_of(stream(Key(5), "part.drop", 0)), mask_of(stream(Key(5), "last.drop", 0)),
             mask_of(stream(Key(5), "last.drop", 1))});
  for (const bool more : {false, true}) {
    Whole net(more);
    net.seed(Key(5));
    const auto f = functionalize(net);
    const auto call = [&](const Array& a) {
      return f.apply(f.params, f.buffers, {.training = true, .key = Key(5)}, a).first;
    };
    EXPECT_TRUE(same(call(x), expected));
    EXPECT_TRUE(same(jit(call)(x), expected));
    const Array mapped = vmap(call)(stack({x, x}));
    EXPECT_TRUE(same(mapped[0], expected));
    EXPECT_TRUE(same(mapped[1], expected));
    EXPECT_TRUE(same(net(x), expected));
  }
}

TEST(Keys, AreTheSameUnderJitAndVmap) {
  const Array x = ones_in();
  const Outer net{.blocks = {Inner{}}};
  const auto call = [&](const Array& a) { return run(net, a); };
  const Array expected = call(x);
  EXPECT_TRUE(same(jit(call)(x), expected));
  EXPECT_TRUE(same(vmap(call)(stack({x, x}))[1], expected));
}

TEST(Keys, OfTransformersAreByTheirParts) {
  const Array x = random::normal(Key(1), {3, 2, 8});
  const auto layer = TransformerEncoderLayer::init(Key(0), 8, 2, {.dropout = 0.5f});
  Context ctx{.training = true, .key = Key(5)};
  const Array y = layer(x, ctx);
  EXPECT_EQ(ctx.uses.at("self_attn"), 1);
  EXPECT_EQ(ctx.uses.at(""), 3);
  Stateful<TransformerEncoderLayer> module(layer);
  module.seed(Key(5));
  EXPECT_TRUE(same(module(x), y));
  const auto stack = TransformerEncoder::init(Key(0), 8, 2, 2, {.dropout = 0.5f});
  Context inside{.training = true, .key = Key(5)};
  stack(x, inside);
  EXPECT_EQ(inside.uses.at("layers.1.self_attn"), 1);
  EXPECT_EQ(inside.uses.at("layers.0"), 3);
}

TEST(Keys, OfTheEstimatorAreThoseOfTheModel) {
  const Array x = random::normal(Key(0), {16, 4}), y = zeros({16, 4});
  const auto loss = [](const Array& out, const Array& y) { return mean(square(out - y)); };
  const auto keep = [](const Array& h) { return 0 * h + 1; };
  const auto first_loss = [&](const auto& net) {
    return estimator(net, loss, optim::sgd({.learning_rate = 0.0f}),
                     {.epochs = 1, .batch_size = 16, .shuffle = false})
        .fit(Key(1), x, y)
        .history()
        .loss[0];
  };
  const float plain = first_loss(sequential(dense(4), Identity{}, keep, Dropout{0.5f}));
  const float more = first_loss(sequential(dense(4), Dropout{0.5f}, keep, Dropout{0.5f}));
  EXPECT_EQ(plain, more);
  const Key step = random::fold_in(random::split<4>(Key(1))[2], 0);
  const Array expected =
      mean(square(dropout(ones({16, 4}), {.p = 0.5f, .key = stream(step, "3", 0)})));
  EXPECT_FLOAT_EQ(plain, expected.item<float>());
}

struct Dropped : Module {
  Dropped() { drop = register_module("drop", Dropout{0.5f}); }
  Array forward(const Array& x) override {
    return map([&](const Array& row) { return drop(row); }, x);
  }
  Stateful<Dropout> drop;
};

TEST(Keys, FromOutsideOfTheBodyOfALoopAreRefused) {
  const Dropout drop{0.5f};
  const Array x = ones({3, 64});
  Context ctx{.training = true, .key = Key(1)};
  const auto row = [&](const Array& x) { return drop(x, ctx); };
  const auto expect_refused = [](const char* loop, const auto& f) {
    const std::string text = message<ValueError>(f);
    EXPECT_NE(text.find(std::string("draws random numbers in the body of ") + loop +
                        ", which runs once for all steps"),
              std::string::npos)
        << text;
  };
  const auto step = [&](const Array&, const Array& c) { return row(c); };
  expect_refused("map", [&] { return map(row, x); });
  expect_refused("scan", [&] {
    return scan([&](const Array& c) { return std::pair{c, vmap(row)(x)}; }, x, {.length = 2});
  });
  expect_refused("fori_loop", [&] { return fori_loop(0, 3, step, x); });
  expect_refused("fori_loop", [&] { return fori_loop(array(0), array(3), step, x); });
  expect_refused("while_loop",
                 [&] { return while_loop([](const Array& c) { return sum(c) < 9; }, row, x); });
  expect_refused("map",
                 [&] { return jit(grad([&](const Array& x) { return sum(map(row, x)); }))(x); });
  expect_refused(
      "map", [&] { return map([&](const Array& x) { return cond(sum(x) > 0, row, row, x); }, x); });
  Dropped net;
  net.seed(Key(1));
  expect_refused("map", [&] { return net(x); });
  const auto f = functionalize(net);
  expect_refused("map", [&] {
    return f.apply(f.params, f.buffers, {.training = true, .key = Key(1)}, x).first;
  });
  net.eval();
  EXPECT_TRUE(same(net(x), x));
}

TEST(Keys, InTheBodyOfALoopMayBeThoseOfTheStep) {
  const Dropout drop{0.5f};
  const Key keys = random::split(Key(1), 3);
  const auto step = [&](const Key& key) {
    Context ctx{.training = true, .key = key};
    return drop(ones_in(), ctx);
  };
  const Array masks = map(step, keys);
  for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(same(masks[i], step(keys[i])));
  // One of outside in a Context of the body: the same in each step, as written.
  const Array rows = map([&](const Array&) { return step(Key(1)); }, ones({2}));
  EXPECT_TRUE(same(rows[0], rows[1]));
  // Branches, checkpoint and vmap run once.
  Context ctx{.training = true, .key = Key(1)};
  const auto row = [&](const Array& x) { return drop(x, ctx); };
  EXPECT_EQ(cond(array(true), row, row, ones_in()).shape(), (Shape{64}));
  EXPECT_EQ(grad([&](const Array& x) { return sum(checkpoint(row)(x)); })(ones_in()).shape(),
            (Shape{64}));
  EXPECT_EQ(vmap(row)(ones({3, 64})).shape(), (Shape{3, 64}));
}

}  // namespace keys_test
}  // namespace spruce::nn
