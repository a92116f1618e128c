// SPDX-License-Identifier: Apache-2.0
#include "tests/nn/compare_case.h"

#include "tests/nn/torch_cases.h"

namespace torch_cases {
namespace compare_case {

using Arrays = std::vector<Array>;

constexpr double kSingle = 1e-5;

// Cases that f32 cannot meet, by operation and a part of options and inputs. Tolerances are two to
// four times the differences with each instruction set of the library.
enum class Part : uint8_t { kGradients, kAll };
struct Exception {
  const char *op, *options;
  Part part;
  double tolerance;  // of the largest element
  const char* reason;
  double absolute = 0;  // beside it
};
constexpr const char* kSoftmax =
    "p (g - sum p g) of softmax cancels where a weight is near 1, and all of the gradient to "
    "queries and keys is made of it";
constexpr const char* kNorm =
    "what flows back through a layer norm has a mean of 0, so that sums over it cancel; through "
    "several layers the largest element is 1e-3 and less of what is added up";
constexpr Exception kExceptions[] = {
    {"multihead_layer", "", Part::kGradients, 2e-4, kSoftmax},
    {"grouped_attention", "mask=causal", Part::kGradients, 4e-3, kSoftmax},
    {"grouped_attention", "mask=bool", Part::kGradients, 4e-3, kSoftmax},
    {"encoder", "norm_first=0", Part::kGradients, 1e-4, kNorm},
    {"decoder_layer", "", Part::kGradients, 2e-4, kNorm},
    {"decoder", "", Part::kGradients, 8e-4, kNorm},
    {"transformer", "", Part::kGradients, 3e-4, kNorm},
    {"group_norm", "groups=2,affine=1,eps=0.001; 2,4@", Part::kGradients, 2e-4,
     "groups of two elements: the gradient is 0 but for eps"},
    {"rnn_cell", "bias=0,start=1,kind=tanh; 2@", Part::kGradients, 5e-3,
     "y is near 1, and 1 - y^2 keeps three digits of it"},
    {"adaptive_softmax", "bias=0", Part::kGradients, kSingle,
     "a probability is 1 up to 1e-9, which f32 does not hold: its gradient is 0", 5e-9},
    {"ntxent", "labels=1x1x1x1", Part::kAll, kSingle, "the loss is 0; 1e-17 is the rounding of f64",
     1e-12},
    {"cosine_embedding_loss", "; 3@", Part::kAll, 4e-5,
     "1 - cos is 4e-3, of which f32 keeps five digits"},
};

// How far a result in f32 may be off; `largest` is the largest element.
double bound_in_single(const Case& c, bool gradient, double largest) {
  for (const Exception& e : kExceptions) {
    if (c.op == e.op && c.options.find(e.options) != std::string::npos &&
        (gradient || e.part == Part::kAll))
      return e.tolerance * largest + e.absolute;
  }
  return kSingle * largest;
}

// What a case holds of a long list: sums of g[i] cos(k i + k), k = 1..4.
std::vector<double> sums_of(const std::vector<double>& g) {
  std::vector<double> out(4, 0);
  for (size_t i = 0; i < g.size(); ++i) {
    for (size_t k = 1; k <= 4; ++k) out[k - 1] += g[i] * std::cos(static_cast<double>(k * i + k));
  }
  return out;
}

// Numbers beside those of a case, and the largest that is finite among those they are made of.
struct Numbers {
  std::vector<double> got, want;
  double largest = 0;
};

Numbers numbers_of(const Array& actual, const std::string& expected) {
  Numbers n;
  const bool sums = expected.starts_with('#');
  n.got = sp::astype(actual, sp::float64).to_vector<double>();
  n.want = numbers(sums ? expected.substr(1) : expected);
  for (const double x : sums ? n.got : n.want)
    n.largest = std::isfinite(x) ? std::max(n.largest, std::abs(x)) : n.largest;
  if (sums) n.got = sums_of(n.got);
  return n;
}

bool is_same_without_number(double got, double want) {
  return std::isnan(want) ? std::isnan(got) : got == want;
}

void expect_near_in_single(const Array& actual, const std::string& expected, const Case& c,
                           bool gradient, const std::string& what) {
  const Numbers n = numbers_of(actual, expected);
  ASSERT_EQ(n.got.size(), n.want.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < n.want.size(); ++i) {
    if (std::isfinite(n.want[i]))
      worst = std::isfinite(n.got[i]) ? std::max(worst, std::abs(n.got[i] - n.want[i])) : INFINITY;
    else
      EXPECT_TRUE(is_same_without_number(n.got[i], n.want[i])) << what << " element " << i;
  }
  EXPECT_LE(worst, bound_in_single(c, gradient, n.largest)) << what;
}

void expect_same(const Array& a, const Array& b, const std::string& what) {
  EXPECT_EQ(a.shape(), b.shape()) << what;
  EXPECT_TRUE(sp::allclose(a, b, {.rtol = 1e-11, .atol = 1e-12, .equal_nan = true})) << what;
}

void expect_same(const Arrays& a, const Arrays& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i], what + " " + std::to_string(i));
}

}  // namespace compare_case

