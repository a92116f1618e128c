// SPDX-License-Identifier: Apache-2.0
// Rules of one's own, under every other transform. Their derivatives are wrong on purpose (twice
// what they should be), so that only the rule can give them.
#include "spruce/transforms/derive/custom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace custom_test {

const Array kRow = array({0.5f, 1.0f, 2.0f});

Array slope(const Array& x) { return 2.0f * 3.0f * x * x; }

const auto cube_forward = custom_jvp([](const Array& x) { return x * x * x; },
                                     [](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                                       const Array& x = std::get<0>(p);
                                       return std::pair{x * x * x, slope(x) * std::get<0>(t)};
                                     });
const auto cube_backward =
    custom_vjp([](const Array& x) { return x * x * x; },
               [](const Array& x) {
                 return std::pair{x * x * x, x};
               },
               [](const Array& x, const Array& ct) { return std::tuple{slope(x) * ct}; });

// All that must hold for a cube with that slope, whichever rule it has.
template <class F>
void expect_rule(const F& cube) {
  const Array x = array(2.0f);
  const auto one = [&](const Array& v) { return cube(v); };
  const auto total = [&](const Array& v) { return sum(cube(v)); };
  const Array slopes = slope(kRow);
  EXPECT_EQ(cube(x).template item<float>(), 8.0f);
  EXPECT_TRUE(allclose(grad(one)(x), slope(x)));
  EXPECT_TRUE(allclose(grad(total)(kRow), slopes));
  EXPECT_TRUE(allclose(vmap(grad(one))(kRow), slopes));
  EXPECT_TRUE(allclose(grad([&](const Array& v) { return sum(vmap(one)(v)); })(kRow), slopes));
  EXPECT_TRUE(allclose(jit(one)(kRow), kRow * kRow * kRow));
  EXPECT_TRUE(allclose(vmap(one)(kRow), kRow * kRow * kRow));
  EXPECT_TRUE(allclose(jit(grad(one))(x), slope(x)));
  EXPECT_TRUE(allclose(grad(jit(one))(x), slope(x)));
  EXPECT_TRUE(allclose(jit(vmap(grad(one)))(kRow), slopes));
  EXPECT_TRUE(allclose(jit(vmap(jit(grad(jit(one)))))(kRow), slopes));
  EXPECT_TRUE(allclose(vmap(jit(grad(one)))(kRow), slopes));
  EXPECT_TRUE(allclose(vmap(grad(jit(one)))(kRow), slopes));
  EXPECT_TRUE(allclose(grad([&](const Array& v) { return sum(jit(vmap(one))(v)); })(kRow), slopes));
  EXPECT_TRUE(allclose(grad([&](const Array& v) { return sum(vmap(jit(one))(v)); })(kRow), slopes));
  // The rule itself is differentiated for the second order.
  EXPECT_TRUE(allclose(grad(grad(one))(x), 12.0f * x));
  EXPECT_TRUE(allclose(grad(jit(grad(one)))(x), 12.0f * x));
  EXPECT_TRUE(allclose(vmap(grad(grad(one)))(kRow), 12.0f * kRow));
  EXPECT_TRUE(
      allclose(vmap(vmap(grad(one)))(stack({kRow, 2.0f * kRow})), stack({slopes, 4.0f * slopes})));
}

TEST(CustomRules, JvpUnderEveryTransform) { expect_rule(cube_forward); }
TEST(CustomRules, VjpUnderEveryTransform) { expect_rule(cube_backward); }

TEST(CustomRules, JvpGivesForwardMode) {
  const auto along = [](const Array& x) {
    return jvp(cube_forward, std::tuple{x}, std::tuple{ones_like(x)}).second;
  };
  EXPECT_TRUE(allclose(along(kRow), slope(kRow)));
  EXPECT_TRUE(allclose(vmap(along)(kRow), slope(kRow)));
  EXPECT_TRUE(allclose(jit(along)(kRow), slope(kRow)));
  EXPECT_TRUE(allclose(jacfwd(cube_forward)(kRow), diag(slope(kRow))));
  EXPECT_TRUE(allclose(jacrev(cube_forward)(kRow), diag(slope(kRow))));
  EXPECT_TRUE(allclose(linearize(cube_forward, kRow).second(ones_like(kRow)), slope(kRow)));
}

TEST(CustomRules, VjpHasNoForwardMode) {
  EXPECT_THROW((void)jvp(cube_backward, std::tuple{kRow}, std::tuple{ones_like(kRow)}),
               DerivativeError);
  EXPECT_THROW((void)jacfwd(cube_backward)(kRow), DerivativeError);
  EXPECT_TRUE(allclose(jacrev(cube_backward)(kRow), diag(slope(kRow))));
}

struct Pair {
  Array a, b;
};

