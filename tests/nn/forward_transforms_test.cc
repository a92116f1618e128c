// SPDX-License-Identifier: Apache-2.0
// Loops, branches and checkpoint in the forward of a module: what becomes of buffers that change
// in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce::nn {
namespace forward_transforms_test {

using testing::HasSubstr;

// Its forward runs x through a linear layer and a batch norm in a way of the test's.
struct Net : Module {
  using Way = std::function<Array(Net&, const Array&)>;
  explicit Net(Way w) : way(std::move(w)) {
    fc = register_module("fc", Linear::init(Key(0), 2, 2));
    bn = register_module("bn", BatchNorm::init(2));
  }
  Array forward(const Array& x) override { return way(*this, x); }
  Array step(const Array& x) const { return bn(fc(x)); }
  Stateful<Linear> fc;
  Stateful<BatchNorm> bn;
  Way way;
};

Array input() { return random::normal(Key(3), {5, 2}); }
int64_t batches(const Net& net) { return net.get_buffer("bn.num_batches_tracked").item<int64_t>(); }

// All forms of a call in training, each of a module of its own.
template <class F>
void in_all_forms(const Net::Way& way, const F& check) {
  const auto loss = [](Net& n, const Array& x) { return sum(square(n(x))); };
  check("call", way, [](Net& n) { n(input()); });
  check("compile", way, [](Net& n) { compile(n)(input()); });
  check("apply", way, [](Net& n) {
    const auto f = functionalize(n);
    restore(n, f.params, f.apply(f.params, f.buffers, {.training = true}, input()).second);
  });
  check("step", way, [&](Net& n) {
    optim::Stateful(n, optim::sgd({.learning_rate = 0.1})).step([&] { return loss(n, input()); });
  });
  check("compile_step", way,
        [&](Net& n) { compile_step(n, optim::sgd({.learning_rate = 0.1}), loss)(input()); });
  check("grad of apply", way, [](Net& n) {
    const auto f = functionalize(n);
    const auto [out, grads] = value_and_grad([&](const NamedArrays& p) {
      auto [y, next] = f.apply(p, f.buffers, {.training = true}, input());
      return std::pair{sum(square(y)), next};
    })(f.params);
    restore(n, f.params, out.second);
  });
}

TEST(ForwardTransforms, BuffersThatEndWithALoopOrBranchAreRefusedAtOnce) {
  const auto refused = [](const std::string& of) {
    return [of](const char* form, const Net::Way& way, const auto& run) {
      Net net(way);
      const NamedArrays before = net.state_dict();
      EXPECT_THAT(message<TracerError>([&] {
                    run(net);
                    return 0;
                  }),
                  HasSubstr("Module: 'bn.running_mean' of Net would become a traced value of " +
                            of + ", which ends before the call does; let it carry or return"))
          << form;
      EXPECT_TRUE(tree::equal(net.state_dict(), before)) << form;
    };
  };
  in_all_forms(
      [](Net& n, const Array& x) {
        return fori_loop(
            0, 3, [&](const Array&, const Array& c) { return n.step(c); }, x);
      },
      refused("fori_loop"));
  in_all_forms(
      [](Net& n, const Array& x) {
        return cond(
            sum(x) > 0, [&](const Array& x) { return n.step(x); }, [](const Array& x) { return x; },
            x);
      },
      refused("cond"));
  in_all_forms(
      [](Net& n, const Array& x) {
        return vmap([&](const Array& s) { return n.step(s * x); })(ones({4}));
      },
      refused("vmap"));
}

TEST(ForwardTransforms, ANestedGradientNamesTheBufferThatItWouldKeep) {
  Net net([](Net& n, const Array& x) { return n.step(x); });
  const auto penalty = [&](const Array& x) {
    return sum(grad([&](const Array& x) { return sum(square(net(x))); })(x));
  };
  optim::Stateful optimizer(net, optim::adam());
  EXPECT_THAT(
      message<TracerError>([&] { return optimizer.step([&] { return penalty(input()); }); }),
      HasSubstr("'bn.running_mean' of Net would become a traced value of grad"));
  EXPECT_EQ(batches(net), 0);
}

void expect_same_arrays(const Net& net, const Net& other, const char* form) {
  for (const auto& [name, value] : net.state_dict())
    EXPECT_TRUE(allclose(value, other.state_dict().at(name), {.rtol = 1e-4, .atol = 1e-5}))
        << form << name;
}

TEST(ForwardTransforms, ALoopMayCarryTheLayerAsAValue) {
  const auto carried = [](Net& n, const Array& x) {
    const bool on = n.training();
    const auto [layer, y] = fori_loop(
        0, 3,
        [&](const Array&, const std::pair<BatchNorm, Array>& c) {
          Context ctx{.training = on};
          const Array y = c.first(n.fc(c.second), ctx.of(c.first));
          return std::pair{ctx.updated(c.first), y};
        },
        std::pair{n.bn.layer(), x});
    n.bn.update_buffers(layer);
    return y;
  };
  const auto unrolled = [](Net& n, const Array& x) { return n.step(n.step(n.step(x))); };
  in_all_forms(carried, [&](const char* form, const Net::Way& way, const auto& run) {
    Net net(way), plain(unrolled);
    run(net);
    run(plain);
    EXPECT_EQ(batches(net), 3) << form;
    expect_same_arrays(net, plain, form);
  });
}

TEST(ForwardTransforms, UpdateBuffersChecksTheLayer) {
  Net wider([](Net& n, const Array& x) {
    n.bn.update_buffers(BatchNorm::init(3));
    return x;
  });
  EXPECT_THAT(message<ShapeError>([&] { return wider(input()); }),
              HasSubstr("update_buffer: 'running_mean' is f32[2]"));
  Net other([](Net& n, const Array& x) {
    n.bn.update_buffers(BatchNorm::init(2, {.affine = false}));
    return x;
  });
  EXPECT_THAT(message<TreeError>([&] { return other(input()); }),
              HasSubstr("update_buffers: the BatchNorm has another form"));
  const Net outside([](Net&, const Array& x) { return x; });
  BatchNorm next = outside.bn.layer();
  outside.bn.update_buffers(next);
  next.running_mean->value = ones({2});
  EXPECT_THROW(outside.bn.update_buffers(next), ValueError);
  EXPECT_THROW(Stateful<BatchNorm>().update_buffers(next), ValueError);
}

TEST(ForwardTransforms, CheckpointHandsBuffersOut) {
  const auto plain = [](Net& n, const Array& x) { return n.step(n.step(x)); };
  const auto again = [](Net& n, const Array& x) {
    const auto inner = checkpoint([&](const Array& x) { return n.step(x); });
    return checkpoint([&](const Array& x) { return n.step(inner(x)); })(x);
  };
  in_all_forms(again, [&](const char* form, const Net::Way& way, const auto& run) {
    Net net(way), other(plain);
    run(net);
    run(other);
    EXPECT_EQ(batches(net), 2) << form;
    expect_same_arrays(net, other, form);
  });
  // Within a loop it hands them to the loop, where they end.
  Net looped([](Net& n, const Array& x) {
    return fori_loop(
        0, 2,
        [&](const Array&, const Array& c) {
          return checkpoint([&](const Array& x) { return n.step(x); })(c);
        },
        x);
  });
  EXPECT_THAT(message<TracerError>([&] { return looped(input()); }),
              HasSubstr("'bn.running_mean' of Net would become a traced value of fori_loop"));
}

}  // namespace forward_transforms_test
}  // namespace spruce::nn
