// SPDX-License-Identifier: Apache-2.0
// checkpoint: same values and derivatives, less memory, and a second run that stays one under jit.
#include "spruce/transforms/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include "spruce/core/memory.h"
#include "spruce/transforms/compile/plan.h"
#include "spruce/transforms/passes/pipeline.h"

namespace spruce {
namespace checkpoint_test {

struct Layer {
  Array w, b;
};

Array layer(const Layer& l, const Array& x) { return tanh(matmul(x, l.w) + l.b); }

std::vector<Layer> layers(int n, int64_t width, Dtype dtype) {
  std::vector<Layer> out;
  for (int i = 0; i < n; ++i) {
    const auto [k1, k2] = random::split<2>(random::fold_in(Key(3), static_cast<uint32_t>(i)));
    out.push_back({random::normal(k1, {width, width}, {.dtype = dtype}) / 3.0,
                   random::normal(k2, {width}, {.dtype = dtype})});
  }
  return out;
}

// A deep network, each layer of which is wrapped by `wrap`.
template <class Wrap>
auto network(const Wrap& wrap) {
  return [wrapped = wrap(layer)](const std::vector<Layer>& ls, const Array& x) {
    Array h = x;
    for (const Layer& l : ls) h = wrapped(l, h);
    return sum(square(h));
  };
}

const auto kPlain = [](auto f) { return f; };
const auto kNothing = [](auto f) { return checkpoint(f); };
const auto kMatmuls = [](auto f) { return checkpoint(f, {.save_matmuls = true}); };

const Array kX = random::normal(Key(1), {3, 5}, {.dtype = float64});

template <class T>
void expect_close(const T& a, const T& b) {
  for (const auto& [x, y] : tree::zip(a, b))
    EXPECT_TRUE(allclose(x, y, {.rtol = 1e-12, .atol = 1e-12}));
}

TEST(Checkpoint, HasTheSameValuesAndDerivatives) {
  const std::vector<Layer> ls = layers(3, 5, float64);
  const auto plain = network(kPlain);
  const auto expected = value_and_grad(plain)(ls, kX);
  const auto check = [&](const auto& f) {
    const auto [v, g] = value_and_grad(f)(ls, kX);
    expect_close(std::pair{v, g}, expected);
    const auto [jv, jg] = jit(value_and_grad(f))(ls, kX);
    expect_close(std::pair{jv, jg}, expected);
    const Array tangent = ones_like(kX);
    const auto along = [&](const auto& h) {
      return jvp([&](const Array& x) { return h(ls, x); }, std::tuple{kX}, std::tuple{tangent});
    };
    expect_close(along(f), along(plain));
    const auto second = [&](const auto& h) {
      return hessian([&](const Array& x) { return h(ls, x); })(kX);
    };
    expect_close(second(f), second(plain));
    const auto twice = [&](const auto& h) {
      return grad([&](const Array& x) {
        return sum(square(grad([&](const Array& z) { return h(ls, z); })(x)));
      });
    };
    expect_close(twice(f)(kX), twice(plain)(kX));
    expect_close(jit(twice(f))(kX), twice(plain)(kX));
    const auto each = [&](const auto& h) {
      return vmap([&](const Array& x) { return grad(h)(ls, x); })(stack({kX, 2.0 * kX}));
    };
    expect_close(each(f), each(plain));
    expect_close(grad([&](const Array& x) {
                   return sum(vmap([&](const Array& row) { return f(ls, row); })(x));
                 })(kX),
                 grad([&](const Array& x) { return plain(ls, x); })(kX));
  };
  check(network(kNothing));
  check(network(kMatmuls));
  check(checkpoint(network(kNothing)));  // nested
}

// A rule that is not the derivative: the second derivative is that of what the first one computes.
TEST(Checkpoint, SecondDerivativesGoThroughRulesOfOnesOwn) {
  const auto backward =
      custom_vjp([](const Array& x) { return sin(x); },
                 [](const Array& x) {
                   return std::pair{sin(x), x};
                 },
                 [](const Array& x, const Array& g) { return std::tuple{2.0f * g * cos(x)}; });
  const auto forward = custom_jvp([](const Array& x) { return sin(x); },
                                  [](const auto& x, const auto& t) {
                                    const Array& p = std::get<0>(x);
                                    return std::pair{sin(p), 2.0f * std::get<0>(t) * cos(p)};
                                  });
  const Array x = array(0.3, float64);
  const auto expect_second = [&](const auto& f) {
    const auto in_scan = [&](const Array& y) {
      const auto body = [&](const Array& c) { return std::pair{f(c), none}; };
      return scan(body, y, {.length = 1, .checkpoint = true}).first;
    };
    const auto plain = [&](const Array& y) { return square(f(y)); };
    const auto checkpointed = [&](const Array& y) { return square(checkpoint(f)(y)); };
    const auto scanned = [&](const Array& y) { return square(in_scan(y)); };
    const Array expected = grad(grad(plain))(x);
    EXPECT_NEAR(expected.item<double>(), 4 * std::cos(0.6), 1e-12);
    EXPECT_TRUE(allclose(grad(grad(checkpointed))(x), expected));
    EXPECT_TRUE(allclose(jit(grad(grad(checkpointed)))(x), expected));
    EXPECT_TRUE(allclose(grad(grad(scanned))(x), expected));
    EXPECT_TRUE(allclose(jvp(grad(checkpointed), std::tuple{x}, std::tuple{ones_like(x)}).second,
                         expected));
    EXPECT_TRUE(allclose(hessian(scanned)(x), expected));
  };
  expect_second(backward);
  expect_second(forward);
}

TEST(Checkpoint, RulesOfOnesOwnPrintOnce) {
  const auto f = custom_vjp(
      [](const Array& x) {
        debug::print("f");
        return sin(x);
      },
      [](const Array& x) {
        debug::print("forward");
        return std::pair{sin(x), x};
      },
      [](const Array& x, const Array& g) {
        debug::print("backward");
        return std::tuple{g * cos(x)};
      });
  const auto plain = [&](const Array& x) { return square(f(x)); };
  const auto again = [&](const Array& x) { return square(checkpoint(f)(x)); };
  const Array x = array(0.3f);
  for (const bool compiled : {false, true}) {
    const auto run = [&](const auto& g) {
      testing::internal::CaptureStdout();
      compiled ? (void)jit(g)(x) : (void)g(x);
      return testing::internal::GetCapturedStdout();
    };
    EXPECT_EQ(run(grad(again)), run(grad(plain)));
    EXPECT_EQ(run(grad(plain)), "forward\nbackward\n");
  }
}

TEST(Checkpoint, ClosesOverTracedValuesAndTakesTrees) {
  const Array y = array({1.0, 2.0}, float64);
  const auto f = [&](const Array& w) {
    const auto g = [&](const std::pair<Array, int>& p) {
      return std::map<std::string, Array>{{"a", sin(p.first * w) * p.second}, {"b", exp(w) * y}};
    };
    const auto out = checkpoint(g)(std::pair{y, 3});
    return sum(out.at("a")) + sum(out.at("b"));
  };
  const auto plain = [&](const Array& w) { return sum(sin(y * w) * 3) + sum(exp(w) * y); };
  const Array w = array({0.5, -0.5}, float64);
  EXPECT_TRUE(allclose(grad(f)(w), grad(plain)(w)));
  EXPECT_TRUE(allclose(hessian(f)(w), hessian(plain)(w)));
  EXPECT_TRUE(allclose(f(w), plain(w)));
  EXPECT_TRUE(array_equal(checkpoint([](const Array&) { return array(2.0f); })(w), array(2.0f)));
  const auto constant = [](const Array& x) {
    return sum(
        checkpoint([](const Array& z) { return array(2.0, float64) + 0.0 * stop_gradient(z); })(x));
  };
  EXPECT_TRUE(array_equal(grad(constant)(w), zeros({2}, float64)));
}

TEST(Checkpoint, PoliciesSayWhatIsComputedAgain) {
  const Array w = array({{1.0, 2.0}, {3.0, 4.0}}, float64), x = array({1.0, 2.0}, float64);
  const auto body = [&](const Array& x) { return sin(checkpoint_name(matmul(x, w), "product")); };
  const auto plain = [&](const Array& x) { return sum(body(x)); };
  // One product in the forward pass, one with the cotangent, and one where it is computed again.
  const auto products = [&](const CheckpointOptions& options) {
    const auto f = [&](const Array& x) { return sum(checkpoint(body, options)(x)); };
    EXPECT_TRUE(allclose(grad(f)(x), grad(plain)(x)));
    EXPECT_TRUE(allclose(hessian(f)(x), hessian(plain)(x)));
    const std::string text = make_graph(grad(f))(x).text();
    size_t n = 0;
    for (size_t at = text.find("dot_general"); at != std::string::npos;
         at = text.find("dot_general", at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(products({}), 3u);
  EXPECT_EQ(products({.save_names = {"other"}}), 3u);
  EXPECT_EQ(products({.save_names = {"other", "product"}}), 2u);
  EXPECT_EQ(products({.save_matmuls = true}), 2u);
  EXPECT_THROW(checkpoint_name(x, ""), ValueError);
  EXPECT_THROW(checkpoint_name(x, "a,b"), ValueError);
}

int64_t peak_of(const auto& f) {
  f();
  memory::reset_peak();
  const int64_t before = memory::live_bytes();
  f();
  return memory::peak_bytes() - before;
}

TEST(Checkpoint, LowersThePeak) {
  constexpr int kLayers = 24;
  constexpr int64_t kWidth = 64, kRows = 512;
  const std::vector<Layer> ls = layers(kLayers, kWidth, float32);
  const Array x = random::normal(Key(1), {kRows, kWidth});
  const int64_t activation = kRows * kWidth * 4;
  // Blocks of four layers: the ends of blocks are kept, and the inside of one at a time.
  const auto blocks = [](const auto& wrap) {
    const auto block = wrap([](const std::vector<Layer>& part, const Array& x) {
      Array h = x;
      for (const Layer& l : part) h = layer(l, h);
      return h;
    });
    return [block](const std::vector<Layer>& ls, const Array& x) {
      Array h = x;
      for (size_t i = 0; i < ls.size(); i += 4)
        h = block(std::vector<Layer>(ls.begin() + static_cast<ptrdiff_t>(i),
                                     ls.begin() + static_cast<ptrdiff_t>(i) + 4),
                  h);
      return mean(square(h));
    };
  };
  const auto plain = grad(blocks(kPlain));
  const auto less = grad(blocks(kNothing));
  const int64_t eager_plain = peak_of([&] { (void)plain(ls, x); });
  const int64_t eager_less = peak_of([&] { (void)less(ls, x); });
  EXPECT_GT(eager_plain, kLayers * activation);
  EXPECT_LT(eager_less, eager_plain * 2 / 3);
  // The memory plan of the compiled gradients.
  const auto planned = [&](const auto& f) {
    const internal::Plan plan(passes::optimize(make_graph(f)(ls, x)));
    return static_cast<int64_t>(plan.temporary_bytes());
  };
  const int64_t jit_plain = planned(plain), jit_less = planned(less);
  EXPECT_GT(jit_plain, kLayers * activation);
  EXPECT_LT(jit_less, jit_plain * 2 / 3);
  EXPECT_TRUE(allclose(jit(less)(ls, x)[5].w, plain(ls, x)[5].w, {.rtol = 1e-4, .atol = 1e-6}));
  std::cout << "peak bytes, eager: " << eager_plain << " and " << eager_less
            << " with checkpoint; compiled: " << jit_plain << " and " << jit_less << "\n";
}

}  // namespace checkpoint_test
}  // namespace spruce
