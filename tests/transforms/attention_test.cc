// SPDX-License-Identifier: Apache-2.0
// Attention beside its slow form: derivatives of first and second order, maps, and what a compiled
// step keeps of it.
#include "spruce/core/rules/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace attention_test {

struct Sizes {
  int64_t n, t, s, d, e;
};

using Arrays = std::vector<Array>;

Array wave(const Shape& shape, double step, Dtype dtype) {
  const Array count = astype(arange(shape.numel()), float64);
  return astype(sin(reshape(count, shape) * step) * 2.0, dtype);
}

Arrays operands(const Sizes& z, Dtype dtype) {
  return {wave({z.n, z.t, z.d}, 0.37, dtype), wave({z.n, z.s, z.d}, 0.71, dtype),
          wave({z.n, z.s, z.e}, 1.13, dtype)};
}

// Attention and its slow form, weighted and summed up in f64.
struct Loss {
  Params params;
  bool slow;
  Array mask;

  Array operator()(const Arrays& x) const {
    Arrays in = x;
    if (mask.defined()) in.push_back(mask);
    const Array y = slow ? attention_p.expand(in, params)[0] : bind1(attention_p, in, params);
    return sum(astype(y, float64) * wave(y.shape(), 0.53, float64));
  }
};

struct Both {
  Loss fused, slow;
  explicit Both(bool causal, const Array& mask = {}, double scale = 0.3)
      : fused{Params::make(AttentionParams{scale, causal}), false, mask},
        slow{fused.params, true, mask} {}
};

double tolerance(Dtype dtype) { return dtype == float64 ? 1e-12 : dtype == float32 ? 2e-5 : 4e-2; }

void expect_near(const Arrays& got, const Arrays& want, double tol, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].aval(), want[i].aval()) << what << ", " << i;
    if (got[i].size() == 0) continue;
    const Array wide = astype(want[i], float64);
    const double scale = std::max(1.0, max(abs(wide)).item<double>());
    const double away = max(abs(astype(got[i], float64) - wide)).item<double>();
    EXPECT_LE(away, tol * scale) << what << ", " << i;
  }
}

TEST(AttentionGradient, IsThatOfTheSlowForm) {
  for (const Sizes& z : {Sizes{2, 70, 300, 5, 3}, Sizes{1, 300, 129, 17, 33},
                         Sizes{3, 1, 128, 4, 1}, Sizes{2, 65, 1, 1, 2}, Sizes{1, 257, 520, 8, 16},
                         Sizes{9, 40, 40, 2, 2}, Sizes{2, 3, 0, 2, 2}, Sizes{0, 3, 4, 2, 2},
                         Sizes{2, 33, 40, 0, 5}, Sizes{2, 5, 6, 3, 0}, Sizes{2, 0, 6, 3, 1}}) {
    for (const Dtype dtype : {float32, float64, bfloat16, float16}) {
      for (const bool causal : {false, true}) {
        if (causal && z.s == 0) continue;
        const Both f(causal);
        const Arrays in = operands(z, dtype);
        const std::string what =
            to_string(in[0].aval()) + " " + to_string(in[2].aval()) + (causal ? " causal" : "");
        const Arrays want = grad(f.slow)(in);
        expect_near(grad(f.fused)(in), want, tolerance(dtype), what);
        expect_near(jit(grad(f.fused))(in), want, tolerance(dtype), what + " compiled");
      }
    }
  }
}

TEST(AttentionGradient, WithMasks) {
  const Sizes z{3, 40, 150, 6, 4};
  const Array closed = full({}, -std::numeric_limits<double>::infinity(), float64);
  for (const Dtype dtype : {float32, float64}) {
    const Arrays in = operands(z, dtype);
    for (const Shape& shape :
         {Shape{40, 150}, Shape{3, 1, 150}, Shape{3, 40, 1}, Shape{150}, Shape{3, 40, 150}}) {
      const Array w = wave(shape, 0.9, dtype);
      for (const Array& mask : {w > -1.5, where(w > -1.0, w, closed)}) {
        const Array typed = mask.dtype() == bool_ ? mask : astype(mask, dtype);
        const Both f(false, typed);
        expect_near(grad(f.fused)(in), grad(f.slow)(in), tolerance(dtype), to_string(typed.aval()));
      }
    }
  }
}

TEST(AttentionGradient, AMaskHasOneToo) {
  const Arrays in = operands({2, 7, 9, 3, 2}, float64);
  for (const Shape& shape : {Shape{7, 9}, Shape{2, 1, 9}, Shape{9}}) {
    const auto through = [&](bool slow) {
      return [&, slow](const Arrays& x) {
        return Loss{Params::make(AttentionParams{0.3, false}), slow, x[3]}({x[0], x[1], x[2]});
      };
    };
    Arrays all = in;
    all.push_back(wave(shape, 0.9, float64));
    expect_near(grad(through(false))(all), grad(through(true))(all), 1e-12, to_string(shape));
  }
}

