// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/effects/debugging.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce::internal {
namespace {

// The parameters, if the format fits that number of values.
Params message_params(const std::string& op, const std::string& format, size_t values) {
  std::string problem;
  const size_t places = format_pieces(format, &problem).size() - 1;
  if (!problem.empty()) throw ValueError(op + ": \"" + format + "\" " + problem);
  if (places != values) {
    throw ValueError(op + ": \"" + format + "\" has " + std::to_string(places) +
                     " places {} for values, and " + std::to_string(values) +
                     " values were given; write one {} for each");
  }
  return Params::make(MessageParams{format, current_place(), {}, {}});
}

void check_defined(const char* op, const std::vector<Array>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    require_defined(op, ("value " + std::to_string(i)).c_str(), values[i]);
}

}  // namespace

void debug_print(const std::string& format, const std::vector<Array>& values) {
  const Params params = message_params("debug::print", format, values.size());
  check_defined("debug::print", values);
  (void)bind_all(debug_print_p, values, params);
}

void check(const Array& condition, const std::string& message, const std::vector<Array>& values) {
  const Params params = message_params("check", message, values.size());
  require_defined("check", "condition", condition);
  if (condition.dtype() != Dtype::kBool) {
    throw DtypeError("check: the condition is " + to_string(condition.aval()) +
                     "; it must be bool: compare the array with something");
  }
  check_defined("check", values);
  std::vector<Array> in{condition};
  in.insert(in.end(), values.begin(), values.end());
  (void)bind_all(check_p, in, params);
}

}  // namespace spruce::internal
