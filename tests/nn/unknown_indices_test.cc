// SPDX-License-Identifier: Apache-2.0
// Labels and numbers of rows out of range whose values are not known: NaN, never a neighbour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spruce/spruce.h"

namespace spruce::nn {
namespace unknown_indices_test {

bool all_nan(const Array& x) { return all(isnan(x)).item<bool>(); }
bool no_nan(const Array& x) { return !any(isnan(x)).item<bool>(); }

using Loss = Array (*)(const Array&, const Array&, Reduction);

Array entropy(const Array& x, const Array& t, Reduction r) {
  return cross_entropy(x, t, {.reduction = r});
}
Array smoothed(const Array& x, const Array& t, Reduction r) {
  return cross_entropy(x, t, {.reduction = r, .label_smoothing = 0.25});
}
Array weighted(const Array& x, const Array& t, Reduction r) {
  return cross_entropy(x, t, {.weight = array({1.0f, 2.0f, 3.0f}), .reduction = r});
}
Array likelihood(const Array& x, const Array& t, Reduction r) {
  return nll_loss(x, t, {.reduction = r});
}

const Loss kLosses[] = {entropy, smoothed, weighted, likelihood};

TEST(UnknownLabels, OutOfRangeMakeTheirLossAndItsGradientNaN) {
  const Array x = random::normal(Key(0), {4, 3});
  for (const int wrong : {3, -1, 1000000, -2147483647}) {
    const Array t = array({0, wrong, -100, 2});
    for (const Loss loss : kLosses) {
      const auto each = [&](const Array& x, const Array& t) {
        return loss(x, t, Reduction::kNone);
      };
      const auto mean = [&](const Array& x, const Array& t) {
        return loss(x, t, Reduction::kMean);
      };
      const Array losses = jit(each)(x, t);
      EXPECT_TRUE(all_nan(losses[1]));
      EXPECT_TRUE(no_nan(losses[0]) && no_nan(losses[3]));
      EXPECT_EQ(losses[2].item<float>(), 0);
      EXPECT_TRUE(all_nan(jit(mean)(x, t)));
      const Array g = jit(grad(mean))(x, t);
      // A likelihood reads one class alone.
      EXPECT_EQ(sum(isnan(g[1]).astype(int32)).item<int>(), loss == likelihood ? 1 : 3);
      EXPECT_TRUE(array_equal(g[2], zeros({3})));
      EXPECT_TRUE(all_nan(vmap(each)(x, t)[1]));
      EXPECT_THROW(each(x, t), IndexError);
    }
  }
}

TEST(UnknownLabels, InRangeGiveWhatKnownOnesDo) {
  const Array x = random::normal(Key(0), {4, 3});
  for (const Dtype dtype : {int8, uint8, int16, int32, uint32, int64, uint64}) {
    const Array t = array({0, 2, 1, 2}).astype(dtype);
    for (const Loss loss : kLosses) {
      const auto f = [&](const Array& x, const Array& t) { return loss(x, t, Reduction::kMean); };
      EXPECT_TRUE(allclose(jit(f)(x, t), f(x, t), {.rtol = 1e-6}));
      EXPECT_TRUE(allclose(jit(grad(f))(x, t), grad(f)(x, t), {.rtol = 1e-5, .atol = 1e-7}));
    }
  }
}

TEST(UnknownLabels, OfNarrowDtypesReachClassesBeyondThem) {
  const Array x = random::normal(Key(0), {2, 300});
  const auto f = [&](const Array& t) {
    return cross_entropy(x, t, {.reduction = Reduction::kNone});
  };
  const Array t = array({100, -1}).astype(int8), u = array({200, 255}).astype(uint8);
  EXPECT_TRUE(allclose(jit(f)(u), f(u), {.rtol = 1e-6}));
  EXPECT_TRUE(no_nan(jit(f)(t)[0]) && all_nan(jit(f)(t)[1]));
}

TEST(UnknownRows, OutOfRangeAreNaNAndSoIsTheirGradient) {
  const Array table = random::normal(Key(0), {5, 2});
  const auto rows = [](const Array& w, const Array& i) { return embedding(i, w); };
  const auto total = [](const Array& w, const Array& i) { return sum(square(embedding(i, w))); };
  const Array good = array({0, 4, 1});
  EXPECT_TRUE(array_equal(jit(rows)(table, good), rows(table, good)));
  EXPECT_TRUE(allclose(jit(grad(total))(table, good), grad(total)(table, good)));
  for (const int wrong : {5, -1, 100}) {
    const Array i = array({0, wrong, 1});
    const Array y = jit(rows)(table, i);
    EXPECT_TRUE(all_nan(y[1]) && no_nan(y[0]) && no_nan(y[2]));
    EXPECT_TRUE(any(isnan(jit(grad(total))(table, i))).item<bool>());
    EXPECT_TRUE(all_nan(vmap([&](const Array& i) { return embedding(i, table); })(i)[1]));
    EXPECT_THROW(rows(table, i), IndexError);
  }
}

TEST(UnknownRows, OutOfRangeMakeTheirBagNaN) {
  const Array table = random::normal(Key(0), {5, 2}), i = array({0, 4, 7, 1, 2});
  const Array offsets = array({0, 2, 2, 4});
  for (const BagMode mode : {BagMode::kMean, BagMode::kSum, BagMode::kMax}) {
    for (const std::optional<int64_t> padding : {std::optional<int64_t>(), {1}}) {
      const EmbeddingBagOptions o{.mode = mode, .padding_idx = padding};
      const auto flat = [&](const Array& w, const Array& i, const Array& from) {
        return embedding_bag(i, w, from, {}, o);
      };
      const auto total = [&](const Array& w, const Array& i) { return sum(flat(w, i, offsets)); };
      const Array y = jit(flat)(table, i, offsets);
      EXPECT_TRUE(all_nan(y[2]) && no_nan(y[slice(0, 2)]) && no_nan(y[3]));
      EXPECT_TRUE(any(isnan(jit(grad(total))(table, i))).item<bool>());
      const auto square = [&](const Array& w, const Array& i) {
        return embedding_bag(i, w, {}, {}, o);
      };
      const Array z = jit(square)(table, array({{0, 4}, {1, -1}, {2, 2}}));
      EXPECT_TRUE(all_nan(z[1]) && no_nan(z[0]) && no_nan(z[2]));
    }
  }
}

// As jnp.take(mode="fill") does.
TEST(UnknownRows, OfIntegersAreTheirExtremes) {
  for (const Dtype dtype : {bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64}) {
    const Array table = array({{1, 0}, {0, 1}}).astype(dtype);
    const auto f = [&](const Array& i) { return embedding(i, table); };
    const double extreme = visit_dtype(dtype, [](auto zero) {
      using Limits = std::numeric_limits<decltype(zero)>;
      return static_cast<double>(std::is_signed_v<decltype(zero)> ? Limits::lowest()
                                                                  : Limits::max());
    });
    for (const int wrong : {2, -1, 1000}) {
      for (const Array& y : {jit(f)(array({1, wrong})), vmap(f)(array({1, wrong}))}) {
        EXPECT_EQ(y.dtype(), dtype);
        EXPECT_TRUE(array_equal(y[0], table[1]));
        EXPECT_TRUE(all(equal(y[1].astype(float64), array(extreme, float64))).item<bool>());
      }
    }
  }
}

// With checks on, the error of a known index that is out of range, and the line of the user.
TEST(UnknownLabels, AreNamedByDebugNans) {
  struct Guard {
    ~Guard() { set_debug_nans(before); }
    bool before = debug_nans();
  } const guard;
  set_debug_nans(true);
  const Array x = random::normal(Key(0), {2, 3}), t = array({0, 3});
  const auto losses = [](const Array& x, const Array& t) { return cross_entropy(x, t); };
  const auto likelihoods = [](const Array& x, const Array& t) { return nll_loss(x, t); };
  const auto rows = [](const Array& w, const Array& i) { return embedding(i, w); };
  const auto total = [&](const Array& w, const Array& i) { return sum(rows(w, i)); };
  const std::string classes = ": the target holds class 3, the input has classes 0..2";
  const std::string numbers = ": the input holds 3, the table has rows 0..1";
  const std::tuple<std::function<void()>, std::string> calls[] = {
      {[&] { jit(losses)(x, t); }, "cross_entropy" + classes},
      {[&] { vmap(losses)(x, t); }, "cross_entropy" + classes},
      {[&] { jit(grad(losses))(x, t); }, "cross_entropy" + classes},
      {[&] { jit(likelihoods)(x, t); }, "nll_loss" + classes},
      {[&] { jit(rows)(x, t); }, "embedding" + numbers},
      {[&] { jit(grad(total))(x, t); }, "embedding" + numbers},
      {[&] { jit(rows)(x.astype(bfloat16), t); }, "embedding" + numbers},
  };
  for (const auto& [call, message] : calls) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const IndexError& e) {
      EXPECT_THAT(e.what(), testing::StartsWith(message + "\n"));
      EXPECT_THAT(e.what(), testing::HasSubstr("unknown_indices_test.cc"));
    }
  }
  EXPECT_NO_THROW(jit(losses)(x, array({0, -100})));
}

}  // namespace unknown_indices_test
}  // namespace spruce::nn
