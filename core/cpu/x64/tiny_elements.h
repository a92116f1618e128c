// SPDX-License-Identifier: Apache-2.0
// The elements of tiny arrays and where they lie: in all lanes of a vector, or in one.
#pragma once

#include <functional>
#include <map>
#include <span>

#include "spruce/core/cpu/x64/builder.h"
#include "spruce/core/cpu/x64/tiny_lower.h"

namespace spruce::cpu::x64 {

/// Adds one operation on vectors; -1 where there is no code.
using Operation = std::function<int(Builder&, std::span<const int>)>;

class Elements {
 public:
  enum class Width : uint8_t { k32, k64, kMixed };

  /// The first `free_inputs` lie as their readers want, the others in memory in row-major order.
  Elements(TinyProgram& program, Width width, int free_inputs);

  bool wide() const { return width_ == Width::k64; }
  Dtype dtype(int element) const { return all_[static_cast<size_t>(element)].dtype; }

  /// New elements, by number.
  std::vector<int> inputs(int input, Dtype dtype, int64_t count);
  std::vector<int> constants(const Array& value);

  /// Applies an operation to lists of elements, in row-major order of `shape`; several at once
  /// where that seems cheaper. `weight` is the cost of one application beside that of moving an
  /// element.
  bool apply(const Operation& operation, double weight, const std::vector<std::vector<int>>& in,
             Dtype out, const Shape& shape, std::vector<int>& result);

  /// A vector whose lanes are these elements; of one element, in all lanes.
  int vector(const std::vector<int>& list);
  /// Makes sure that an input element is loaded.
  void need_load(int element);

  void store(int output, const std::vector<int>& list);
  void store_carry(int load, int vector);

 private:
  struct Element {
    Dtype dtype;
    int uniform = -1;  // the vector that has it in all lanes
    int pack = -1;     // the vector that has it in one
    int lane = -1;
    int input = -1, at = -1;
    bool constant = false;
    uint64_t bits = 0;
  };
  using Lists = std::vector<std::vector<int>>;

  Element& of(int element) { return all_[static_cast<size_t>(element)]; }
  const Element& of(int element) const { return all_[static_cast<size_t>(element)]; }
  int add(Element e) {
    all_.push_back(e);
    return static_cast<int>(all_.size()) - 1;
  }
  void set_width(Dtype dtype) { builder_.set_wide(dtype == Dtype::kFloat64 || wide()); }

  int uniform(int element);
  int pack(const std::vector<int>& list);
  int assemble(const std::vector<int>& list);
  int permuted(int vector, const std::vector<int>& lanes, const std::vector<int>& wanted);
  int load(int input, std::vector<int> elements);
  bool in_lanes(const std::vector<int>& list) const;
  bool loadable(const std::vector<int>& list) const;
  bool all_constant(const std::vector<int>& list) const;
  double cost(const std::vector<int>& list) const;
  double uniform_cost(int element) const;
  bool apply_unique(const Operation& operation, double weight, const Lists& in, Dtype out,
                    const Shape& shape, std::vector<int>& result);
  bool apply_scalar(const Operation& operation, const Lists& in, Dtype out,
                    std::vector<int>& result);
  Lists groups(const Shape& shape, int axis) const;

  TinyProgram& program_;
  Width width_;
  int free_inputs_;
  size_t lanes_;
  Builder builder_;
  std::vector<Element> all_;
  std::map<std::vector<int>, int> packs_;
};

}  // namespace spruce::cpu::x64
