// SPDX-License-Identifier: Apache-2.0
// Random convolutions for tests of kernels that some of them take.
#pragma once

#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <optional>
#include <random>

#include "spruce/core/memory.h"
#include "spruce/core/rules/conv_plan.h"
#include "spruce/core/workspace.h"

namespace spruce {

struct ConvCase {
  Shape lhs, rhs;
  ConvParams params;

  std::string text() const {
    return to_string(lhs) + to_string(rhs) + " " + Params::make(params).text();
  }
};

/// A source of cases, always the same for one seed.
class ConvCases {
 public:
  explicit ConvCases(uint64_t seed) : random_(seed) {}
  virtual ~ConvCases() = default;
  virtual ConvCase next() = 0;

  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  /// Small integers, whose sums are exact in f32 and f64.
  Array values(const Shape& shape) {
    std::vector<float> v(static_cast<size_t>(shape.numel()));
    for (float& x : v) x = static_cast<float>(draw(-4, 4));
    return reshape(array(v), shape);
  }

 protected:
  /// The first two axes of both operands of so many groups, of features or of samples, with axes
  /// swapped at random.
  ConvCase sized(int64_t batch, int64_t inputs, int64_t outputs, int64_t groups, bool of_batch) {
    ConvCase c;
    ConvParams& p = c.params;
    (of_batch ? p.batch_group_count : p.feature_group_count) = groups;
    p.lhs_swapped = draw(0, 1) == 0, p.rhs_swapped = draw(0, 1) == 0;
    p.out_swapped = draw(0, 1) == 0;
    c.lhs = {batch * p.batch_group_count, inputs * p.feature_group_count};
    if (p.lhs_swapped) std::swap(c.lhs[0], c.lhs[1]);
    c.rhs = {outputs * groups, inputs};
    if (p.rhs_swapped) c.rhs = {inputs * p.feature_group_count, outputs * p.batch_group_count};
    return c;
  }

 private:
  std::mt19937_64 random_;
};

/// The memory for a result, with guards at both ends that a kernel must not touch.
class Guarded {
 public:
  explicit Guarded(int64_t n) : memory_(static_cast<size_t>(n) + 2 * kGuard, kValue) {}
  float* data() { return memory_.data() + kGuard; }
  void expect(const std::vector<double>& want) const {
    for (size_t k = 0; k < kGuard; ++k) {
      ASSERT_EQ(memory_[k], kValue);
      ASSERT_EQ(memory_[memory_.size() - 1 - k], kValue);
    }
    const std::vector<double> got(memory_.begin() + kGuard, memory_.end() - kGuard);
    ASSERT_EQ(got, want);
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr float kValue = -77.0f;
  std::vector<float> memory_;
};

/// A kernel that takes some convolutions, and says how much workspace it needs for them.
struct ConvKernel {
  size_t (*workspace)(const ConvPlan&);
  bool (*run)(const ConvPlan&, const float*, const float*, float*);
};

/// Runs the case on one thread, in the workspace that the kernel asks for and no other memory,
/// against the kernel of f64; `plan` is empty if the kernel does not take it.
inline void check_kernel(ConvCases& cases, const ConvCase& c, const ConvKernel& kernel,
                         std::optional<ConvPlan>& plan) {
  plan.reset();
  const Array x = cases.values(c.lhs), w = cases.values(c.rhs);
  const Array want = conv_general(astype(x, float64), astype(w, float64), c.params);
  if (want.size() == 0) return;
  const ConvPlan problem = plan_conv(c.lhs, c.rhs, want.shape(), c.params);
  constexpr size_t kGuard = 64;
  Guarded out(want.size());
  const size_t bytes = kernel.workspace(problem);
  std::vector<char> workspace(bytes + 2 * kGuard, 55);
  char* const block =
      workspace.data() + kGuard - reinterpret_cast<uintptr_t>(workspace.data()) % kGuard;
  const int64_t allocated = memory::allocation_count();
  {
    const cpu::WorkspaceRegion region(block, bytes);
    const bool taken =
        kernel.run(problem, x.data<float>().data(), w.data<float>().data(), out.data());
    ASSERT_EQ(taken, bytes > 0);
  }
  if (bytes == 0) return;
  plan = problem;
  ASSERT_EQ(memory::allocation_count(), allocated);
  ASSERT_EQ(block[bytes], 55);
  ASSERT_NO_FATAL_FAILURE(out.expect(want.to_vector<double>()));
}

/// The convolution of small integers, as that of f64.
inline void expect_exact(ConvCases& cases, const Shape& lhs, const Shape& rhs,
                         const ConvParams& p) {
  const Array x = cases.values(lhs), w = cases.values(rhs);
  const Array want = conv_general(astype(x, float64), astype(w, float64), p);
  EXPECT_EQ(astype(conv_general(x, w, p), float64).to_vector<double>(), want.to_vector<double>())
      << to_string(lhs) << to_string(rhs);
}

/// The result on one thread, which is that on two and on five.
inline std::vector<float> on_any_threads(const Array& x, const Array& w, const ConvParams& p) {
  const int before = threads();
  std::vector<std::vector<float>> of;
  for (const int n : {1, 2, 5}) {
    set_threads(n);
    of.push_back(conv_general(x, w, p).to_vector<float>());
  }
  set_threads(before);
  EXPECT_EQ(of[0], of[1]);
  EXPECT_EQ(of[0], of[2]);
  return of[0];
}

inline void expect_the_same_for_any_threads(ConvCases& cases, int count) {
  const int before = threads();
  for (int i = 0; i < count; ++i) {
    const ConvCase c = cases.next();
    const Array x = random::normal(Key(i), c.lhs), w = random::normal(Key(i + 1), c.rhs);
    set_threads(1);
    const Array one = conv_general(x, w, c.params);
    set_threads(3);
    const Array three = conv_general(x, w, c.params);
    set_threads(before);
    ASSERT_EQ(one.to_vector<float>(), three.to_vector<float>()) << "case " << i;
  }
}

}  // namespace spruce
