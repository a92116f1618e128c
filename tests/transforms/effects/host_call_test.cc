// SPDX-License-Identifier: Apache-2.0
// host_call: C++ code on values, under each transform.
#include "spruce/transforms/effects/host_call.h"

#include <gmock/gmock.h>

#include <cmath>
#include <new>

#include "spruce/core/default_device.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/ops/to_device.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"
#include "tests/device/locked_device.h"

namespace spruce {
namespace host_call_test {

using testing::HasSubstr;

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing of that type was thrown";
}

const Array kThree = array({1.0f, 2.0f, 3.0f});

// The gamma function of whole numbers by the C library, counting its calls.
int calls = 0;
Array host_gamma(const Array& x) {
  ++calls;
  std::vector<float> out;
  for (const float v : x.to_vector<float>()) out.push_back(std::round(std::tgamma(v)));
  return array(out, x.shape());
}
Array gamma_of(const Array& x) { return host_call(host_gamma, x.shape(), x); }
const Array kGammas = array({1.0f, 1.0f, 2.0f});

template <class F>
int calls_in(const F& f) {
  calls = 0;
  f();
  return calls;
}

TEST(HostCall, ComputesAtOnceAndWhenCompiled) {
  EXPECT_TRUE(array_equal(gamma_of(kThree), kGammas));
  const auto f = jit([](const Array& x) { return 2.0f * gamma_of(x + 1.0f); });
  EXPECT_TRUE(array_equal(f(kThree), array({2.0f, 4.0f, 12.0f})));
  EXPECT_EQ(calls_in([&] { EXPECT_TRUE(array_equal(f(kThree - 1.0f), 2.0f * kGammas)); }), 1);
  EXPECT_EQ(f.trace_count(), 1);
}

struct Point {
  Array x, y;
  double scale = 1;
};

TEST(HostCall, TakesAndGivesTrees) {
  const auto turn = [](const Point& p, float by) { return Point{by * p.y, -1.0f * p.x, p.scale}; };
  const auto f = [&](const Point& p) { return host_call(turn, p, p, 2.0f); };
  const Point p{kThree, array(int32_t{4}), 0.5};
  const auto like = [&](const Point& q) {
    return host_call(
        [](const Point& a) {
          return std::pair{a.y, a.scale * a.x};
        },
        std::pair{q.y, q.x}, q);
  };
  const auto [y, x] = jit(like)(p);
  EXPECT_EQ(y.item<int32_t>(), 4);
  EXPECT_TRUE(array_equal(x, 0.5f * kThree));
  const Point q = jit(f)(Point{kThree, kThree, 0.5});
  EXPECT_TRUE(array_equal(q.x, 2.0f * kThree));
  EXPECT_TRUE(array_equal(q.y, -kThree));
  EXPECT_EQ(q.scale, 0.5);
  EXPECT_EQ(host_call([] { return Array(7.0f); }, {}).item<float>(), 7.0f);
  EXPECT_EQ(host_call([](const Array& a) { return argmax(a); }, {}, {.dtype = int32}, kThree)
                .item<int32_t>(),
            2);
}

TEST(HostCall, TakesAndGivesKeys) {
  struct Seeded {
    Array x;
    Key key;
  };
  const auto next = [](const Seeded& s) {
    return Seeded{s.x + random::normal(s.key, {3}), random::fold_in(s.key, 1)};
  };
  const auto f = [&](const Seeded& s) { return host_call(next, s, s); };
  const Seeded s{kThree, Key(4)}, want = next(s);
  for (const Seeded& got : {f(s), jit(f)(s)}) {
    EXPECT_TRUE(array_equal(got.x, want.x));
    EXPECT_TRUE(array_equal(got.key.data(), want.key.data()));
  }
  const Key keys = random::split(Key(4), 5);
  const auto drawn = [](const Key& k) {
    return host_call([](const Key& key) { return random::normal(key, {2}); }, {2}, k);
  };
  EXPECT_TRUE(array_equal(vmap(drawn)(keys)[4], random::normal(keys[4], {2})));
}

TEST(HostCall, SaysWhereTheResultIsAnother) {
  const auto wrong_shape = [](const Array& x) { return host_call(host_gamma, {2}, x); };
  const std::string place = "host_call_test.cc:" + std::to_string(__LINE__ - 1);
  for (const auto& f :
       std::vector<std::function<Array(const Array&)>>{wrong_shape, jit(wrong_shape)}) {
    EXPECT_THAT(message_of<ShapeError>([&] { f(kThree); }),
                HasSubstr("host_call: the result of the function is f32[3], and host_call was "
                          "told f32[2]\n  at " +
                          place));
  }
  EXPECT_THAT(message_of<DtypeError>(
                  [] { host_call([](const Array& x) { return astype(x, int32); }, {3}, kThree); }),
              HasSubstr("is i32[3], and host_call was told f32[3]; convert it with astype"));
  EXPECT_THAT(message_of<TreeError>([] { host_call([] { return Array(); }, array(1.0f)); }),
              HasSubstr("host_call: the function gives 0 arrays, and host_call was told 1"));
  EXPECT_THAT(message_of<ShapeError>([] { host_call(host_gamma, {-1}, kThree); }),
              HasSubstr("host_call"));
}

TEST(HostCall, WhatItThrowsComesOutOfTheCall) {
  const auto f = jit([](const Array& x) {
    return host_call(
        [](const Array& a) {
          if (a.item<float>() < 0) throw std::out_of_range("negative");
          return a;
        },
        {}, x);
  });
  EXPECT_EQ(message_of<std::out_of_range>([&] { f(array(-1.0f)); }), "negative");
  EXPECT_EQ(f(array(2.0f)).item<float>(), 2.0f);
}

TEST(HostCall, UnderVmapOnceAnExampleOrOnceInAll) {
  const Array xs = stack({kThree, kThree + 1.0f});
  const Array want = array({{1.0f, 1.0f, 2.0f}, {1.0f, 2.0f, 6.0f}});
  const auto f = vmap(gamma_of);
  EXPECT_EQ(calls_in([&] { EXPECT_TRUE(array_equal(f(xs), want)); }), 2);
  EXPECT_EQ(calls_in([&] { EXPECT_TRUE(array_equal(jit(f)(xs), want)); }), 2);
  EXPECT_EQ(calls_in([&] {
              EXPECT_TRUE(array_equal(vmap(f)(stack({xs, xs})), stack({want, want})));
            }),
            4);
  EXPECT_EQ(calls_in([&] { f(zeros({0, 3})); }), 0);
  const auto all = vmap(
      [](const Array& x, const Array& y) {
        return host_call(
            [](const Array& a, const Array& b) {
              EXPECT_EQ(a.shape(), (Shape{2, 3}));
              EXPECT_EQ(b.shape(), (Shape{2}));
              ++calls;
              return a + b.reshape({2, 1});
            },
            x.shape(), {.vectorized = true}, x, y);
      },
      {0, none});
  EXPECT_EQ(calls_in([&] { EXPECT_TRUE(array_equal(all(xs, array(1.0f)), xs + 1.0f)); }), 1);
  const auto mixed = vmap(
      [](const Array& x, const Array& y) {
        return host_call([](const Array& a, const Array& b) { return a + b; }, {}, x, y);
      },
      {0, none});
  EXPECT_TRUE(array_equal(jit(mixed)(kThree, array(1.0f)), kThree + 1.0f));
}

TEST(HostCall, HasADerivativeByCustomRulesOnly) {
  const auto f = [](const Array& x) { return sum(gamma_of(x)); };
  const std::string message = message_of<DerivativeError>([&] { grad(f)(kThree); });
  EXPECT_THAT(message, HasSubstr("host_call(f32[3]): this operation has no derivative rule; wrap "
                                 "it in stop_gradient or give one with custom_jvp"));
  EXPECT_THAT(message_of<DerivativeError>([&] { jit(grad(f))(kThree); }), HasSubstr("host_call"));
  EXPECT_TRUE(array_equal(
      grad([](const Array& x) { return sum(x * gamma_of(stop_gradient(x))); })(kThree), kGammas));
  const auto g = custom_jvp(gamma_of, [](const std::tuple<Array>& x, const std::tuple<Array>& t) {
    const Array y = gamma_of(std::get<0>(x));
    return std::pair{y, y * digamma(std::get<0>(x)) * std::get<0>(t)};
  });
  const auto h = [&](const Array& x) { return sum(g(x)); };
  const Array slopes = kGammas * digamma(kThree);
  EXPECT_TRUE(allclose(grad(h)(kThree), slopes));
  EXPECT_TRUE(allclose(jit(grad(h))(kThree), slopes));
  EXPECT_TRUE(allclose(jit(vmap(grad([&](const Array& x) { return g(x); })))(kThree), slopes));
}

TEST(HostCall, RunsInLoopsAndBranches) {
  const auto f = [](const Array& x) {
    return scan(
               [](const Array& c, None) {
                 const Array next = host_call([](const Array& a) { return a + 1.0f; }, {}, c);
                 return std::pair{next, next};
               },
               x, none, {.length = 3})
        .second;
  };
  EXPECT_TRUE(array_equal(jit(f)(array(1.0f)), array({2.0f, 3.0f, 4.0f})));
  EXPECT_TRUE(array_equal(jit(vmap(f))(array({1.0f, 5.0f})),
                          array({{2.0f, 3.0f, 4.0f}, {6.0f, 7.0f, 8.0f}})));
  const auto g = [](const Array& x) {
    return cond(
        x > 1.5f, gamma_of, [](const Array& a) { return a; }, x);
  };
  EXPECT_EQ(calls_in([&] { jit(g)(array(1.0f)); }), 0);
  EXPECT_EQ(calls_in([&] { jit(g)(array(3.0f)); }), 1);
  EXPECT_TRUE(array_equal(jit(vmap(g))(kThree), kGammas));
  const auto h = [](const Array& x) {
    return while_loop([](const Array& c) { return c < 6.0f; },
                      [](const Array& c) {
                        return host_call(
                            [](const Array& a) {
                              ++calls;
                              return a * 2.0f;
                            },
                            {}, {.effects = true}, c);
                      },
                      x);
  };
  EXPECT_EQ(calls_in([&] {
              EXPECT_TRUE(array_equal(jit(vmap(h))(kThree), array({8.0f, 8.0f, 6.0f})));
            }),
            6);
}

TEST(HostCall, IsCalledForItsEffectsOrNotAtAll) {
  const auto f = [](bool effects) {
    return [=](const Array& x) {
      (void)host_call(host_gamma, x.shape(), {.effects = effects}, x);
      return x + 1.0f;
    };
  };
  EXPECT_EQ(calls_in([&] { jit(f(false))(kThree); }), 0);
  EXPECT_EQ(calls_in([&] { jit(f(true))(kThree); }), 1);
  const auto loop = [&](const Array& x) {
    return fori_loop(
        0, 4, [&](const Array&, const Array& c) { return f(true)(x) + 0.0f * c; }, x);
  };
  EXPECT_EQ(calls_in([&] { jit(loop)(kThree); }), 4);
}

TEST(HostCall, ResultsAreWhereArgumentsAre) {
  Device& device = test_device::locked_device();
  const Array x = to_device(kThree, device);
  for (const auto& f : std::vector<std::function<Array(const Array&)>>{gamma_of, jit(gamma_of)}) {
    const Array y = f(x);
    EXPECT_EQ(&y.device(), &device);
    EXPECT_TRUE(array_equal(to_device(y + 0.0f, cpu_device()), kGammas));
  }
}

TEST(HostCall, IsNeitherSavedNorRead) {
  EXPECT_THAT(message_of<ValueError>(
                  [] { save_function(testing::TempDir() + "host_call", gamma_of, kThree); }),
              HasSubstr("save_function: the function calls host_call, which"));
  const Graph g = make_graph(gamma_of)(kThree);
  EXPECT_THAT(g.text(), HasSubstr("host_call[function=rule vectorized=false effects=false] a"));
  EXPECT_THAT(message_of<GraphError>([&] { parse_graph(g.text()); }),
              HasSubstr("host_call: the function is C++ code"));
}

TEST(HostCall, WhatItThrowsComesOutAsItIs) {
  const auto full = [](const Array& x) -> Array {
    if (x.defined()) throw std::bad_alloc();
    return x;
  };
  const auto f = jit([&](const Array& x) { return host_call(full, x, x); });
  EXPECT_THROW((void)f(kThree), std::bad_alloc);
}

}  // namespace host_call_test
}  // namespace spruce