TEST(CustomRules, TreesInAndOut) {
  const auto swap = custom_vjp(
      [](const Pair& p, const Array& c) {
        return Pair{p.b * c, p.a};
      },
      [](const Pair& p, const Array& c) {
        return std::pair{Pair{p.b * c, p.a}, std::tuple{p.b, c}};
      },
      [](const std::tuple<Array, Array>& r, const Pair& ct) {
        return std::tuple{Pair{ct.b, 10.0f * ct.a * std::get<1>(r)}, ct.a * std::get<0>(r)};
      });
  const auto loss = [&](const Pair& p, const Array& c) {
    const Pair out = swap(p, c);
    return out.a + 3.0f * out.b;
  };
  const Pair p{array(2.0f), array(5.0f)};
  const auto [dp, dc] = grad<0, 1>(loss)(p, array(7.0f));
  EXPECT_EQ(dp.a.item<float>(), 3.0f);
  EXPECT_EQ(dp.b.item<float>(), 70.0f);
  EXPECT_EQ(dc.item<float>(), 5.0f);
  EXPECT_EQ(jit(grad(loss))(p, array(7.0f)).b.item<float>(), 70.0f);
}

TEST(CustomRules, AZeroCotangentMayBeLeftOut) {
  const auto f = custom_vjp([](const Array& x, const Array& y) { return x * y; },
                            [](const Array& x, const Array& y) {
                              return std::pair{x * y, y};
                            },
                            [](const Array& y, const Array& ct) {
                              return std::tuple{ct * y, Array()};
                            });
  const auto [dx, dy] =
      grad<0, 1>([&](const Array& x, const Array& y) { return f(x, y); })(array(2.0f), array(3.0f));
  EXPECT_EQ(dx.item<float>(), 3.0f);
  EXPECT_EQ(dy.item<float>(), 0.0f);
}

template <class Error, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing of that type was thrown";
}

// x * y with that backward function.
template <class Bwd>
auto product_with(Bwd bwd) {
  return custom_vjp([](const Array& x, const Array& y) { return x * y; },
                    [](const Array& x, const Array& y) {
                      return std::pair{x * y, std::pair{x, y}};
                    },
                    bwd);
}
using Two = std::pair<Array, Array>;

TEST(CustomRules, CotangentsHaveTheTypesOfTheirArguments) {
  const Array x = array({1.0f, 2.0f});
  const auto slope = [&](const auto& f) {
    return grad([&](const Array& v) { return sum(f(v, v)); })(x);
  };
  const auto wide = product_with([](const Two& r, const Array& ct) {
    return std::tuple{ones({7}), ct * r.first};
  });
  const std::string text = message_of<ShapeError>([&] { (void)slope(wide); });
  EXPECT_THAT(text, testing::HasSubstr("custom_vjp: bwd returned f32[7] as the cotangent of "
                                       "argument 0, which is f32[2]; they must have one shape"));
  EXPECT_THAT(text, testing::HasSubstr("custom_test.cc:"));
  const auto mapped = [&](const Array& rows) {
    return sum(vmap([&](const Array& v) { return wide(v, v); })(rows));
  };
  EXPECT_THROW((void)grad(mapped)(ones({3, 2})), ShapeError);
  EXPECT_THROW((void)jit([&] { return slope(wide); })(), ShapeError);
  const auto other = product_with([](const Two& r, const Array& ct) {
    return std::tuple{ct * r.second, astype(ct * r.first, float64)};
  });
  EXPECT_THAT(message_of<DtypeError>([&] { (void)slope(other); }),
              testing::HasSubstr("bwd returned f64[2] as the cotangent of argument 1, which is "
                                 "f32[2]; they must have one dtype"));
  const auto fewer = product_with([](const Two& r, const Array& ct) {
    return std::tuple{ct * r.second, 0.0f};
  });
  EXPECT_THAT(message_of<TreeError>([&] { (void)slope(fewer); }),
              testing::HasSubstr("custom_vjp: bwd returned no cotangent for argument 1"));
  const auto more = product_with([](const Two& r, const Array& ct) {
    return std::tuple{ct * r.second, std::vector<Array>{ct * r.first, ct}};
  });
  EXPECT_THROW((void)slope(more), TreeError);
}

TEST(CustomRules, AWeakCotangentTakesTheDtypeOfItsArgument) {
  const auto f = product_with([](const Two&, const Array&) {
    return std::tuple{Array(2.0f), Array(3.0f)};
  });
  const Array g = grad([&](const Array& v) { return f(v, v); })(array(1.0, float64));
  EXPECT_EQ(g.dtype(), float64);
  EXPECT_EQ(g.item<double>(), 5.0);
}

