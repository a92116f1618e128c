// SPDX-License-Identifier: Apache-2.0
// New buffers of struct models: by the path of the buffer where the context knows the model.
#include <gtest/gtest.h>

#include <optional>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace context_buffers_test {

struct Net {
  std::vector<BatchNorm> norms;
  Linear out;
  // By copies of its layers, which are all in one place of the stack.
  Array operator()(const Array& x, Context& ctx) const {
    Array y = x;
    for (const BatchNorm& own : norms) {
      const BatchNorm norm = own;
      y = norm(y, ctx) * 2.0f;
    }
    return out(y);
  }
};
// The same by the layers themselves.
Array by_reference(const Net& net, const Array& x, Context& ctx) {
  Array y = x;
  for (const BatchNorm& norm : net.norms) y = norm(y, ctx) * 2.0f;
  return net.out(y);
}

Net net() { return {{BatchNorm::init(4), BatchNorm::init(4)}, Linear::init(Key(0), 4, 2)}; }
Array input() { return random::normal(Key(1), {8, 4}); }
int64_t count(const BatchNorm& norm) { return norm.num_batches_tracked->value.item<int64_t>(); }
void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ContextBuffers, OfCopiesMadeInTheForwardAreThoseOfTheModel) {
  const Net model = net();
  Context direct{.training = true}, copied{.training = true};
  by_reference(model, input(), direct);
  by_reference(model, 3.0f * input(), direct);
  model(input(), copied.of(model));
  model(3.0f * input(), copied);  // begins where the first call ended
  const Net next = copied.updated(model);
  EXPECT_TRUE(tree::equal(next, direct.updated(model)));
  EXPECT_EQ(count(next.norms[1]), 2);
  EXPECT_EQ(count(model.norms[1]), 0);
  // A model that is handed over by value is a copy as well.
  const auto by_value = [](Net own, const Array& x, Context& ctx) {
    return by_reference(own, x, ctx);
  };
  Context third{.training = true};
  by_value(model, input(), third.of(model));
  by_value(model, 3.0f * input(), third);
  EXPECT_TRUE(tree::equal(third.updated(model), next));
}

TEST(ContextBuffers, OfAModelThatMovesGoToWhereItIs) {
  Net model = net();
  Context ctx{.training = true};
  by_reference(model, input(), ctx.of(model));
  const Net expected = ctx.updated(model), copy = model;
  EXPECT_TRUE(tree::equal(ctx.updated(copy), expected));
  const Net moved = std::move(model);
  EXPECT_TRUE(tree::equal(ctx.updated(moved), expected));
}

TEST(ContextBuffers, OfAPartGoToThePart) {
  const Net model = net();
  Context ctx{.training = true};
  model.norms[1](input(), ctx.of(model));
  EXPECT_EQ(count(ctx.updated(model.norms[1])), 1);
  EXPECT_EQ(count(ctx.updated(model.norms)[1]), 1);
}

TEST(ContextBuffers, UnderGradJitAndVmap) {
  const auto loss = [](const Net& model, const Array& x) {
    Context ctx{.training = true};
    const Array y = model(x, ctx.of(model));
    return std::pair{sum(y * y), ctx.updated(model)};
  };
  const auto plain = loss(net(), input());
  const auto [result, grads] = value_and_grad(loss)(net(), input());
  EXPECT_TRUE(tree::equal(result.second, plain.second));
  const auto compiled = jit(value_and_grad(loss))(net(), input()).first;
  EXPECT_TRUE(allclose(*compiled.second.norms[1].running_var, *plain.second.norms[1].running_var));
  const Array both = stack({input(), 2.0f * input()});
  const auto mapped = vmap(loss, {.in_axes = {none, 0}})(net(), both);
  EXPECT_TRUE(allclose((*mapped.second.norms[0].running_mean).value[0],
                       *plain.second.norms[0].running_mean));
}

TEST(ContextBuffers, OfATransformThatHasEndedAreRefused) {
  const Net model = net();
  const auto run = [&](const auto& transformed) {
    Context ctx{.training = true};
    ctx.of(model);
    transformed([&](const Array& x) { return by_reference(model, x, ctx); }, ctx);
    return message<TracerError>([&] { return ctx.updated(model); });
  };
  const auto looped = [](const auto& f, Context&) {
    scan([&](const Array& c) { return std::pair{c, f(input())}; }, zeros({}), {.length = 3});
  };
  const std::string wanted =
      "Context: the new value of the buffer 'norms.0.running_mean' is a traced value of ";
  expect_in(wanted + "scan, which has ended; make the Context inside of it", run(looped));
  expect_in(wanted + "vmap, which has ended", run([](const auto& f, Context&) {
              vmap(f)(stack({input(), input()}));
            }));
  // The next call of the layer says so too, and one that is made inside of the loop works.
  Context ctx{.training = true};
  looped([&](const Array& x) { return by_reference(model, x, ctx); }, ctx.of(model));
  expect_in(wanted, message<TracerError>([&] { return by_reference(model, input(), ctx); }));
  const Net after = fori_loop(
      0, 3,
      [&](const Array&, const Net& carried) {
        Context inside{.training = true};
        (void)by_reference(carried, input(), inside.of(carried));
        return inside.updated(carried);
      },
      model);
  EXPECT_EQ(count(after.norms[1]), 3);
}

