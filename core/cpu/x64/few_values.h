// SPDX-License-Identifier: Apache-2.0
// Which numbers a value can be, where these are few: those of bytes, and what constants make of
// them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "spruce/core/dtype.h"
#include "spruce/core/scalar/program.h"

namespace spruce::cpu::x64 {

/// By instruction of a program, for f32.
class FewValues {
 public:
  void set_constant(int id, float value) { values_[id] = {value}; }
  /// `id` is what an i8 or u8 is as a float.
  void set_byte(int id, Dtype byte);
  /// `id` is a sum, difference, product or quotient.
  void set_result(scalar::Op op, int a, int b, int id);
  /// Instructions from that one on are gone.
  void rewind(int mark) { values_.erase(values_.lower_bound(mark), values_.end()); }

  /// The divisor of a / b, if it is a constant by which the product with its reciprocal, corrected
  /// once, is the quotient of each value of a.
  std::optional<float> divisor_by_product(int a, int b) const;

 private:
  const std::vector<float>* of(int id) const;

  std::map<int, std::vector<float>> values_;
};

}  // namespace spruce::cpu::x64
