// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/effects/debugging.h"

#include <algorithm>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce::internal {
namespace {

// Text in which {{ and }} stand for braces.
std::string with_doubled_braces(const std::string& text) {
  std::string out;
  for (const char c : text) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

// The parameters, if the format fits that number of values; those that are text become part of it.
Params message_params(const std::string& op, const std::string& format,
                      const std::vector<MessageValue>& values) {
  std::string problem;
  const std::vector<std::string> pieces = format_pieces(format, &problem);
  if (!problem.empty()) throw ValueError(op + ": \"" + format + "\" " + problem);
  if (pieces.size() - 1 != values.size()) {
    throw ValueError(op + ": \"" + format + "\" has " + std::to_string(pieces.size() - 1) +
                     " places {} for values, and " + std::to_string(values.size()) +
                     " values were given; write one {} for each");
  }
  const auto is_text = [](const MessageValue& v) { return v.text.has_value(); };
  if (std::none_of(values.begin(), values.end(), is_text))
    return Params::make(MessageParams{format, current_place(), {}, {}});
  std::string whole = with_doubled_braces(pieces[0]);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<std::string>& text = values[i].text;
    whole += (text ? with_doubled_braces(*text) : "{}") + with_doubled_braces(pieces[i + 1]);
  }
  return Params::make(MessageParams{whole, current_place(), {}, {}});
}

// Appends the arrays among the values.
void append_arrays(const char* op, const std::vector<MessageValue>& values,
                   std::vector<Array>& out) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].text) continue;
    require_defined(op, ("value " + std::to_string(i)).c_str(), values[i].array);
    out.push_back(values[i].array);
  }
}

}  // namespace

void debug_print(const std::string& format, const std::vector<MessageValue>& values) {
  const Params params = message_params("debug::print", format, values);
  std::vector<Array> in;
  append_arrays("debug::print", values, in);
  (void)bind_all(debug_print_p, in, params);
}

void check(const Array& condition, const std::string& message,
           const std::vector<MessageValue>& values) {
  const Params params = message_params("check", message, values);
  require_defined("check", "condition", condition);
  if (condition.dtype() != Dtype::kBool) {
    throw DtypeError("check: the condition is " + to_string(condition.aval()) +
                     "; it must be bool: compare the array with something");
  }
  std::vector<Array> in{condition};
  append_arrays("check", values, in);
  (void)bind_all(check_p, in, params);
}

}  // namespace spruce::internal
