// SPDX-License-Identifier: Apache-2.0
// The property suite: every primitive of the registry x each of its samples x dtype x rule. What
// all of its files share: the cases, their random inputs, comparisons and finite differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce::properties {

using Arrays = std::vector<Array>;
using Function = std::function<Arrays(const Arrays&)>;

/// One sample of a primitive in one dtype.
struct Case {
  const Primitive* p;
  size_t number;
  Sample sample;

  /// "pad, sample 3: f64[2,3] f64[] [low=(0,1) ...]"
  std::string text() const;
};

/// The primitives that exist only inside of transforms, and the suite that covers each.
struct Covered {
  const char* primitive;
  const char* suite;
};
const std::vector<Covered>& covered_elsewhere();
/// All primitives but those.
std::vector<const Primitive*> primitives_with_samples();

/// The samples with f32 inputs in `dtype` instead; those of fixed dtypes are left out.
std::vector<Case> cases_in(const Primitive& p, Dtype dtype);
/// The samples of fixed dtypes.
std::vector<Case> fixed_cases(const Primitive& p);
/// cases_in(p, dtype), then fixed_cases(p).
std::vector<Case> all_cases(const Primitive& p, Dtype dtype);
/// The samples in integer dtypes and bool, as far as the primitive takes them.
std::vector<Case> integer_cases(const Primitive& p);

/// The inputs of a case; another draw has other numbers of the same kind.
Arrays inputs(const Case& c, int draw = 0);
/// Numbers in [-1, 1] with the types of `like`.
Arrays directions(const Arrays& like, uint64_t seed);
Arrays outputs(const Case& c, const Arrays& in);
/// The outputs that have a derivative.
Arrays floating(const Arrays& a);

/// The primitive as a function of the inputs `active`; the others are closed over.
struct Partial {
  Case c;
  Arrays all;
  std::vector<size_t> active;

  /// The floating outputs.
  Arrays operator()(const Arrays& x) const;
  Arrays point() const;
};
/// All floating inputs at once, then each by itself; none where inputs or outputs have no
/// derivative.
std::vector<Partial> partials(const Case& c);
/// True if all floating inputs and outputs are f64: finite differences make sense.
bool is_double(const Partial& f);

/// The relative error that the coarsest floating dtype among these allows.
double tolerance(const Arrays& a);
/// The sum of all products.
double dot(const Arrays& a, const Arrays& b);
/// The derivative of f at x along v by differences of fourth order.
Arrays differences(const Function& f, const Arrays& x, const Arrays& v);

/// Equal types, and elements that differ by no more than `tol` of the largest one or of 1.
void expect_close(const Arrays& got, const Arrays& want, double tol, std::string_view what);
/// Equal types and equal bits, except that one NaN is like another.
void expect_same(const Arrays& got, const Arrays& want, std::string_view what);
void expect_near(double got, double want, double tol, std::string_view what);

/// Runs the check of one case, counts it, and turns exceptions into failures that name it.
void run_case(const Case& c, const std::function<void()>& check);

/// A test for each primitive.
class PerPrimitive : public testing::TestWithParam<const Primitive*> {
 protected:
  const Primitive& p() const { return *GetParam(); }
};
std::string name_of(const testing::TestParamInfo<const Primitive*>& info);

}  // namespace spruce::properties
