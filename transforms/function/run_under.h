// SPDX-License-Identifier: Apache-2.0
// The user's function under the interpreter of a transform.
#pragma once

#include "spruce/core/interpreter.h"

namespace spruce::internal {

/// Runs `f` under `i`, outside of any operation's place.
template <class F>
auto run_under(Interpreter& i, F&& f) {
  const InterpreterScope scope(&i);
  const LocReset reset;
  return f();
}

}  // namespace spruce::internal
