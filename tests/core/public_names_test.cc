// SPDX-License-Identifier: Apache-2.0
// Functions that are made of others, or whose primitive has another name, say their own.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "tests/core/message.h"

namespace spruce {
namespace public_names_test {

void starts(const std::function<void()>& f, const std::string& with) {
  const std::string text = message([&] {
    f();
    return 0;
  });
  EXPECT_EQ(text.substr(0, with.size()), with) << text;
}

TEST(Errors, BearTheNameThatWasCalled) {
  const Array a = ones({3, 4}), b = ones({4, 5}), truth = ones({2}, bool_);
  const Array u8 = zeros({2}, uint8);
  starts([&] { a % b; }, "remainder: f32[3,4], f32[4,5] do not broadcast");
  starts([&] { remainder(truth, truth); }, "remainder: takes numbers, not bool");
  starts([&] { floor_divide(a, b); }, "floor_divide: f32[3,4], f32[4,5] do not");
  starts([&] { fmin(a, b); }, "fmin: f32[3,4], f32[4,5] do not");
  starts([&] { fmax(a, b); }, "fmax: f32[3,4], f32[4,5] do not");
  starts([&] { heaviside(a, b); }, "heaviside: f32[3,4], f32[4,5] do not");
  starts([&] { lcm(a, a); }, "lcm: takes integers, got f32[3,4]");
  starts([&] { isclose(a, b); }, "isclose: shapes [3,4] and [4,5] do not");
  starts([&] { -truth; }, "negative: takes numbers, not bool");
  starts([&] { ~a; }, "bitwise_not: takes bool or integers");
  starts([&] { a << a; }, "left_shift: takes integers");
  starts([&] { a >> a; }, "right_shift: takes integers");
  starts([&] { power(truth, 2); }, "power: takes numbers, not bool");
  starts([&] { u8 - 300; }, "subtract: the number 300 does not fit");
  starts([&] { (void)(u8 < 300); }, "less: the number 300 does not fit");
  starts([&] { power(a, Array()); }, "power: this Array is empty");
}

// What is said of the name holds after an error, too, and outside of the operation.
TEST(Errors, TheNameLastsAsLongAsTheCall) {
  starts([] { var(ones({3}), 5); }, "var: ");
  starts([] { sum(ones({3}), 5); }, "sum: ");
  starts([] { internal::throw_ragged(1, 2, Loc::none()); }, "array: ");
}

struct Call {
  const char* name;
  std::function<void()> f;
};

TEST(Errors, EveryReductionSaysItsName) {
  const Array x = ones({3, 4}), none_there;
  const auto both = [&](const char* name, const auto& f) {
    starts([&] { f(x, AxisArg(7)); }, std::string(name) + ": axis 7");
    starts([&] { f(none_there, AxisArg(none)); }, std::string(name) + ": this Array is empty");
  };
  both("sum", [](const Array& x, const AxisArg& axis) { sum(x, axis); });
  both("prod", [](const Array& x, const AxisArg& axis) { prod(x, axis); });
  both("mean", [](const Array& x, const AxisArg& axis) { mean(x, axis); });
  both("average", [](const Array& x, const AxisArg& axis) { average(x, x, axis); });
  both("median", [](const Array& x, const AxisArg& axis) { median(x, axis); });
  both("var", [](const Array& x, const AxisArg& axis) { var(x, axis); });
  both("std", [](const Array& x, const AxisArg& axis) { std(x, axis); });
  both("max", [](const Array& x, const AxisArg& axis) { max(x, axis); });
  both("min", [](const Array& x, const AxisArg& axis) { min(x, axis); });
  both("ptp", [](const Array& x, const AxisArg& axis) { ptp(x, axis); });
  both("any", [](const Array& x, const AxisArg& axis) { any(x, axis); });
  both("all", [](const Array& x, const AxisArg& axis) { all(x, axis); });
  both("count_nonzero", [](const Array& x, const AxisArg& axis) { count_nonzero(x, axis); });
  both("argmax", [](const Array& x, const AxisArg& axis) { argmax(x, axis); });
  both("argmin", [](const Array& x, const AxisArg& axis) { argmin(x, axis); });
  both("logsumexp", [](const Array& x, const AxisArg& axis) { logsumexp(x, axis); });
  for (const double ord : {0.0, 1.0, 2.0, 3.0, HUGE_VAL, -HUGE_VAL}) {
    both("norm", [&](const Array& x, const AxisArg& axis) { norm(x, axis, {.ord = ord}); });
  }
  both("nansum", [](const Array& x, const AxisArg& axis) { nansum(x, axis); });
  both("nanmean", [](const Array& x, const AxisArg& axis) { nanmean(x, axis); });
  both("nanmax", [](const Array& x, const AxisArg& axis) { nanmax(x, axis); });
  both("nanmin", [](const Array& x, const AxisArg& axis) { nanmin(x, axis); });
  both("cumsum", [](const Array& x, const AxisArg& axis) { cumsum(x, axis); });
  both("cumprod", [](const Array& x, const AxisArg& axis) { cumprod(x, axis); });
  both("cummax", [](const Array& x, const AxisArg& axis) { cummax(x, axis); });
  both("cummin", [](const Array& x, const AxisArg& axis) { cummin(x, axis); });
  both("cumlogsumexp", [](const Array& x, const AxisArg& axis) { cumlogsumexp(x, axis); });
  both("sort", [](const Array& x, const AxisArg& axis) { sort(x, axis); });
  both("argsort", [](const Array& x, const AxisArg& axis) { argsort(x, axis); });
  both("lexsort", [](const Array& x, const AxisArg& axis) {
    lexsort({x, x}, axis.all() ? AxisArg(-1) : axis);
  });
  both("top_k", [](const Array& x, const AxisArg& axis) { top_k(x, 1, axis); });
  both("flip", [](const Array& x, const AxisArg& axis) { flip(x, axis); });
  both("roll", [](const Array& x, const AxisArg& axis) { roll(x, 1, axis); });
  both("repeat", [](const Array& x, const AxisArg& axis) { repeat(x, 2, axis); });
  both("repeat", [](const Array& x, const AxisArg& axis) { repeat(x, 2, axis); });
  both("take", [](const Array& x, const AxisArg& axis) { take(x, 0, axis); });
  both("squeeze", [](const Array& x, const AxisArg& axis) { squeeze(x, axis); });
}

TEST(Errors, EveryFunctionOfShapesSaysItsName) {
  const Array x = ones({3, 4}), y = ones({5, 6}), v = ones({3}), i = arange(3), nothing;
  const Call calls[] = {
      {"take_along_axis",
       [&] {
         take_along_axis(x, arange(8).reshape({2, 2, 2}), 0);
       }},
      {"take_along_axis", [&] { take_along_axis(x, v, 0); }},
      {"put_along_axis",
       [&] {
         put_along_axis(x, zeros({3, 1}, int32), y, 1);
       }},
      {"choose",
       [&] {
         choose(arange(3), {x, y});
       }},
      {"choose", [&] { choose(i, {}); }},
      {"one_hot", [&] { one_hot(v, 3); }},
      {"one_hot", [&] { one_hot(i, -1); }},
      {"bincount", [&] { bincount(v, 3); }},
      {"bincount", [&] { bincount(i, -3); }},
      {"bincount", [&] { bincount(i, 3, x); }},
      {"nonzero", [&] { nonzero(nothing); }},
      {"argwhere", [&] { argwhere(nothing); }},
      {"where", [&] { where(nothing); }},
      {"where", [&] { where(x > 0, x, y); }},
      {"clip", [&] { clip(x, y, 1); }},
      {"searchsorted", [&] { searchsorted(x, v); }},
      {"searchsorted", [&] { searchsorted(v, nothing); }},
      {"unique", [&] { unique(nothing); }},
      {"top_k", [&] { top_k(v, 4); }},
      {"reshape", [&] { reshape(x, {5}); }},
      {"reshape", [&] { x.reshape({5}); }},
      {"ravel", [&] { ravel(nothing); }},
      {"flatten", [&] { flatten(nothing); }},
      {"broadcast_to",
       [&] {
         broadcast_to(x, {2, 4});
       }},
      {"broadcast_arrays",
       [&] {
         broadcast_arrays({x, y});
       }},
      {"astype", [&] { astype(nothing, float64); }},
      {"bitcast", [&] { bitcast(x, float64); }},
      {"copy", [&] { copy(nothing); }},
      {"expand_dims", [&] { expand_dims(x, 9); }},
      {"transpose",
       [&] {
         transpose(x, {0, 0});
       }},
      {"swapaxes", [&] { swapaxes(x, 0, 9); }},
      {"moveaxis", [&] { moveaxis(x, 0, 9); }},
      {"concatenate",
       [&] {
         concatenate({x, y});
       }},
      {"stack",
       [&] {
         stack({x, y});
       }},
      {"stack",
       [&] {
         stack({x, x}, 9);
       }},
      {"vstack",
       [&] {
         vstack({x, y});
       }},
      {"vstack", [&] { vstack({}); }},
      {"hstack",
       [&] {
         hstack({x, y});
       }},
      {"hstack", [&] { hstack({}); }},
      {"split", [&] { split(x, 5); }},
      {"split", [&] { split(x, 2, 9); }},
      {"split", [&] { split(x, {1}, 9); }},
      {"array_split", [&] { array_split(x, 0); }},
      {"array_split", [&] { array_split(x, 2, 9); }},
      {"tile", [&] { tile(x, {-1}); }},
      {"tile",
       [&] {
         tile(x, {int64_t{1} << 40, int64_t{1} << 40});
       }},
      {"repeat", [&] { repeat(x, -1); }},
      {"rot90",
       [&] {
         rot90(x, 1, {0, 9});
       }},
      {"rot90", [&] { rot90(v); }},
      {"pad",
       [&] {
         pad(x, {{1, 1}});
       }},
      {"pad", [&] { pad(x, 1, {.value = v}); }},
      {"pad", [&] { pad(zeros({0}), 1, {.mode = PadMode::kEdge}); }},
      {"pad", [&] { pad(zeros({2}, uint8), 1, {.value = 300}); }},
      {"zeros", [&] { zeros({-1}); }},
      {"ones", [&] { ones({-1}); }},
      {"full", [&] { full({-1}, 1); }},
      {"full", [&] { full({2}, x); }},
      {"zeros_like", [&] { zeros_like(nothing); }},
      {"ones_like", [&] { ones_like(nothing); }},
      {"full_like", [&] { full_like(v, y); }},
      {"arange", [&] { arange(0, 1, 0); }},
      {"arange", [&] { arange(0.0, 1.0, 0.0); }},
      {"linspace", [&] { linspace(0, 1, -1); }},
      {"linspace", [&] { linspace(x, y, 3); }},
      {"logspace", [&] { logspace(0, 1, -1); }},
      {"logspace", [&] { logspace(x, y, 2); }},
      {"eye", [&] { eye(-1); }},
      {"identity", [&] { identity(-1); }},
      {"tri", [&] { tri(-1); }},
      {"tril", [&] { tril(v); }},
      {"triu", [&] { triu(v); }},
      {"meshgrid",
       [&] {
         meshgrid({x, v});
       }},
      {"at.set", [&] { x.at(0).set(y); }},
      {"at.get", [&] { x.at(9).get(); }},
      {"at.add", [&] { x.at(9).add(1); }},
      {"at.subtract", [&] { x.at(0).subtract(y); }},
      {"at.subtract", [&] { x.at(0).subtract(nothing); }},
      {"at.multiply", [&] { x.at(0).multiply(y); }},
      {"at.divide", [&] { x.at(0).divide(y); }},
      {"at.divide", [&] { i.at(0).divide(2); }},
      {"at.min", [&] { x.at(0).min(y); }},
      {"at.max", [&] { x.at(0).max(y); }},
      {"dynamic_slice",
       [&] {
         dynamic_slice(x, {0}, {1, 1});
       }},
      {"dynamic_update_slice",
       [&] {
         dynamic_update_slice(x, y, {0, 0});
       }},
      {"dynamic_slice_in_dim", [&] { dynamic_slice_in_dim(x, 0, 9); }},
      {"dynamic_slice_in_dim", [&] { dynamic_slice_in_dim(x, 0, 1, 9); }},
      {"dynamic_update_slice_in_dim", [&] { dynamic_update_slice_in_dim(x, y, 0); }},
      {"diff", [&] { diff(x, {.n = -1}); }},
      {"diff", [&] { diff(x, {.axis = 9}); }},
  };
  for (const Call& c : calls) starts(c.f, std::string(c.name) + ": ");
}

TEST(Errors, EveryProductSaysItsName) {
  const Array x = ones({3, 4}), y = ones({5, 6}), v = ones({3}), nothing;
  const Call calls[] = {
      {"dot_general",
       [&] {
         dot_general(x, y, {{0}, {0}, {}, {}});
       }},
      {"dot_general",
       [&] {
         dot_general(x, y, {{0}, {9}, {}, {}});
       }},
      {"matmul", [&] { matmul(x, y); }},
      {"matmul",
       [&] {
         matmul(ones({2, 3, 4}), ones({5, 4, 3}));
       }},
      {"matmul", [&] { matmul(x, nothing); }},
      {"dot", [&] { dot(x, y); }},
      {"dot", [&] { dot(zeros({}), nothing); }},
      {"vdot", [&] { vdot(x, y); }},
      {"inner", [&] { inner(x, y); }},
      {"outer", [&] { outer(x, nothing); }},
      {"tensordot", [&] { tensordot(x, y); }},
      {"tensordot", [&] { tensordot(x, y, 9); }},
      {"tensordot", [&] { tensordot(x, y, 0, 9); }},
      {"vecdot", [&] { vecdot(x, y); }},
      {"vecdot", [&] { vecdot(x, x, {.axis = 9}); }},
      {"kron", [&] { kron(x, nothing); }},
      {"cross", [&] { cross(x, x); }},
      {"cross", [&] { cross(v, y); }},
      {"diagonal", [&] { diagonal(v); }},
      {"trace", [&] { trace(v); }},
      {"trace", [&] { trace(x, {.axis1 = 9}); }},
      {"diag",
       [&] {
         diag(ones({1, 1, 1}));
       }},
      {"diag", [&] { diag(zeros({}, float32)); }},
      {"conv_general", [&] { conv_general(x, y); }},
      {"reduce_window_sum", [&] { reduce_window_sum(x, {.window = {2}}); }},
      {"reduce_window_max", [&] { reduce_window_max(x, {.window = {2}}); }},
      {"reduce_window_min", [&] { reduce_window_min(x, {.window = {2}}); }},
  };
  for (const Call& c : calls) starts(c.f, std::string(c.name) + ": ");
  starts([&] { einsum("ij,jk", x, y); }, "einsum(\"ij,jk\"): ");
  starts([&] { einsum("ij,jk", x); }, "einsum(\"ij,jk\"): ");
}

TEST(Errors, EveryComposedFunctionSaysItsName) {
  const Array x = ones({3, 4}), y = ones({5, 6}), truth = ones({2}, bool_), nothing;
  const Call calls[] = {
      {"divide", [&] { divide(x, y); }},
      {"float_power", [&] { float_power(x, y); }},
      {"power", [&] { power(x, y); }},
      {"logaddexp2", [&] { logaddexp2(x, y); }},
      {"logical_and", [&] { logical_and(x, y); }},
      {"logical_or", [&] { logical_or(x, y); }},
      {"logical_xor", [&] { logical_xor(x, y); }},
      {"logical_not", [&] { logical_not(nothing); }},
      {"logical_not", [&] { !nothing; }},
      {"isnan", [&] { isnan(nothing); }},
      {"isinf", [&] { isinf(nothing); }},
      {"isposinf", [&] { isposinf(nothing); }},
      {"isneginf", [&] { isneginf(nothing); }},
      {"signbit", [&] { signbit(nothing); }},
      {"square", [&] { square(truth); }},
      {"reciprocal", [&] { reciprocal(nothing); }},
      {"positive", [&] { positive(truth); }},
      {"sinc", [&] { sinc(nothing); }},
      {"deg2rad", [&] { deg2rad(nothing); }},
      {"rad2deg", [&] { rad2deg(nothing); }},
      {"polygamma", [&] { polygamma(-1, x); }},
      {"polygamma", [&] { polygamma(1, nothing); }},
      {"nan_to_num", [&] { nan_to_num(nothing); }},
      {"round", [&] { round(truth, -1); }},
      {"round", [&] { round(nothing); }},
      {"allclose", [&] { allclose(x, y); }},
      {"array_equal", [&] { array_equal(x, nothing); }},
      {"isclose", [&] { isclose(x, nothing); }},
  };
  for (const Call& c : calls) starts(c.f, std::string(c.name) + ": ");
}

TEST(Errors, EveryRandomFunctionSaysItsName) {
  using namespace random;  // NOLINT: its names are those of the table
  const Key key(0), none_there;
  const Shape bad{-1};
  const auto both = [&](const char* name, const auto& f) {
    starts([&] { f(none_there, Shape{2}); }, std::string(name) + ": the key is empty");
    starts([&] { f(key, bad); }, std::string(name) + ": ");
  };
  both("bits", [](const Key& k, const Shape& s) { random::bits(k, s); });
  both("uniform", [](const Key& k, const Shape& s) { uniform(k, s); });
  both("normal", [](const Key& k, const Shape& s) { normal(k, s); });
  both("truncated_normal", [](const Key& k, const Shape& s) { truncated_normal(k, -1, 1, s); });
  both("exponential", [](const Key& k, const Shape& s) { exponential(k, s); });
  both("gumbel", [](const Key& k, const Shape& s) { gumbel(k, s); });
  both("laplace", [](const Key& k, const Shape& s) { laplace(k, s); });
  both("cauchy", [](const Key& k, const Shape& s) { cauchy(k, s); });
  both("logistic", [](const Key& k, const Shape& s) { random::logistic(k, s); });
  both("bernoulli", [](const Key& k, const Shape& s) { bernoulli(k, 0.5f, s); });
  both("randint", [](const Key& k, const Shape& s) { randint(k, s, 0, 5); });
  both("rademacher", [](const Key& k, const Shape& s) { rademacher(k, s); });
  both("choice", [](const Key& k, const Shape& s) { choice(k, 5, s); });
  both("choice", [](const Key& k, const Shape& s) { choice(k, arange(5), s); });
  both("gamma", [](const Key& k, const Shape& s) { gamma(k, 1.0f, {.shape = s}); });
  both("loggamma", [](const Key& k, const Shape& s) { loggamma(k, 1.0f, {.shape = s}); });
  both("beta", [](const Key& k, const Shape& s) { beta(k, 1.0f, 1.0f, {.shape = s}); });
  both("chisquare", [](const Key& k, const Shape& s) { chisquare(k, 1.0f, {.shape = s}); });
  both("t", [](const Key& k, const Shape& s) { t(k, 1.0f, {.shape = s}); });
  const Call calls[] = {
      {"permutation", [&] { permutation(none_there, 3); }},
      {"permutation", [&] { permutation(key, ones({}, int32)); }},
      {"permutation", [&] { permutation(key, ones({3}), {.axis = 9}); }},
      {"categorical", [&] { categorical(none_there, ones({3})); }},
      {"categorical", [&] { categorical(key, arange(3)); }},
      {"bernoulli", [&] { bernoulli(none_there, 0.5f); }},
      {"dirichlet", [&] { dirichlet(none_there, ones({3})); }},
      {"poisson", [&] { poisson(none_there, 1.0f); }},
      {"binomial", [&] { binomial(none_there, 3.0f, 0.5f); }},
      {"split", [&] { random::split(none_there, 3); }},
      {"fold_in", [&] { fold_in(none_there, 3); }},
  };
  for (const Call& c : calls) starts(c.f, std::string(c.name) + ": ");
}

}  // namespace public_names_test
}  // namespace spruce
