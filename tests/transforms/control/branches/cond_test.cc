// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/branches/cond.h"

#include <cmath>

#include "spruce/transforms/passes/pipeline.h"
#include "tests/transforms/control/twins.h"

namespace spruce::control {
namespace cond_test {

// Each branch saves something else, and the first does not depend on in[1].
Array chosen(const Arrays& in) {
  return cond(
      in[0] > 0.5, [&](const Array& x) { return sin(x) * in[0]; },
      [&](const Array& x) { return exp(x * in[1]) + x; }, in[2]);
}
Array chosen_plain(const Arrays& in) {
  return where(in[0] > 0.5, sin(in[2]) * in[0], exp(in[2] * in[1]) + in[2]);
}

TEST(Cond, EqualsTheSelection) {
  for (const double p : {0.9, 0.2}) {
    expect_twins(
        {"cond", chosen, chosen_plain, {array(p, float64), array(0.6, float64), numbers({3}, 1)}});
  }
}

TEST(Cond, TheOtherBranchIsNotComputed) {
  const auto f = [](const Array& x) {
    return cond(
        x > 0.0,
        [](const Array& y) {
          return while_loop([](const Array& z) { return z > 0.0; },
                            [](const Array& z) { return z - 1.0; }, y);
        },
        [](const Array& y) {  // never ends where it is computed for x > 0
          return while_loop([](const Array& z) { return z > -1.0; },
                            [](const Array& z) { return abs(z); }, y - 1.0);
        },
        x);
  };
  EXPECT_EQ(f(array(2.5, float64)).item<double>(), -0.5);
  EXPECT_EQ(jit(f)(array(2.5, float64)).item<double>(), -0.5);
}

TEST(Cond, AnUnmappedPredicateStaysABranch) {
  const auto f = [](const Array& x) {
    return vmap([&](const Array& y) {
      return cond(
          x > 0.0, [&](const Array& z) { return z * x; }, [](const Array& z) { return z; }, y);
    })(array({1.0, 2.0}, float64));
  };
  EXPECT_NE(make_graph(f)(array(2.0, float64)).text().find("cond["), std::string::npos);
  expect_close(f(array(2.0, float64)), array({2.0, 4.0}, float64), "true");
  expect_close(f(array(-2.0, float64)), array({1.0, 2.0}, float64), "false");
}

TEST(Cond, TreesInAndOut) {
  struct Pair {
    Array a;
    std::vector<Array> b;
    int kept = 3;
  };
  const auto f = [](const Array& p, const Pair& x) {
    return cond(
        p,
        [](const Pair& y) {
          return Pair{y.b[0], {y.a, y.b[1]}};
        },
        [](const Pair& y) {
          return Pair{y.a, {y.b[1], y.b[0]}};
        },
        x);
  };
  const Pair x{array(1), {array(2), array(3)}};
  const Pair yes = f(array(true), x), no = jit(f)(array(false), x);
  EXPECT_EQ(yes.a.item<int>(), 2);
  EXPECT_EQ(yes.b[0].item<int>(), 1);
  EXPECT_EQ(no.b[0].item<int>(), 3);
  EXPECT_EQ(no.kept, 3);
}

TEST(Cond, WeakResultsTakeTheTypeOfTheOtherBranch) {
  const auto f = [](const Array& x) {
    return cond(
        x > 0.0f, [](const Array& y) { return y; }, [](const Array&) { return Array(0); }, x);
  };
  EXPECT_EQ(to_string(f(array(-1.0f)).aval()), "f32[]");
  EXPECT_EQ(f(array(-1.0f)).item<float>(), 0.0f);
  const Array weak = cond(
      array(true), [] { return 1.5f; }, [] { return 2.5f; });
  EXPECT_EQ(to_string(weak.aval()), "f32*[]");
}

TEST(Switch, EqualsTheSelection) {
  for (const int index : {-5, 0, 1, 2, 9}) {
    const auto branches = std::tuple{[](const Array& x, const Array& y) { return x * y; },
                                     [](const Array& x, const Array&) { return cos(x); },
                                     [](const Array&, const Array& y) { return y * y * y; }};
    expect_twins({"switch_",
                  [=](const Arrays& in) { return switch_(array(index), branches, in[0], in[1]); },
                  [=](const Arrays& in) {
                    return index <= 0   ? in[0] * in[1]
                           : index == 1 ? cos(in[0]) + 0.0 * in[1]
                                        : in[1] * in[1] * in[1] + 0.0 * in[0];
                  },
                  {numbers({2}, 1), numbers({2}, 2)}});
  }
}

TEST(Switch, MappedIndicesOfAnyIntegerType) {
  const std::vector<std::function<Array(const Array&)>> branches{
      [](const Array& x) { return x; }, [](const Array& x) { return x * x; },
      [](const Array& x) { return x * x * x; }};
  const auto f = [&](const Array& i, const Array& x) { return switch_(i, branches, x); };
  const Array x = array({2.0, 2.0, 2.0, 2.0}, float64);
  const Array want = array({2.0, 4.0, 8.0, 8.0}, float64);
  expect_close(vmap(f)(array({-1, 1, 2, 3}), x), want, "i32");
  expect_close(vmap(f)(array(std::vector<uint64_t>{0, 1, 2, UINT64_MAX}), x), want, "u64");
  expect_close(vmap(f)(array(std::vector<int64_t>{INT64_MIN, 1, 2, INT64_MAX}), x), want, "i64");
  expect_close(vmap(f)(array(std::vector<int8_t>{-128, 1, 2, 127}), x), want, "i8");
  const auto slope = grad([&](const Array& x) { return sum(vmap(f)(array({0, 1, 2, 3}), x)); });
  expect_close(slope(x), array({1.0, 4.0, 12.0, 12.0}, float64), "gradients");
}

TEST(Cond, WithinScan) {
  expect_twins({"cond within scan",
                [](const Arrays& in) {
                  const auto step = [&](const Array& c, const Array& x) {
                    const Array next = cond(
                        x > 0.0, [&](const Array& y) { return y * in[0] + x; },
                        [&](const Array& y) { return sin(y) - in[0]; }, c);
                    return std::pair{next, next * next};
                  };
                  const auto [last, ys] = scan(step, in[1], in[2]);
                  return last + sum(ys);
                },
                [](const Arrays& in) {
                  Array c = in[1], total = array(0.0, float64);
                  for (int64_t i = 0; i < 5; ++i) {
                    const Array x = in[2][i];
                    c = where(x > 0.0, c * in[0] + x, sin(c) - in[0]);
                    total = total + c * c;
                  }
                  return c + total;
                },
                {array(0.8, float64), array(0.3, float64), numbers({5}, 7)}});
}

// What a branch makes of the weights alone, for reverse mode too.
Array weighed(const Arrays& in) {
  const Array &w = in[0], &xs = in[2];
  const auto step = [&](const Array& c, const Array& x) {
    const Array next = cond(
        sum(c) > x, [&](const Array& y) { return tanh(matmul(sin(w), y)) + x; },
        [&](const Array& y) { return matmul(transpose(w), sin(y)); }, c);
    return std::pair{next, none};
  };
  return scan(step, in[1], xs).first;
}

Array weighed_plain(const Arrays& in) {
  Array c = in[1];
  for (int64_t i = 0; i < in[2].shape(0); ++i) {
    const Array x = in[2][i];
    c = where(sum(c) > x, tanh(matmul(sin(in[0]), c)) + x, matmul(transpose(in[0]), sin(c)));
  }
  return c;
}

TEST(Cond, WithinScanOverWeights) {
  const Array w = numbers({4, 4}, 1), c = numbers({4}, 2), xs = numbers({6}, 3);
  expect_twins({"weights", weighed, weighed_plain, {w, c, xs}});
}

// The same in branches of a branch.
Array weighed_twice(const Arrays& in) {
  const Array& w = in[0];
  const auto step = [&](const Array& c, const Array& x) {
    const auto inner = [&](const Array& y) {
      return cond(
          max(y) > 0.3, [&](const Array& z) { return tanh(matmul(cos(w), z)) + x; },
          [&](const Array& z) { return matmul(transpose(w), z); }, y);
    };
    return std::pair{
        cond(
            sum(c) > x, inner, [&](const Array& y) { return matmul(sin(w), sin(y)); }, c),
        none};
  };
  return scan(step, in[1], in[2]).first;
}

Array weighed_twice_plain(const Arrays& in) {
  const Array& w = in[0];
  Array c = in[1];
  for (int64_t i = 0; i < in[2].shape(0); ++i) {
    const Array x = in[2][i];
    const Array inner = where(max(c) > 0.3, tanh(matmul(cos(w), c)) + x, matmul(transpose(w), c));
    c = where(sum(c) > x, inner, matmul(sin(w), sin(c)));
  }
  return c;
}

TEST(Cond, WithinCondWithinScanOverWeights) {
  const Array w = numbers({4, 4}, 1), c = numbers({4}, 2), xs = numbers({8}, 3);
  expect_twins({"weights", weighed_twice, weighed_twice_plain, {w, c, xs}});
}

TEST(Cond, WithinScanKeepsWhatItMakesOfWeightsOnce) {
  const int64_t n = 64;
  for (const auto f : {weighed, weighed_twice}) {
    const auto temporaries = [&](int64_t steps) {
      const auto g = jit(grad([f](const Arrays& in) { return sum(f(in)); }));
      return g.lower(Arrays{numbers({n, n}, 1), numbers({n}, 2), numbers({steps}, 3)})
          .memory()
          .temporaries;
    };
    // A step keeps a few vectors, and no matrix.
    EXPECT_LT(temporaries(600) - temporaries(100), 500 * 8 * n * 8);
  }
}

TEST(Cond, WithinMappedScanOverWeights) {
  const Array w = numbers({3, 4, 4}, 1), c = numbers({3, 4}, 2), xs = numbers({3, 6}, 3);
  const auto slope = [](Function f) {
    return vmap(grad([f](const Array& w, const Array& c, const Array& xs) {
      return sum(f({w, c, xs}));
    }));
  };
  expect_close(slope(weighed)(w, c, xs), slope(weighed_plain)(w, c, xs), "mapped");
  expect_close(jit(slope(weighed))(w, c, xs), slope(weighed_plain)(w, c, xs), "jit of mapped");
}

// Branches that are not finite, or have no finite slope, where they are not taken.
TEST(Cond, BranchesThatAreNotTakenLeaveNoNanInGradients) {
  const auto f = [](const Array& x) {
    return cond(
        x > 0.0, [](const Array& y) { return log(y) * sqrt(y); },
        [](const Array& y) { return 1.0 / (y - 2.0); }, x);
  };
  const Array x = array({-1.0, 0.0, 2.0, 3.0}, float64);
  const auto slope = [](double v) {
    return v > 0 ? 0.5 * (std::log(v) + 2) / std::sqrt(v) : -1 / ((v - 2) * (v - 2));
  };
  const auto curve = [](double v) {
    return v > 0 ? -0.25 * std::log(v) / (v * std::sqrt(v)) : 2 / ((v - 2) * (v - 2) * (v - 2));
  };
  const auto each = [&](const auto& g) {
    return array({g(-1.0), g(0.0), g(2.0), g(3.0)}, float64);
  };
  const auto total = [&](const Array& a) { return sum(vmap(f)(a)); };
  expect_close(grad(total)(x), each(slope), "grad of vmap");
  expect_close(jit(grad(total))(x), each(slope), "jit of grad of vmap");
  expect_close(grad(jit(total))(x), each(slope), "grad of jit of vmap");
  expect_close(vmap(grad(f))(x), each(slope), "vmap of grad");
  const auto second = grad([&](const Array& a) { return sum(grad(total)(a)); });
  expect_close(second(x), each(curve), "twice");
  const auto mapped = grad([&](const Array& a) { return sum(vmap(grad(f))(a)); });
  expect_close(mapped(x), each(curve), "grad of vmap of grad");
  // A number that all branches share.
  const auto scaled = [&](const Array& w) {
    return sum(vmap([&](const Array& y) {
      return cond(
          y > 0.0, [&](const Array& z) { return sqrt(w * z); },
          [&](const Array& z) { return w * z; }, y);
    })(array({-1.0, 0.0, 4.0}, float64)));
  };
  expect_close(grad(scaled)(array(1.0, float64)), array(0.0, float64), "shared");
  const auto nested = [&](const Array& a) { return sum(vmap(vmap(f))(a)); };
  expect_close(grad(nested)(reshape(x, {2, 2})), reshape(each(slope), {2, 2}), "vmap of vmap");
  const auto looped = [&](const Array& a) {
    const auto step = [&](const Array& c, const Array& y) { return std::pair{c + total(y), none}; };
    return scan(step, 0.0, expand_dims(a, 0)).first;
  };
  expect_close(grad(looped)(x), each(slope), "within scan");
}

// The slope of what all examples share is one sum, in which one NaN is enough.
TEST(Cond, BranchesThatAreNotTakenLeaveNoNanInGradientsOfSharedArrays) {
  const Array x = array({-1.0, 0.0, 4.0}, float64), w = array({0.0, 2.0}, float64);
  // log(x) is the slope of the first branch: -inf at 0. sqrt(w) has an infinite slope at 0.
  const auto of_examples = [](const Array& v, const Array& xs) {
    return sum(vmap([&](const Array& y) {
      return cond(
          y > 0.0, [&](const Array& z) { return v * log(z); },
          [&](const Array& z) { return v * z; }, y);
    })(xs));
  };
  const Array want = full({2}, std::log(4.0) - 1.0, float64);
  const auto by_w = [&](const Array& v) { return of_examples(v, x); };
  expect_close(grad(by_w)(w), want, "grad of vmap");
  expect_close(jit(grad(by_w))(w), want, "jit of grad of vmap");
  expect_close(grad(jit(by_w))(w), want, "grad of jit of vmap");
  const Array more = stack({x, array({-1.0, 0.0, -2.0}, float64)});
  const auto nested = [&](const Array& v) {
    return sum(vmap([&](const Array& row) { return of_examples(v, row); })(more));
  };
  expect_close(grad(nested)(w), want - 3.0, "vmap of vmap, where one row never takes the branch");
  const auto curve = [&](const Array& v) { return sum(grad(by_w)(v * v)); };
  EXPECT_TRUE(all(isfinite(grad(curve)(w))));
  const auto never = [&](const Array& v) {
    return sum(vmap([&](const Array& y) {
      return cond(
          y > 9.0, [&](const Array& z) { return sqrt(v) * z; },
          [&](const Array& z) { return v * z; }, y);
    })(x));
  };
  expect_close(grad(never)(w), full({2}, 3.0, float64), "no example takes the branch");
  // By an index, and integers that choose.
  const auto chosen = [&](const Array& v) {
    return sum(vmap([&](const Array& i) {
      const auto same = [&](const Array& n) { return v * astype(n, float64); };
      return switch_(
          i, std::tuple{same, [&](const Array& n) { return v * log(astype(n, float64)); }}, i);
    })(array({0, 1, 1})));
  };
  expect_close(grad(chosen)(w), zeros({2}, float64), "switch_");
}

// Where no example of an inner batch takes the branch, those of others stand in for it.
TEST(Cond, NestedVmapsLeaveNoNanInGradientsOfSharedArrays) {
  const Array x = array({{4.0, -1.0}, {0.0, -2.0}, {0.0, 0.0}}, float64);
  for (const int64_t n : {2, 600}) {
    SCOPED_TRACE(n);
    const Array w = ones({n, n}, float64);
    const auto each = [](const Array& v, const Array& y) {
      return cond(
          y > 0.0, [&](const Array& z) { return sum(v) * log(z); },
          [&](const Array& z) { return sum(v) * z; }, y);
    };
    const auto of_row = [&](const Array& v, const Array& row) {
      return sum(vmap([&](const Array& y) { return each(v, y); })(row));
    };
    const auto nested = [&](const Array& v) {
      return sum(vmap([&](const Array& row) { return of_row(v, row); })(x));
    };
    const Array want = full({n, n}, std::log(4.0) - 3.0, float64);
    expect_close(grad(nested)(w), want, "grad of vmap of vmap");
    expect_close(jit(grad(nested))(w), want, "jit of grad of vmap of vmap");
    const auto slopes = [&](const Array& v) {
      return sum(vmap([&](const Array& row) {
                   return grad([&](const Array& u) { return of_row(u, row); })(v);
                 })(x),
                 0);
    };
    expect_close(slopes(w), want, "vmap of grad of vmap");
    expect_close(jit(slopes)(w), want, "jit of vmap of grad of vmap");
    const auto thrice = [&](const Array& v) {
      return sum(vmap([&](const Array& xs) {
        return sum(vmap([&](const Array& row) { return of_row(v, row); })(xs));
      })(stack({x, -abs(x)})));
    };
    expect_close(grad(thrice)(w), full({n, n}, std::log(4.0) - 10.0, float64), "three vmaps");
  }
}

TEST(Cond, NoExamplesGiveNoGradientToSharedArrays) {
  const auto f = [](const Array& v) {
    return sum(vmap([&](const Array& y) {
      return cond(
          y > 0.0, [&](const Array& z) { return sum(v) * log(z); },
          [&](const Array& z) { return sum(v) * z; }, y);
    })(zeros({0}, float64)));
  };
  const Array w = ones({3}, float64);
  expect_close(grad(f)(w), zeros({3}, float64), "grad");
  expect_close(jit(grad(f))(w), zeros({3}, float64), "jit of grad");
}

TEST(Cond, SharedArraysStaySharedInNestedVmaps) {
  const Array w = ones({600, 600}, float64);
  const auto f = [&](const Array& row) {
    return vmap([&](const Array& y) {
      return cond(
          y > 0.0, [&](const Array& z) { return sum(w) * z; },
          [&](const Array& z) {
            return w[{0, 0}] * z;
          },
          y);
    })(row);
  };
  const Graph g = make_graph(vmap(f))(ones({3, 2}, float64));
  EXPECT_EQ(g.text().find("f64[3,600,600]"), std::string::npos);
}

TEST(Cond, GuardsAreGoneWhereItIsCompiled) {
  const auto f = vmap([](const Array& x) {
    return cond(
        x > 0.0, [](const Array& y) { return sin(y); }, [](const Array& y) { return y * y; }, x);
  });
  const Graph g = make_graph(f)(array({1.0, -1.0}, float64));
  EXPECT_NE(g.text().find("guard"), std::string::npos);
  EXPECT_EQ(passes::optimize(g).text().find("guard"), std::string::npos);
}

}  // namespace cond_test
}  // namespace spruce::control
