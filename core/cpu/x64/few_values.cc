// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/few_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "spruce/core/integer_range.h"

namespace spruce::cpu::x64 {
namespace {

float result(scalar::Op op, float a, float b) {
  switch (op) {
    case scalar::Op::kAdd:
      return a + b;
    case scalar::Op::kSub:
      return a - b;
    case scalar::Op::kMul:
      return a * b;
    default:
      return a / b;
  }
}

}  // namespace

const std::vector<float>* FewValues::of(int id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? nullptr : &found->second;
}

void FewValues::set_byte(int id, Dtype byte) {
  std::vector<float>& values = values_[id];
  values.clear();
  const auto last = static_cast<int64_t>(largest_integer(byte));
  for (int64_t i = smallest_integer(byte); i <= last; ++i) values.push_back(static_cast<float>(i));
}

void FewValues::set_result(scalar::Op op, int a, int b, int id) {
  const std::vector<float>*x = of(a), *y = of(b);
  if (x == nullptr || y == nullptr || std::min(x->size(), y->size()) > 1) return;
  std::vector<float> values;
  for (const float u : *x) {
    for (const float v : *y) values.push_back(result(op, u, v));
  }
  values_[id] = std::move(values);
}

std::optional<float> FewValues::divisor_by_product(int a, int b) const {
  const std::vector<float>*x = of(a), *y = of(b);
  if (x == nullptr || y == nullptr || y->size() > 1) return {};
  const float by = y->front(), reciprocal = 1.0f / by;
  const auto is_quotient = [&](float u) {
    const float near = u * reciprocal;
    const float corrected = std::fma(std::fma(near, -by, u), reciprocal, near);
    return std::bit_cast<uint32_t>(corrected) == std::bit_cast<uint32_t>(u / by);
  };
  if (!std::all_of(x->begin(), x->end(), is_quotient)) return {};
  return by;
}

}  // namespace spruce::cpu::x64
