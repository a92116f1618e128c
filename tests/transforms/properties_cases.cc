// SPDX-License-Identifier: Apache-2.0
// Which cases there are, and their inputs: the same on every run.
#include <algorithm>
#include <numeric>
#include <random>

#include "spruce/core/default_device.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/to_device.h"
#include "spruce/transforms/compile/placement.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace {

std::mt19937_64 engine(const Case& c, int draw) {
  uint64_t seed = 1469598103934665603u;
  for (const char* s = c.p->name; *s != '\0'; ++s)
    seed = (seed ^ static_cast<uint8_t>(*s)) * 1099511628211u;
  return std::mt19937_64(seed + 1000 * c.number + static_cast<uint64_t>(draw));
}

double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

Array from_numbers(const std::vector<double>& values, const Aval& aval) {
  if (is_floating(aval.dtype)) return astype(array(values, aval.shape), aval.dtype);
  std::vector<int64_t> whole;
  for (const double x : values) whole.push_back(static_cast<int64_t>(std::floor(x)));
  return astype(array(whole, aval.shape), aval.dtype);
}

// Numbers that were given: other draws have floats moved towards zero, which keeps an order, and
// integers turned around, which keeps their range.
std::vector<double> given(const SampleInput& in, int draw) {
  std::vector<double> values = in.values;
  if (is_floating(in.aval.dtype)) {
    for (double& x : values) x *= 1 - draw / 16.0;
  } else if (draw % 2 == 1) {
    std::reverse(values.begin(), values.end());
  }
  return values;
}

// Equal steps over the range, mixed. No number is zero in a range around zero.
std::vector<size_t> mixed(size_t n, std::mt19937_64& random) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

Case retyped(Case c, Dtype from, Dtype to) {
  for (SampleInput& in : c.sample.in) {
    if (in.aval.dtype == from) in.aval.dtype = to;
  }
  return c;
}

bool has(const Case& c, Dtype d) {
  return std::any_of(c.sample.in.begin(), c.sample.in.end(),
                     [&](const SampleInput& in) { return in.aval.dtype == d; });
}

bool takes(const Case& c) {
  std::vector<const Aval*> types;
  for (const SampleInput& in : c.sample.in) types.push_back(&in.aval);
  try {
    (void)output_avals(*c.p, types, c.sample.params);
    return true;
  } catch (const DtypeError&) {
    return false;
  } catch (const ValueError&) {
    return false;
  }
}

// Bodies of loops and branches are where arrays are made.
Params placed(const Params& params) {
  return params.map_graphs([](const GraphPtr& g) {
    return std::make_shared<const Graph>(spruce::internal::on_device(*g, DefaultDevice::index()));
  });
}

std::vector<Case> samples_of(const Primitive& p, bool fixed) {
  std::vector<Case> cases;
  const std::vector<Sample> samples = p.samples();
  for (size_t n = 0; n < samples.size(); ++n) {
    if (samples[n].fixed_dtypes != fixed) continue;
    cases.push_back({&p, n, samples[n]});
    cases.back().sample.params = placed(samples[n].params);
  }
  return cases;
}

}  // namespace

std::string Case::text() const {
  std::string s = std::string(p->name) + ", sample " + std::to_string(number) + ":";
  for (const SampleInput& in : sample.in) s += " " + to_string(in.aval);
  return sample.params.empty() ? s : s + " [" + sample.params.text() + "]";
}

const std::vector<Covered>& covered_elsewhere() {
  static const std::vector<Covered> all = {
      {"axis_index", "Collectives"},  {"check", "Debugging"},
      {"custom_call", "CustomRules"}, {"custom_vjp_tangent", "CustomRules"},
      {"debug_print", "Debugging"},   {"fused", "Fused"},
      {"host_call", "HostCall"},      {"linear_solve", "Implicit"},
      {"psum", "Collectives"},        {"random_binomial", "Variates"},
      {"random_gamma", "Variates"},   {"random_gamma_grad", "Variates"},
      {"random_poisson", "Variates"}};
  return all;
}

std::vector<const Primitive*> primitives_with_samples() {
  std::vector<const Primitive*> all;
  for (const Primitive* p : all_primitives()) {
    const auto is_p = [&](const Covered& c) { return std::string_view(c.primitive) == p->name; };
    const auto& elsewhere = covered_elsewhere();
    if (std::none_of(elsewhere.begin(), elsewhere.end(), is_p) && p->samples != nullptr)
      all.push_back(p);
  }
  return all;
}

std::vector<Case> cases_in(const Primitive& p, Dtype dtype) {
  std::vector<Case> cases;
  for (const Case& c : samples_of(p, false)) {
    if (dtype == float32 || has(c, float32)) cases.push_back(retyped(c, float32, dtype));
  }
  return cases;
}

std::vector<Case> fixed_cases(const Primitive& p) { return samples_of(p, true); }

std::vector<Case> all_cases(const Primitive& p, Dtype dtype) {
  std::vector<Case> cases = cases_in(p, dtype);
  for (Case& c : samples_of(p, true)) cases.push_back(std::move(c));
  return cases;
}

std::vector<Case> integer_cases(const Primitive& p) {
  std::vector<Case> cases;
  for (const Case& c : samples_of(p, false)) {
    const Dtype from = has(c, float32) ? float32 : int32;
    for (const Dtype to : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
      Case other = retyped(c, from, to);
      if (takes(other)) cases.push_back(std::move(other));
    }
  }
  return cases;
}

Arrays inputs(const Case& c, int draw) {
  std::mt19937_64 random = engine(c, draw);
  size_t distinct = 0;
  for (const SampleInput& in : c.sample.in)
    distinct += in.distinct ? static_cast<size_t>(in.aval.numel()) : 0;
  const std::vector<size_t> order = mixed(distinct, random);
  size_t next = 0;
  Arrays out;
  for (const SampleInput& in : c.sample.in) {
    const auto n = static_cast<size_t>(in.aval.numel());
    // A whole number up to `high` is as likely as the others.
    const double width = in.high - in.low + (is_floating(in.aval.dtype) ? 0 : 1);
    std::vector<double> values = given(in, draw);
    if (values.empty() && n > 0) {
      for (size_t i = 0; i < n; ++i) {
        const double share = in.distinct ? (static_cast<double>(order[next++]) + 0.381966) /
                                               static_cast<double>(distinct)
                                         : unit(random);
        values.push_back(in.low + width * share);
      }
    } else if (in.distinct) {
      next += n;
    }
    // Numbers as well are where arrays are made, so that all have the same place.
    out.push_back(to_device(from_numbers(values, in.aval), device_at(DefaultDevice::index())));
  }
  return out;
}

Arrays directions(const Arrays& like, uint64_t seed) {
  std::mt19937_64 random(seed);
  Arrays out;
  for (const Array& a : like) {
    std::vector<double> values;
    for (int64_t i = 0; i < a.size(); ++i) values.push_back(2 * unit(random) - 1);
    out.push_back(to_device(astype(array(values, a.shape()), a.dtype()), a.device()));
  }
  return out;
}

}  // namespace spruce::properties
