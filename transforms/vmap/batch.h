// SPDX-License-Identifier: Apache-2.0
// vmap's interpreter: values that have one more axis, in front, than the user's function sees.
#pragma once

#include <string>

#include "spruce/core/interpreter.h"

namespace spruce::internal {

class BatchInterpreter final : public Interpreter {
 public:
  BatchInterpreter(int64_t size, std::string axis_name)
      : size_(size), axis_name_(std::move(axis_name)) {}

  /// A value with the mapped axis in front; the function sees its slices.
  Array make(const Array& batched) const;
  /// What stands behind a result: with the mapped axis in front if this owns it.
  Array unwrap(const Array& a) const;
  int64_t size() const { return size_; }
  const std::string& axis_name() const { return axis_name_; }

  void process(const Primitive& p, std::span<const Array> in, const Params& params,
               std::span<Array> out) override;
  std::vector<Array> process_custom(const std::shared_ptr<const CustomFunction>& f,
                                    std::span<const Array> in) override;
  const char* name() const override { return "vmap"; }
  bool find_axis(const std::string& name, int64_t* size) const override;

 private:
  int64_t size_;
  std::string axis_name_;
};

}  // namespace spruce::internal