TEST(ContextBuffers, OfCopiesThatShareAnArrayAreAnErrorThatNamesThePaths) {
  const BatchNorm one = BatchNorm::init(4);
  const Net model{{one, one}, Linear::init(Key(0), 4, 2)};
  Context direct{.training = true};  // the layers themselves are known all the same
  by_reference(model, input(), direct.of(model));
  EXPECT_EQ(count(direct.updated(model).norms[1]), 1);
  Context ctx{.training = true};
  model(input(), ctx.of(model));
  const std::string text = message<TreeError>([&] { ctx.updated(model); });
  expect_in("'norms.0.running_mean' or 'norms.1.running_mean'", text);
}

TEST(ContextBuffers, ThatAModelDoesNotHaveAreNamed) {
  const Net model = net();
  Context ctx{.training = true};
  model(input(), ctx.of(model));
  expect_in("has updated 'norms.0.running_mean', and this model has no such buffer",
            message<TreeError>([&] { ctx.updated(model.norms[0]); }));
  const Net wider{{BatchNorm::init(5), BatchNorm::init(4)}, model.out};
  expect_in("'norms.0.running_mean' has the shape [5] in this model and [4] in the one",
            message<ShapeError>([&] { ctx.updated(wider); }));
  // What the forward makes is part of no model.
  Context made{.training = true};
  made.of(model);
  BatchNorm::init(4)(input(), made);
  expect_in("3 of 3 buffers that layers have updated are not part of this model",
            message<TreeError>([&] { made.updated(model); }));
  // Nor is a layer with other statistics.
  Context changed{.training = true};
  changed.of(model);
  BatchNorm other = model.norms[0];
  for (std::optional<Buffer>* b : {&other.running_mean, &other.running_var})
    (*b)->value = ones({4});
  other(input(), changed);
  EXPECT_THROW(changed.updated(model), TreeError);
}

TEST(ContextBuffers, WithoutAModelGoByTheObject) {
  const Net model = net();
  Context ctx{.training = true};
  by_reference(model, input(), ctx);
  const Net copy = model;
  EXPECT_EQ(count(ctx.updated(model).norms[0]), 1);
  expect_in("call it with ctx.of(model)", message<TreeError>([&] { ctx.updated(copy); }));
  // Said later, it holds for what came before.
  by_reference(model, input(), ctx.of(model));
  EXPECT_EQ(count(ctx.updated(copy).norms[0]), 2);
}

TEST(ContextBuffers, OfSeveralModelsGoByTheObject) {
  struct Both {
    Net first, second;
  };
  const Both both{net(), net()};
  Context ctx{.training = true};
  by_reference(both.first, input(), ctx.of(both.first));
  by_reference(both.second, 2.0f * input(), ctx.of(both.second));
  const Both next = ctx.updated(both);
  Context alone{.training = true};
  by_reference(both.second, 2.0f * input(), alone);
  EXPECT_TRUE(tree::equal(next.second, alone.updated(both.second)));
  EXPECT_TRUE(tree::equal(ctx.updated(both.first), next.first));
  EXPECT_TRUE(tree::equal(ctx.updated(both.second), next.second));
  const Net copied = both.first;
  EXPECT_THROW(ctx.updated(copied), TreeError);
  both.first(input(), ctx);  // copies its layers
  EXPECT_THROW(ctx.updated(both.first), TreeError);
  // A part of the model is none of its own.
  Context inside{.training = true};
  inside.of(both);
  by_reference(both.second, 2.0f * input(), inside.of(both.second));
  const Both copy = both;
  EXPECT_TRUE(tree::equal(inside.updated(copy).second, next.second));
}

TEST(ContextBuffers, OfAStructInAModuleMayBeCopiedToo) {
  struct Whole : Module {
    Whole() { net_ = register_module("net", net()); }
    Array forward(const Array& x) override { return net_(x); }
    Stateful<Net> net_;
  } module;
  const Array y = module(input());
  const Net model = net();
  Context ctx{.training = true};
  EXPECT_TRUE(array_equal(by_reference(model, input(), ctx), y));
  EXPECT_TRUE(tree::equal(module.net_.layer(), ctx.updated(model)));
  const auto f = functionalize(module);
  const auto buffers = f.apply(f.params, f.buffers, {.training = true}, input()).second;
  EXPECT_EQ(buffers.at("net.norms.1.num_batches_tracked").item<int64_t>(), 2);
}

}  // namespace context_buffers_test
}  // namespace spruce::nn
