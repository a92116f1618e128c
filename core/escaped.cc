// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/escaped.h"

namespace spruce::internal {

bool RuleKindScope::captures(const Array& a) {
  if (!a.is_tracer()) return false;
  const uint64_t id = a.impl()->interpreter;
  for (const RuleKindScope* s = current_; s != nullptr; s = s->outer_) {
    if (s->around_ == id) return !Interpreter::is_running(id);
  }
  return false;
}

void throw_escaped(const std::string& who, const Array& value) {
  const std::string what = value.impl()->describe() + " of type " + to_string(value.aval());
  if (const RuleKind* kind = RuleKindScope::current()) {
    throw TracerError(std::string(kind->name) + ": a function that it was given captures " + what +
                      "; " + kind->advice);
  }
  throw TracerError(who + ": " + what +
                    " is used outside of the function that it was traced in, or on another thread; "
                    "return it from that function (or hand it on as a second result) instead of "
                    "storing it elsewhere");
}

}  // namespace spruce::internal
