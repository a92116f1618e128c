// SPDX-License-Identifier: Apache-2.0
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace {

struct Case {
  const char *op, *options, *inputs, *y, *gradients;
};

constexpr Case kCases[] = {
#include "tests/nn/functional_cases.inc"
#include "tests/nn/layer_cases.inc"
#include "tests/nn/optax_loss_cases.inc"
};

std::vector<std::string> parts(const std::string& text, char by) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, by);) out.push_back(item);
  return out;
}

// "2,3@0.7;4@0.4"; a shape of rank 0 is empty.
Inputs inputs_of(const std::string& text) {
  Inputs out;
  for (const std::string& one : parts(text, ';')) {
    const size_t at = one.find('@');
    sp::Shape shape;
    for (const std::string& n : parts(one.substr(0, at), ',')) shape.push_back(std::stoll(n));
    out.push_back(torch_cases::wave(shape, std::stod(one.substr(at + 1))));
  }
  return out;
}

// What make_layer_cases.py writes for a long list: sums of g[i] cos(k i + k), k = 1..4.
std::vector<double> sums_of(const std::vector<double>& g) {
  std::vector<double> out(4, 0);
  for (size_t i = 0; i < g.size(); ++i) {
    for (size_t k = 1; k <= 4; ++k) out[k - 1] += g[i] * std::cos(static_cast<double>(k * i + k));
  }
  return out;
}

void expect_near(const Array& actual, const std::string& expected, double tolerance,
                 const std::string& what) {
  const bool sums = expected.starts_with('#');
  const std::vector<double> want = torch_cases::numbers(sums ? expected.substr(1) : expected);
  std::vector<double> got = sp::astype(actual, sp::float64).to_vector<double>();
  if (sums) got = sums_of(got);
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = 1;
  for (const double w : want) scale = std::isfinite(w) ? std::max(scale, std::abs(w)) : scale;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i]))
      EXPECT_NEAR(got[i], want[i], tolerance * scale) << what << " element " << i;
    else
      EXPECT_EQ(std::isnan(got[i]), std::isnan(want[i])) << what << " element " << i;
  }
}

void expect_same(const Array& a, const Array& b, const std::string& what) {
  EXPECT_EQ(a.shape(), b.shape()) << what;
  EXPECT_TRUE(sp::allclose(a, b, {.rtol = 1e-11, .atol = 1e-12, .equal_nan = true})) << what;
}

void compare(const Case& c, const Function& f) {
  const std::string what = std::string(c.op) + "(" + c.options + "; " + c.inputs + ")";
  const Options options(c.options);
  const Inputs in = inputs_of(c.inputs);
  const auto weighted = [&](const Inputs& in) {
    const Array y = f(in, options);
    const Array w = sp::cos(sp::arange(y.size(), sp::float64)).reshape(y.shape());
    return std::pair{sp::sum(y * w), y};
  };
  const auto [result, gradients] = sp::value_and_grad(weighted)(in);
  expect_near(result.second, c.y, 1e-10, what);
  std::vector<std::string> expected = parts(c.gradients, ';');
  ASSERT_EQ(expected.size(), in.size()) << what;
  for (size_t i = 0; i < in.size(); ++i)
    expect_near(gradients[i], expected[i], 1e-9, what + " gradient " + std::to_string(i));

  const auto at_options = [&](const Inputs& in) { return f(in, options); };
  expect_same(sp::jit(at_options)(in), result.second, what + " jit");
  const auto loss = [&](const Inputs& in) { return weighted(in).first; };
  const Inputs compiled = sp::jit(sp::grad(loss))(in);
  for (size_t i = 0; i < in.size(); ++i)
    expect_same(compiled[i], gradients[i], what + " jit of gradient " + std::to_string(i));
  Inputs both, flipped, narrow;
  for (const Array& x : in) {
    flipped.push_back(sp::flip(x));
    both.push_back(sp::stack({x, flipped.back()}));
    narrow.push_back(sp::astype(x, sp::float32));
  }
  const Array mapped = sp::vmap(at_options)(both);
  expect_same(mapped[0], result.second, what + " vmap");
  expect_same(mapped[1], f(flipped, options), what + " vmap");
  const Array rough = f(narrow, options);
  EXPECT_EQ(rough.dtype(), sp::float32) << what;
  expect_near(rough, c.y, 1e-5, what + " f32");
}

}  // namespace

void check(const std::string& op, size_t least, const Function& f) {
  size_t count = 0;
  for (const Case& c : kCases) {
    if (op != c.op) continue;
    ++count;
    compare(c, f);
  }
  EXPECT_GE(count, least) << op;
}

Array signs(const sp::Shape& shape, const Array& x) {
  return sp::astype(sp::where(torch_cases::wave(shape, 1.3) > 0, 1.0, -1.0), x.dtype());
}

Array weight_of(const Options& o, const Array& x) {
  return o.flag("weight") ? sp::array({0.5, 2.0, 1.25}, x.dtype()) : Array();
}

sp::Shape list_of(const Options& o, const std::string& name) {
  sp::Shape out;
  for (const std::string& n : parts(o.text(name), 'x')) out.push_back(std::stoll(n));
  return out;
}

nn::WindowArg sizes_of(const Options& o, const std::string& name) {
  const sp::Shape out = list_of(o, name);
  return out.rank() == 1 ? nn::WindowArg(out[0]) : nn::WindowArg(out);
}

}  // namespace functional_cases
