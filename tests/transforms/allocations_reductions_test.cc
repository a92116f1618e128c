// SPDX-License-Identifier: Apache-2.0
// Reductions, orders, windows and indices over arrays that are large enough for all that the
// kernels do: a call of a compiled function allocates its results and nothing else.
#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/allocations.h"

namespace spruce {
namespace allocations_reductions_test {

int64_t results(const Array&) { return 1; }
int64_t results(const std::pair<Array, Array>&) { return 2; }

class LargeAllocations : public testing::Test {
 protected:
  template <class F, class... A>
  static void expect_results_only(const char* what, F f, const A&... args) {
    const auto compiled = jit(f);
    const int64_t count = results(compiled(args...));
    const Allocated more = allocated_by([&] { return compiled(args...); });
    EXPECT_EQ(more.heap, 0) << what;
    EXPECT_LE(more.arrays, 2 * count) << what;
  }

  static Array numbers(const Shape& shape, Dtype dtype = float32) {
    return random::normal(Key(1), shape).astype(dtype);
  }

 private:
  const OneThread one_;
};

// The second input is longer on both axes than what one block of a long axis holds.
TEST_F(LargeAllocations, Reductions) {
  for (const Dtype dtype : {float32, float64, bfloat16}) {
    for (const Array& x : {numbers({512, 512}, dtype), numbers({3000, 2100}, dtype)}) {
      SCOPED_TRACE(to_string(x.aval()));
      for (const AxisArg& axis : {AxisArg(0), AxisArg(1), AxisArg(none)}) {
        expect_results_only(
            "sum", [axis](const Array& a) { return sum(a, axis); }, x);
        expect_results_only(
            "max", [axis](const Array& a) { return max(a, axis); }, x);
        expect_results_only(
            "mean", [axis](const Array& a) { return mean(a, axis); }, x);
        expect_results_only(
            "argmax", [axis](const Array& a) { return argmax(a, axis); }, x);
        expect_results_only(
            "logsumexp", [axis](const Array& a) { return logsumexp(a, axis); }, x);
        expect_results_only(
            "var", [axis](const Array& a) { return var(a, axis); }, x);
        expect_results_only(
            "cumsum", [axis](const Array& a) { return cumsum(a, axis); }, x);
      }
    }
    const Array x = numbers({9, 40, 3, 50, 20}, dtype);
    SCOPED_TRACE(to_string(x.aval()));
    expect_results_only(
        "sum",
        [](const Array& a) {
          return sum(a, {0, 2, 4});
        },
        x);
    expect_results_only(
        "prod",
        [](const Array& a) {
          return prod(a, {1, 3});
        },
        x);
  }
  const Array i = random::permutation(Key(2), 300000).reshape({300, 1000});
  expect_results_only(
      "sum of i32", [](const Array& a) { return sum(a, 0); }, i);
  expect_results_only(
      "any", [](const Array& a) { return any(a > 5); }, i);
  expect_results_only(
      "all", [](const Array& a) { return all(a > 5, 1); }, i);
}

// From 2^18 elements on, sorts count wider digits.
TEST_F(LargeAllocations, Orders) {
  for (const int64_t n : {int64_t{100000}, int64_t{300000}}) {
    for (const Array& x :
         {numbers({n}), numbers({n}, float64), numbers({n}, bfloat16),
          random::permutation(Key(3), n), random::permutation(Key(3), n).astype(int64)}) {
      SCOPED_TRACE(to_string(x.aval()));
      expect_results_only(
          "sort", [](const Array& a) { return sort(a); }, x);
      expect_results_only(
          "argsort", [](const Array& a) { return argsort(a); }, x);
      expect_results_only(
          "top_k", [](const Array& a) { return top_k(a, 1000); }, x);
      const Array sorted = sort(x);
      expect_results_only(
          "searchsorted", [](const Array& a, const Array& v) { return searchsorted(a, v); }, sorted,
          x[slice(0, 1000)]);
      expect_results_only(
          "searchsorted of many", [](const Array& a, const Array& v) { return searchsorted(a, v); },
          sorted[slice(0, 1000)], x);
    }
  }
  const Array x = numbers({300, 200});
  expect_results_only(
      "sort of columns", [](const Array& a) { return sort(a, 0); }, x);
  expect_results_only(
      "argsort of columns", [](const Array& a) { return argsort(a, 0); }, x);
}

// Windows of 2 x 2 have kernels of their own.
TEST_F(LargeAllocations, Windows) {
  for (const Dtype dtype : {float32, float64, bfloat16}) {
    const Array x = numbers({8, 16, 32, 32}, dtype);
    SCOPED_TRACE(to_string(x.aval()));
    const auto max_of_four = [](const Array& a) { return nn::max_pool2d(a, 2); };
    const auto max_of_nine = [](const Array& a) {
      return nn::max_pool2d(a, 3, {.stride = 2, .padding = 1});
    };
    const auto mean_of_four = [](const Array& a) { return nn::avg_pool2d(a, 2); };
    const auto mean_of_nine = [](const Array& a) {
      return nn::avg_pool2d(a, 3, {.stride = 2, .padding = 1});
    };
    const auto check = [&](const char* what, const auto& f) {
      expect_results_only(what, f, x);
      const auto total = [f](const Array& a) { return sum(square(f(a))).astype(float32); };
      expect_results_only(
          what, [total](const Array& a) { return grad(total)(a); }, x);
    };
    check("max_pool2d of 2 x 2", max_of_four);
    check("max_pool2d of 3 x 3", max_of_nine);
    check("avg_pool2d of 2 x 2", mean_of_four);
    check("avg_pool2d of 3 x 3", mean_of_nine);
  }
}

TEST_F(LargeAllocations, Indices) {
  const Array places = random::permutation(Key(4), 1000)[slice(0, 500)];
  for (const Dtype dtype : {float32, bfloat16}) {
    const Array x = numbers({1000, 64}, dtype), rows = numbers({500, 64}, dtype);
    SCOPED_TRACE(to_string(x.aval()));
    const auto scattered = [](const Array& a, const Array& i, const Array& v) {
      return a.at(i).add(v);
    };
    expect_results_only("scatter-add", scattered, x, places, rows);
    expect_results_only("scatter-add of as many rows", scattered, x,
                        random::permutation(Key(5), 1000), x * 2);
    expect_results_only(
        "scatter-max",
        [](const Array& a, const Array& i, const Array& v) { return a.at(i).max(v); }, x, places,
        rows);
    expect_results_only(
        "scatter", [](const Array& a, const Array& i, const Array& v) { return a.at(i).set(v); }, x,
        places, rows);
    expect_results_only(
        "take", [](const Array& a, const Array& i) { return take(a, i, 0); }, x, places);
    expect_results_only(
        "one_hot", [dtype](const Array& i) { return one_hot(i, 1000, dtype); }, places);
    // Updates whose memory nothing needs any more: the result must not go there.
    expect_results_only(
        "scatter-add of a temporary",
        [](const Array& a, const Array& i) { return a.at(i).add(exp(a) * 2.0f); }, x,
        random::permutation(Key(5), 1000));
  }
}

TEST_F(LargeAllocations, ProductsAndRandomNumbers) {
  expect_results_only(
      "einsum",
      [](const Array& a, const Array& b, const Array& c) {
        return einsum("ij,bjk,kl->bil", a, b, c);
      },
      numbers({64, 48}), numbers({8, 48, 32}), numbers({32, 40}));
  expect_results_only(
      "normal", [](const Key& key) { return random::normal(key, {10000}); }, Key(6));
  expect_results_only(
      "permutation", [](const Key& key) { return random::permutation(key, 10000); }, Key(6));
}

}  // namespace allocations_reductions_test
}  // namespace spruce