Array weighted_sum(const Array& y) {
  const Array w = sp::cos(sp::arange(y.size(), sp::float64)).reshape(y.shape());
  return sp::sum(y * w.astype(y.dtype()));
}

void expect_numbers(const Array& actual, const std::string& expected, const std::string& what,
                    double tolerance) {
  using namespace compare_case;
  EXPECT_EQ(actual.dtype(), sp::float64) << what;
  const Numbers n = numbers_of(actual, expected);
  ASSERT_EQ(n.got.size(), n.want.size()) << what;
  for (size_t i = 0; i < n.want.size(); ++i) {
    if (std::isfinite(n.want[i]))
      EXPECT_NEAR(n.got[i], n.want[i], tolerance * std::max(1.0, std::abs(n.want[i])))
          << what << " element " << i;
    else
      EXPECT_TRUE(is_same_without_number(n.got[i], n.want[i])) << what << " element " << i;
  }
}

void compare(const Case& c, const CaseFunction& f) {
  using namespace compare_case;
  const std::string what = c.op + "(" + c.options + ")";
  const auto weighted = [&f](const Arrays& in) {
    const Array y = f(in);
    return std::pair{weighted_sum(y), y};
  };
  const auto run = sp::value_and_grad(weighted);

  const auto [result, gradients] = run(c.in);
  ASSERT_EQ(c.gradients.size(), c.in.size()) << what;
  expect_numbers(result.second, c.y, what, c.tolerance);
  for (size_t i = 0; i < c.in.size(); ++i)
    expect_numbers(gradients[i], c.gradients[i], what + " gradient " + std::to_string(i),
                   c.gradient_tolerance);
  expect_same(f(c.in), result.second, what + " alone");

  const auto [compiled, compiled_gradients] = sp::jit(run)(c.in);
  expect_same(compiled.second, result.second, what + " jit");
  expect_same(compiled_gradients, gradients, what + " jit, gradient");

  Arrays flipped, both, narrow;
  for (const Array& x : c.in) {
    flipped.push_back(sp::flip(x));
    both.push_back(sp::stack({x, flipped.back()}));
    narrow.push_back(sp::astype(x, sp::float32));
  }
  const auto [other, other_gradients] = run(flipped);
  const auto [mapped, mapped_gradients] = sp::vmap(run)(both);
  expect_same(mapped.second, sp::stack({result.second, other.second}), what + " vmap");
  for (size_t i = 0; i < c.in.size(); ++i)
    expect_same(mapped_gradients[i], sp::stack({gradients[i], other_gradients[i]}),
                what + " vmap, gradient " + std::to_string(i));

  const auto [rough, rough_gradients] = run(narrow);
  EXPECT_EQ(rough.second.dtype(), sp::float32) << what;
  expect_near_in_single(rough.second, c.y, c, false, what + " f32");
  for (size_t i = 0; i < c.in.size(); ++i)
    expect_near_in_single(rough_gradients[i], c.gradients[i], c, true,
                          what + " f32, gradient " + std::to_string(i));
}

}  // namespace torch_cases
