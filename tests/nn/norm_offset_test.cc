// SPDX-License-Identifier: Apache-2.0
// Normalisation and variances of values that all have a large part in common, of which f32 keeps
// hardly a digit of the deviations from a mean that is rounded: against the same in f64.
#include <gtest/gtest.h>

#include "spruce/spruce.h"

namespace spruce::nn {
namespace norm_offset_test {

using Function = std::function<Array(const Array&)>;

Array weights(const Array& x) { return random::normal(Key(2), {x.shape(-1)}).astype(x.dtype()); }

Array layers(const Array& x) {
  return layer_norm(x, {x.shape(-1)}, weights(x), -1.5 * weights(x), {.eps = 1e-6});
}
Array batches(const Array& x) {
  const Array w = weights(x);
  return batch_norm(x, {}, {}, w, -1.5 * w, {.training = true, .eps = 1e-6}).output;
}
Array plain_batches(const Array& x) {
  return batch_norm(x, {}, {}, {}, {}, {.training = true}).output;
}
Array variances(const Array& x) { return var(x, {0, 1}, {.ddof = 1, .keepdims = true}); }
Array deviations(const Array& x) { return std(x, -1); }

const std::pair<const char*, Function> kFunctions[] = {
    {"layer_norm", layers},
    {"batch_norm", batches},
    {"batch_norm without weights", plain_batches},
    {"var", variances},
    {"std", deviations}};

// Of n[6, n], with the numbers of f32 in both.
void expect_near_double(const Function& f, const Array& x, const std::string& what) {
  const Array wide = x.astype(float64), want = f(wide);
  const auto loss = [&](const Array& x) {
    const Array y = f(x);
    const Array c = random::normal(Key(3), want.shape()).astype(y.dtype());
    return sum(y * y * c + y * c);
  };
  const auto expect = [&](const Array& got, const Array& exact, const char* how) {
    const double size = std::max(1.0, max(abs(exact)).item<double>());
    EXPECT_LT(max(abs(got.astype(float64) - exact)).item<double>(), 4e-6 * size) << what << how;
  };
  expect(f(x), want, "");
  expect(jit(f)(x), want, ", compiled");
  const Array slope = grad(loss)(wide);
  expect(grad(loss)(x), slope, ", gradient");
  expect(jit(grad(loss))(x), slope, ", compiled gradient");
  const auto slopes = [&](const Array& x) { return sum(square(grad(loss)(x))); };
  expect(grad(slopes)(x), grad(slopes)(wide), ", second derivative");
}

TEST(NormOfOffsets, KeepsTheDigitsOfTheDeviations) {
  for (const double offset : {0.0, 1e3, 1e6, -1e6, 1e7}) {
    for (const int64_t n : {5, 37, 1024}) {
      const Array x = (offset + random::normal(Key(1), {6, n}, {.dtype = float64})).astype(float32);
      for (const auto& [name, f] : kFunctions) {
        expect_near_double(
            f, x, std::string(name) + " at " + std::to_string(offset) + " of " + std::to_string(n));
      }
    }
  }
}

TEST(NormOfOffsets, OfEqualValuesIsTheBias) {
  for (const float value : {0.1f, 1e6f, 1e9f, -3e15f}) {
    for (const int64_t n : {3, 10, 1000}) {
      const Array x = full({6, n}, value);
      for (const Function& f : {Function(layers), Function(batches)}) {
        EXPECT_TRUE(allclose(f(x), broadcast_to(-1.5f * weights(x), {6, n}))) << value << ", " << n;
        EXPECT_TRUE(allclose(jit(f)(x), f(x)));
        EXPECT_TRUE(all(isfinite(grad([&](const Array& x) { return sum(f(x)); })(x))).item<bool>());
      }
      EXPECT_EQ(max(var(x, -1)).item<float>(), 0.0f);
    }
  }
}

// The hessian of the variance is 2 / n (1 - 1 / n) and -2 / n^2 everywhere.
TEST(NormOfOffsets, DerivativesOfVariancesOfEqualValuesAreExact) {
  const auto f = [](const Array& x) { return var(x); };
  for (const float value : {0.0f, 0.1f, 3.7e6f}) {
    const Array x = full({10}, value), want = 0.2f * eye(10) - 0.02f;
    EXPECT_TRUE(allclose(hessian(f)(x), want, {.atol = 1e-7})) << value;
  }
}

TEST(NormOfOffsets, HalvesLoseOnlyWhatTheirOwnRoundingTakes) {
  for (const Dtype dtype : {float16, bfloat16}) {
    const double offset = dtype == float16 ? 500 : 100;
    const Array x = (offset + 4 * random::normal(Key(1), {6, 200})).astype(dtype);
    const Array wide = x.astype(float64);
    const auto loss = [&](const Function& f) {
      return [&](const Array& x) {
        return sum(f(x) * random::normal(Key(3), {6, 200}).astype(x.dtype()));
      };
    };
    for (const Function& f : {Function(layers), Function(batches)}) {
      const double eps = dtype == float16 ? 2e-3 : 2e-2;
      EXPECT_TRUE(allclose(f(x).astype(float64), f(wide), {.rtol = eps, .atol = eps}));
      EXPECT_TRUE(allclose(grad(loss(f))(x).astype(float64), grad(loss(f))(wide),
                           {.rtol = 4 * eps, .atol = 4 * eps}));
    }
  }
}

TEST(NormOfOffsets, RunningStatisticsHaveTheDerivativeOfTheMean) {
  const Array x = 1e6f + random::normal(Key(1), {8, 3});
  const auto mean_of = [](const Array& x) {
    return sum(batch_norm(x, zeros({3}), ones({3}), {}, {}, {.training = true, .momentum = 1})
                   .running_mean);
  };
  EXPECT_TRUE(allclose(grad(mean_of)(x), full({8, 3}, 0.125f)));
}

}  // namespace norm_offset_test
}  // namespace spruce::nn
