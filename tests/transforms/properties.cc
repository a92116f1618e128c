// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/properties.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>

#include "spruce/core/ops/shape.h"

namespace spruce::properties {
namespace {

int64_t case_count = 0;

class Report : public testing::Environment {
 public:
  void TearDown() override {
    if (case_count > 0) std::cout << "properties: " << case_count << " cases\n";
  }
};
const testing::Environment* const report = testing::AddGlobalTestEnvironment(new Report);

std::vector<double> numbers(const Array& a) { return astype(a, float64).to_vector<double>(); }

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

Arrays outputs(const Case& c, const Arrays& in) { return bind_all(*c.p, in, c.sample.params); }

Arrays floating(const Arrays& a) {
  Arrays out;
  for (const Array& x : a) {
    if (is_floating(x.dtype())) out.push_back(x);
  }
  return out;
}

Arrays Partial::operator()(const Arrays& x) const {
  Arrays in = all;
  for (size_t i = 0; i < active.size(); ++i) in[active[i]] = x[i];
  return floating(outputs(c, in));
}

Arrays Partial::point() const {
  Arrays x;
  for (const size_t i : active) x.push_back(all[i]);
  return x;
}

std::vector<Partial> partials(const Case& c) {
  const Arrays in = inputs(c);
  std::vector<size_t> active;
  for (size_t i = 0; i < in.size(); ++i) {
    if (is_floating(in[i].dtype())) active.push_back(i);
  }
  if (active.empty() || floating(outputs(c, in)).empty()) return {};
  std::vector<Partial> all = {{c, in, active}};
  if (active.size() > 1) {
    for (const size_t i : active) all.push_back({c, in, {i}});
  }
  return all;
}

bool is_double(const Partial& f) {
  const Arrays x = f.point(), y = f(x);
  const auto wide = [](const Array& a) { return a.dtype() == float64; };
  return std::all_of(x.begin(), x.end(), wide) && std::all_of(y.begin(), y.end(), wide);
}

double tolerance(const Arrays& a) {
  double tol = 1e-9;
  for (const Array& x : a) {
    if (x.dtype() == float32) tol = std::max(tol, 2e-5);
    if (x.dtype() == float16) tol = std::max(tol, 1e-2);
    if (x.dtype() == bfloat16) tol = std::max(tol, 6e-2);
  }
  return tol;
}

double dot(const Arrays& a, const Arrays& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    EXPECT_EQ(a[i].shape(), b[i].shape());
    const std::vector<double> x = numbers(a[i]), y = numbers(b[i]);
    for (size_t k = 0; k < std::min(x.size(), y.size()); ++k) sum += x[k] * y[k];
  }
  return sum;
}

Arrays differences(const Function& f, const Arrays& x, const Arrays& v) {
  constexpr double kStep = 1.0 / 2048;
  const auto at = [&](double h) {
    Arrays moved;
    for (size_t i = 0; i < x.size(); ++i) moved.push_back(x[i] + h * v[i]);
    return f(moved);
  };
  const Arrays near = at(kStep), back = at(-kStep), far = at(2 * kStep), far_back = at(-2 * kStep);
  Arrays out;
  for (size_t k = 0; k < near.size(); ++k) {
    out.push_back((8.0 * (near[k] - back[k]) - (far[k] - far_back[k])) / (12.0 * kStep));
  }
  return out;
}

void expect_close(const Arrays& got, const Arrays& want, double tol, std::string_view what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(to_string(got[i].aval()), to_string(want[i].aval())) << what << ", result " << i;
    const std::vector<double> a = numbers(got[i]), b = numbers(want[i]);
    double scale = 1;
    for (const double x : b) scale = std::isfinite(x) ? std::max(scale, std::abs(x)) : scale;
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_TRUE(same_number(a[k], b[k]) || std::abs(a[k] - b[k]) <= tol * scale)
          << what << ", result " << i << ", element " << k << ": " << a[k] << " instead of "
          << b[k];
    }
  }
}

void expect_same(const Arrays& got, const Arrays& want, std::string_view what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(to_string(got[i].aval()), to_string(want[i].aval())) << what << ", result " << i;
    const Array x = internal::on_host(got[i]), y = internal::on_host(want[i]);
    if (x.nbytes() == 0 || std::memcmp(internal::mutable_data(x), internal::mutable_data(y),
                                       static_cast<size_t>(x.nbytes())) == 0) {
      continue;
    }
    const std::vector<double> a = numbers(got[i]), b = numbers(want[i]);
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_TRUE(same_number(a[k], b[k])) << what << ", result " << i << ", element " << k << ": "
                                           << a[k] << " instead of " << b[k];
    }
  }
}

void expect_near(double got, double want, double tol, std::string_view what) {
  const double scale = std::max({1.0, std::abs(got), std::abs(want)});
  EXPECT_TRUE(same_number(got, want) || std::abs(got - want) <= tol * scale)
      << what << ": " << got << " and " << want;
}

void run_case(const Case& c, const std::function<void()>& check) {
  ++case_count;
  const testing::ScopedTrace trace(__FILE__, __LINE__, c.text());
  try {
    check();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "threw: " << e.what();
  }
}

std::string name_of(const testing::TestParamInfo<const Primitive*>& info) {
  return info.param->name;
}

}  // namespace spruce::properties