TEST(AttentionGradient, OfSecondOrder) {
  for (const Dtype dtype : {float32, float64}) {
    for (const bool causal : {false, true}) {
      const Both f(causal);
      const Arrays in = operands({2, 19, 23, 5, 3}, dtype);
      const auto second = [&](const Loss& loss) {
        return grad([loss](const Arrays& x) {
          const Arrays g = grad(loss)(x);
          Array total = zeros({}, float64);
          for (const Array& a : g) total = total + sum(square(astype(a, float64)));
          return total;
        });
      };
      const Arrays want = second(f.slow)(in);
      expect_near(second(f.fused)(in), want, 10 * tolerance(dtype), "grad of grad");
      expect_near(jit(second(f.fused))(in), want, 10 * tolerance(dtype), "compiled");
      const Arrays v = {wave(in[0].shape(), 0.2, dtype), wave(in[1].shape(), 0.3, dtype),
                        wave(in[2].shape(), 0.4, dtype)};
      const auto along = [&](const Loss& loss) {
        return jvp([loss](const Arrays& x) { return grad(loss)(x); }, std::tuple<Arrays>(in),
                   std::tuple<Arrays>(v))
            .second;
      };
      expect_near(along(f.fused), along(f.slow), 10 * tolerance(dtype), "jvp of grad");
    }
  }
}

TEST(AttentionGradient, OfSomeOperands) {
  const Arrays in = operands({2, 19, 23, 5, 3}, float64);
  const Both f(false);
  for (size_t i = 0; i < 3; ++i) {
    const auto of_one = [&](const Loss& loss) {
      return [&in, i, loss](const Array& x) {
        Arrays all = in;
        all[i] = x;
        return loss(all);
      };
    };
    expect_near({grad(of_one(f.fused))(in[i])}, {grad(of_one(f.slow))(in[i])}, 1e-12,
                std::to_string(i));
    const auto forward = [&](const Loss& loss) {
      return jvp(of_one(loss), std::tuple<Array>(in[i]), std::tuple<Array>(sin(in[i]))).second;
    };
    expect_near({forward(f.fused)}, {forward(f.slow)}, 1e-12, "jvp " + std::to_string(i));
  }
}

// How often a compiled function applies a primitive.
int64_t count(const std::string& graph, const std::string& name) {
  int64_t n = 0;
  for (size_t at = 0; (at = graph.find("= " + name + "[", at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST(AttentionGradient, IsOnePrimitive) {
  const Both f(true);
  const Arrays in = operands({2, 19, 19, 5, 3}, float32);
  const std::string text = make_graph(grad(f.fused))(in).text();
  EXPECT_EQ(count(text, "attention_lse"), 1) << text;
  EXPECT_EQ(count(text, "attention_grad"), 1) << text;
  EXPECT_EQ(text.find("f32[2,19,19]"), std::string::npos) << text;
}

TEST(AttentionGradient, VmapKeepsThePrimitive) {
  const Arrays in = operands({3, 19, 23, 5, 3}, float64);
  const Array mask = wave({3, 19, 23}, 0.9, float64) > -1.0;
  const Params params = Params::make(AttentionParams{0.3, false});
  const auto one = [&](const Array& q, const Array& k, const Array& v, const Array& m) {
    return bind1(attention_p, {q, k, v, m}, params);
  };
  const auto all = [&](const Array& q) {
    return vmap(one, {.in_axes = {0, 0, none, 0}})(q, in[1], in[2][0], mask);
  };
  const Array got = all(in[0]);
  for (int64_t i = 0; i < 3; ++i)
    expect_near({got[i]}, {one(in[0][i], in[1][i], in[2][0], mask[i])}, 1e-14, "item");
  const std::string text = make_graph([&](const Array& q) {
                             return grad([&](const Array& x) { return sum(all(x)); })(q);
                           })(in[0])
                               .text();
  EXPECT_EQ(count(text, "attention_grad"), 1) << text;
}

TEST(AttentionGradient, DoesNotDependOnTheNumberOfThreads) {
  for (const Sizes& z :
       {Sizes{7, 300, 260, 16, 16}, Sizes{1, 300, 1100, 16, 16}, Sizes{3, 300, 1100, 16, 16}}) {
    for (const bool causal : {false, true}) {
      const Both f(causal);
      const Arrays in = operands(z, float32);
      set_threads(1);
      const Arrays one = grad(f.fused)(in);
      set_threads(3);
      const Arrays three = grad(f.fused)(in);
      set_threads(1);
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(array_equal(one[i], three[i]));
      expect_near(one, grad(f.slow)(in), 2e-5, "few items");
    }
  }
}

TEST(AttentionGradient, LargeScoresDoNotOverflow) {
  Arrays in = operands({1, 64, 400, 8, 4}, float64);
  in[0] = in[0] * 1000.0;
  const Both f(false);
  expect_near(grad(f.fused)(in), grad(f.slow)(in), 1e-9, "large");
}

}  // namespace attention_test
}  // namespace spruce
