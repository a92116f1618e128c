// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/loops/scan.h"

#include "spruce/core/memory.h"
#include "spruce/core/random/random.h"
#include "tests/transforms/control/twins.h"

namespace spruce::control {
namespace scan_test {

// h = tanh(w h + u x), the last h and all of them in one number.
Array recurrent(const Arrays& in, const ScanOptions& options) {
  const Array &w = in[0], &u = in[1], &h0 = in[2], &xs = in[3];
  const auto [last, hs] = scan(
      [&](const Array& h, const Array& x) {
        const Array next = tanh(matmul(w, h) + matmul(u, x));
        return std::pair{next, next * x[0]};
      },
      h0, xs, options);
  return concatenate({last, ravel(hs)});
}

Array recurrent_plain(const Arrays& in, bool reverse) {
  const Array &w = in[0], &u = in[1], &xs = in[3];
  Array h = in[2];
  const int64_t n = xs.shape(0);
  Arrays hs(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const int64_t i = reverse ? n - 1 - k : k;
    h = tanh(matmul(w, h) + matmul(u, xs[i]));
    hs[static_cast<size_t>(i)] = h * xs[i][0];
  }
  return concatenate({h, ravel(stack(hs))});
}

Arrays recurrent_inputs() {
  return {numbers({3, 3}, 1), numbers({3, 2}, 2), numbers({3}, 3), numbers({5, 2}, 4)};
}

TEST(Scan, EqualsTheUnrolledLoop) {
  expect_twins({"scan", [](const Arrays& in) { return recurrent(in, {}); },
                [](const Arrays& in) { return recurrent_plain(in, false); }, recurrent_inputs()});
}

TEST(Scan, EqualsTheUnrolledLoopInReverse) {
  expect_twins({"scan in reverse",
                [](const Arrays& in) { return recurrent(in, {.reverse = true}); },
                [](const Arrays& in) { return recurrent_plain(in, true); }, recurrent_inputs()});
}

TEST(Scan, EqualsTheUnrolledLoopWithCheckpoints) {
  expect_twins({"scan with checkpoints",
                [](const Arrays& in) { return recurrent(in, {.checkpoint = true}); },
                [](const Arrays& in) { return recurrent_plain(in, false); }, recurrent_inputs()});
}

TEST(Scan, TurnsOfSeveralStepsChangeNothing) {
  for (const int64_t unroll : {2, 3, 5, 9}) {
    expect_twins({"scan unrolled by " + std::to_string(unroll),
                  [=](const Arrays& in) { return recurrent(in, {.unroll = unroll}); },
                  [](const Arrays& in) { return recurrent_plain(in, false); }, recurrent_inputs()});
  }
}

// A carry whose second part gets a tangent only through the first, and an integer that counts.
TEST(Scan, CarriesAreTreesOfAnyDtype) {
  struct State {
    Array x, y;
    std::vector<Array> counts;
  };
  expect_twins({"scan of a tree",
                [](const Arrays& in) {
                  const auto step = [&](const State& s) {
                    const State next{s.x * in[0], s.y + sin(s.x), {s.counts[0] + 1}};
                    return std::pair{next, std::tuple{s.y, s.counts[0]}};
                  };
                  const auto [last, ys] = scan(
                      step, State{in[1], array(0.0, float64), {array(int32_t{2})}}, {.length = 6});
                  return last.x + last.y * last.counts[0] + sum(std::get<0>(ys) * std::get<1>(ys));
                },
                [](const Arrays& in) {
                  Array x = in[1], y = array(0.0, float64), sum = array(0.0, float64);
                  for (int i = 0; i < 6; ++i) {
                    sum = sum + y * static_cast<double>(2 + i);
                    y = y + sin(x);
                    x = x * in[0];
                  }
                  return x + y * 8.0 + sum;
                },
                {array(0.9, float64), array(1.3, float64)}});
}

TEST(Scan, WithinScan) {
  expect_twins({"scan of scans",
                [](const Arrays& in) {
                  const auto outer = [&](const Array& c, const Array& row) {
                    const auto inner = [&](const Array& d, const Array& x) {
                      return std::pair{d * x + sin(c), d};
                    };
                    const auto [last, ds] = scan(inner, c + in[0], row);
                    return std::pair{last * 0.5, sum(ds)};
                  };
                  const auto [last, ys] = scan(outer, in[1], in[2]);
                  return last + sum(ys * ys);
                },
                [](const Arrays& in) {
                  Array c = in[1], total = array(0.0, float64);
                  for (int64_t i = 0; i < 3; ++i) {
                    Array d = c + in[0], sum = array(0.0, float64);
                    for (int64_t j = 0; j < 4; ++j) {
                      sum = sum + d;
                      d = d * in[2][i][j] + sin(c);
                    }
                    c = d * 0.5;
                    total = total + sum * sum;
                  }
                  return c + total;
                },
                {array(0.3, float64), array(0.8, float64), numbers({3, 4}, 5)}});
}

TEST(Scan, OfNoSteps) {
  expect_twins({"scan of nothing",
                [](const Arrays& in) {
                  const auto [last, ys] = scan(
                      [&](const Array& c, const Array& x) {
                        return std::pair{c * in[0] + x, std::pair{c, x}};
                      },
                      in[1], in[2]);
                  return last + sum(ys.first) + sum(ys.second);
                },
                [](const Arrays& in) { return in[1] + 0.0 * (in[0] + sum(in[2])); },
                {array(0.3, float64), array(0.8, float64), zeros({0}, float64)}});
}

TEST(Scan, KeysAreCarriedAndStepped) {
  const auto walk = [](const Key& key) {
    return scan(
        [](const Key& k, const Key& own) {
          const auto [next, use] = random::split<2>(k);
          return std::pair{next, random::uniform(use, {2}) + random::uniform(own, {2})};
        },
        key, random::split(Key(9), 4));
  };
  const auto [last, ys] = walk(Key(3));
  Key k(3);
  for (int64_t i = 0; i < 4; ++i) {
    const auto [next, use] = random::split<2>(k);
    k = next;
    expect_close(ys[i],
                 random::uniform(use, {2}) + random::uniform(random::split(Key(9), 4)[i], {2}),
                 "step " + std::to_string(i));
  }
  EXPECT_TRUE(array_equal(last.data(), k.data()));
  EXPECT_TRUE(array_equal(jit(walk)(Key(3)).second, ys));
  EXPECT_TRUE(array_equal(vmap(walk)(random::split(Key(1), 3)).second[2],
                          walk(random::split(Key(1), 3)[2]).second));
}

TEST(Scan, WeakCarriesTakeTheTypeOfTheBody) {
  const Array xs = array({1.0f, 2.0f, 3.0f});
  const auto add = [](const Array& c, const Array& x) { return std::pair{c + x, none}; };
  const Array total = scan(add, 0, xs).first;
  EXPECT_EQ(to_string(total.aval()), "f32[]");
  EXPECT_EQ(total.item<float>(), 6.0f);
  const auto reset = [](const Array& c, const Array&) { return std::pair{Array(2.0f), c}; };
  const auto [last, cs] = scan(reset, array(0.5, float64), xs);
  EXPECT_EQ(to_string(last.aval()), "f64[]");
  EXPECT_EQ(cs.to_vector<double>(), (std::vector<double>{0.5, 2, 2}));
  EXPECT_EQ(to_string(scan(add, 0, arange(3)).first.aval()), "i32[]");
}

TEST(Scan, DtypesOfSixteenBits) {
  const auto product = [](const Array& xs) {
    return scan(
               [](const Array& c, const Array& x) {
                 return std::pair{c * x, none};
               },
               ones({}, xs.dtype()), xs)
        .first;
  };
  const Array xs = array({1.5f, 2.0f, 0.5f});
  for (const Dtype d : {float16, bfloat16}) {
    const Array g = grad(product)(astype(xs, d));
    EXPECT_EQ(g.dtype(), d);
    expect_close(astype(g, float32), array({1.0f, 0.75f, 3.0f}), "product");
  }
}

TEST(Scan, ConstantsAreCapturedTracersOfEveryTransform) {
  const Array xs = numbers({4}, 8);
  const auto inner = [&](const Array& a) {
    return grad([&](const Array& b) {
      return scan(
                 [&](const Array& c, const Array& x) {
                   return std::pair{sin(a * c) + b * x, none};
                 },
                 b, xs)
          .first;
    })(a);
  };
  const auto plain = [&](const Array& a) {
    return grad([&](const Array& b) {
      Array c = b;
      for (int64_t i = 0; i < 4; ++i) c = sin(a * c) + b * xs[i];
      return c;
    })(a);
  };
  const Array a = array(0.7, float64), batch = array({0.7, -0.4}, float64);
  expect_close(inner(a), plain(a), "value");
  expect_close(grad(inner)(a), grad(plain)(a), "grad");
  expect_close(hessian(inner)(a), hessian(plain)(a), "hessian");
  expect_close(vmap(inner)(batch), vmap(plain)(batch), "vmap");
  expect_close(jit(vmap(grad(inner)))(batch), vmap(grad(plain))(batch), "jit of vmap of grad");
}

TEST(Scan, TheBodyIsStagedOnce) {
  int runs = 0;
  const auto f = jit([&](const Array& xs) {
    return scan(
               [&](const Array& c, const Array& x) {
                 ++runs;
                 return std::pair{c + x, none};
               },
               array(0.0f), xs)
        .first;
  });
  for (int i = 0; i < 3; ++i) f(ones({1000}));
  EXPECT_EQ(runs, 1);
}

TEST(Scan, TenThousandStepsTakeTheMemoryOfTheirResiduals) {
  const Array w = numbers({32}, 1), xs = numbers({10000}, 2);
  const auto f = [&](const Array& w, const Array& xs) {
    return sum(scan(
                   [&](const Array& c, const Array& x) {
                     return std::pair{sin(w * c) + x, none};
                   },
                   zeros({32}, float64), xs)
                   .first);
  };
  const auto g = jit(grad(f));
  // The first call takes the workspace, and keeps it.
  const int64_t before = memory::live_bytes();
  memory::reset_peak();
  g(w, xs);
  const int64_t used = memory::peak_bytes() - before;
  // Two values of 32 numbers a step are needed: the carry and the cosine.
  const int64_t residuals = 2 * 10000 * 32 * 8;
  EXPECT_LT(used, residuals + (1 << 20));
}

}  // namespace scan_test
}  // namespace spruce::control
