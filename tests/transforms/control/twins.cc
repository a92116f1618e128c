// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/control/twins.h"

#include <cmath>
#include <random>

namespace spruce::control {
namespace {

Array weighted(const Array& y) {
  return sum(y * reshape(cos(arange(static_cast<double>(y.size()))), y.shape()));
}

// The inputs in `active` vary, the others are closed over.
Function partial(const Function& f, const Arrays& all, const std::vector<size_t>& active) {
  return [=](const Arrays& x) {
    Arrays full = all;
    for (size_t i = 0; i < active.size(); ++i) full[active[i]] = x[i];
    return f(full);
  };
}

void expect_close_all(const Arrays& got, const Arrays& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    expect_close(got[i], want[i], what + ", leaf " + std::to_string(i));
}

void compare(const Twins& t, const std::vector<size_t>& active) {
  std::string what = t.name + " by inputs";
  Arrays x, v, batch;
  for (const size_t i : active) {
    what += " " + std::to_string(i);
    x.push_back(t.at[i]);
    v.push_back(numbers(t.at[i].shape(), 100 + static_cast<int>(i)));
    batch.push_back(stack({t.at[i], 0.7 * t.at[i], 0.2 + t.at[i]}));
  }
  const Function loop = partial(t.loop, t.at, active), plain = partial(t.plain, t.at, active);
  const auto tangent = [&](const Function& f) {
    return [f, v](const Arrays& y) { return jvp(f, std::tuple{y}, std::tuple{v}).second; };
  };
  const auto slope = [](const Function& f) {
    return grad([f](const Arrays& y) { return weighted(f(y)); });
  };
  const auto curve = [&](const Function& f) {
    return [f, v](const Arrays& y) {
      return hvp([f](const Arrays& z) { return weighted(f(z)); }, y, v);
    };
  };
  expect_close(tangent(loop)(x), tangent(plain)(x), "jvp of " + what);
  expect_close(jit(tangent(loop))(x), tangent(plain)(x), "jit of jvp of " + what);
  expect_close(tangent(jit(loop))(x), tangent(plain)(x), "jvp of jit of " + what);
  expect_close(vmap(loop)(batch), vmap(plain)(batch), "vmap of " + what);
  expect_close(jit(vmap(loop))(batch), vmap(plain)(batch), "jit of vmap of " + what);
  expect_close(vmap(tangent(loop))(batch), vmap(tangent(plain))(batch), "vmap of jvp of " + what);
  const auto second = [&](const Function& f) {
    return jvp(tangent(f), std::tuple{x}, std::tuple{v}).second;
  };
  expect_close(second(loop), second(plain), "jvp of jvp of " + what);
  if (!t.reverse_mode) return;
  expect_close_all(slope(loop)(x), slope(plain)(x), "grad of " + what);
  expect_close_all(jit(slope(loop))(x), slope(plain)(x), "jit of grad of " + what);
  expect_close_all(slope(jit(loop))(x), slope(plain)(x), "grad of jit of " + what);
  expect_close_all(vmap(slope(loop))(batch), vmap(slope(plain))(batch), "vmap of grad of " + what);
  expect_close_all(slope(vmap(loop))(batch), slope(vmap(plain))(batch), "grad of vmap of " + what);
  expect_close_all(curve(loop)(x), curve(plain)(x), "forward over reverse of " + what);
  expect_close_all(jit(curve(loop))(x), curve(plain)(x), "jit of forward over reverse of " + what);
  const auto twice = [&](const Function& f) {
    return grad([f, slope](const Arrays& y) {
      Array total = array(0.0, float64);
      for (const Array& g : slope(f)(y)) total = total + sum(sin(g));
      return total;
    });
  };
  expect_close_all(twice(loop)(x), twice(plain)(x), "grad of grad of " + what);
}

}  // namespace

Array numbers(const Shape& shape, int seed) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::vector<double> values;
  for (int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return array(values, shape);
}

void expect_close(const Array& got, const Array& want, const std::string& what, double tol) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  const std::vector<double> g = astype(got, float64).to_vector<double>(),
                            w = astype(want, float64).to_vector<double>();
  double scale = 1;
  for (const double a : w) scale = std::max(scale, std::abs(a));
  for (size_t i = 0; i < g.size(); ++i)
    ASSERT_NEAR(g[i], w[i], tol * scale) << what << ", element " << i;
}

void expect_twins(const Twins& t) {
  expect_close(t.loop(t.at), t.plain(t.at), t.name);
  expect_close(jit(t.loop)(t.at), t.plain(t.at), "jit of " + t.name);
  std::vector<size_t> all;
  for (size_t i = 0; i < t.at.size(); ++i) all.push_back(i);
  for (const size_t i : all) compare(t, {i});
  if (all.size() > 1) compare(t, all);
}

}  // namespace spruce::control