TEST(CustomRules, TangentsHaveTheTypesOfTheirResults) {
  const auto with = [](const auto& tangent) {
    return custom_jvp(
        [](const Array& x) {
          return std::vector<Array>{x, 2.0f * x};
        },
        [=](const std::tuple<Array>& p, const std::tuple<Array>& t) {
          const Array& x = std::get<0>(p);
          return std::pair{std::vector<Array>{x, 2.0f * x}, tangent(std::get<0>(t))};
        });
  };
  const auto slope = [](const auto& f) {
    return grad([&](const Array& v) {
      const std::vector<Array> out = f(v);
      return sum(out[0] + out[1]);
    })(kRow);
  };
  EXPECT_TRUE(array_equal(slope(with([](const Array& t) {
                            return std::vector<Array>{t, Array()};
                          })),
                          ones({3})));
  EXPECT_THAT(message_of<ShapeError>([&] {
                (void)slope(with([](const Array& t) { return std::vector<Array>{t, t[0]}; }));
              }),
              testing::HasSubstr("custom_jvp: the rule returned f32[] as the tangent of the result "
                                 "at 1, which is f32[3]; they must have one shape"));
  EXPECT_THROW((void)slope(with([](const Array& t) {
                 return std::vector<Array>{t, astype(t, float64)};
               })),
               DtypeError);
  // Four leaves and two in all: as many as two and two.
  EXPECT_THROW((void)slope(with([](const Array& t) {
                 return std::vector<Array>{t, t, t, t};
               })),
               TreeError);
  EXPECT_THROW((void)slope(with([](const Array&) { return std::vector<Array>{}; })), TreeError);
}

TEST(CustomRules, IntegerArguments) {
  const auto pick =
      custom_jvp([](const Array& x, const Array& i) { return take(x, i, 0); },
                 [](const std::tuple<Array, Array>& p, const std::tuple<Array, Array>& t) {
                   const auto& [x, i] = p;
                   return std::pair{take(x, i, 0), 2.0f * take(std::get<0>(t), i, 0)};
                 });
  const Array got = grad([&](const Array& x) { return pick(x, array(1)); })(kRow);
  EXPECT_TRUE(array_equal(got, array({0.0f, 2.0f, 0.0f})));
  const auto each = vmap(grad([&](const Array& x, const Array& i) { return pick(x, i); }),
                         {.in_axes = {none, 0}});
  EXPECT_TRUE(
      array_equal(each(kRow, array({2, 0})), array({{0.0f, 0.0f, 2.0f}, {2.0f, 0.0f, 0.0f}})));
}

TEST(CustomRules, ATracedValueThatIsNoArgumentIsAnError) {
  const auto captured = [](const Array& y) {
    const auto f = custom_jvp([y](const Array& x) { return x * y; },
                              [y](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                                return std::pair{std::get<0>(p) * y, std::get<0>(t) * y};
                              });
    return jit([f](const Array& x) { return f(x); })(array(2.0f));
  };
  EXPECT_THROW((void)jit(captured)(array(3.0f)), TracerError);
  const auto message = [&](const auto& f) {
    try {
      (void)f(array(3.0f));
    } catch (const TracerError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string start = "custom_jvp: a function that it was given captures a traced value of ";
  EXPECT_TRUE(message(jit(captured)).starts_with(start + "jit"));
  EXPECT_TRUE(message(jit(grad(captured))).starts_with(start + "grad"));
  EXPECT_TRUE(message(grad(captured)).starts_with(start + "grad"));
}

TEST(CustomRules, StopGradient) {
  const auto f = [](const Array& x) { return x * stop_gradient(x); };
  EXPECT_EQ(grad(f)(array(3.0f)).item<float>(), 3.0f);
  EXPECT_EQ(jit(grad(f))(array(3.0f)).item<float>(), 3.0f);
  EXPECT_TRUE(array_equal(vmap(grad(f))(kRow), kRow));
}

// Rules that differentiate loops, branches and what is computed again: under grad of vmap, too,
// tangents have loops of their own.
TEST(CustomRules, RulesWithLoopsUnderGradOfVmap) {
  const auto loop = [](const Array& x) {
    return scan(
               [](const Array& c) {
                 return std::pair{sin(c) * 1.1, none};
               },
               x, {.length = 3})
        .first;
  };
  const auto until = [](const Array& x) {
    return while_loop([](const Array& c) { return sum(c) < 4.0; },
                      [](const Array& c) { return c * c + 0.5; }, x, {.max_steps = 4});
  };
  const auto branch = [](const Array& x) {
    return cond(
        sum(x) > 0.5, [](const Array& y) { return y / (y + 1.0); },
        [](const Array& y) { return exp(y); }, x);
  };
  const auto again = checkpoint([](const Array& x) { return sin(x) * x; });
  const Array xs = array({{0.2, 0.1}, {0.9, 0.3}, {0.5, 1.4}}, float64);
  const auto expect_same = [&](const auto& f) {
    const auto custom =
        custom_jvp(f, [f](const auto& primals, const auto& ts) { return jvp(f, primals, ts); });
    const auto slope = [](const auto& g) {
      return grad([g](const Array& a) { return sum(vmap(g)(a)); });
    };
    const Array want = slope(f)(xs);
    EXPECT_TRUE(allclose(slope(custom)(xs), want, {.rtol = 1e-12}));
    EXPECT_TRUE(allclose(jit(slope(custom))(xs), want, {.rtol = 1e-12}));
  };
  expect_same(loop);
  expect_same(until);
  expect_same(branch);
  expect_same(again);
}

}  // namespace custom_test
}  // namespace spruce
