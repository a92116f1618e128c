// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "spruce/core/error.h"

namespace spruce {

/// What the E that f throws says, up to `end`: by default without the line of the source, all of it
/// for nullptr.
template <class E, class F>
std::string message(const F& f, const char* end = "\n  at ") {
  try {
    (void)f();
  } catch (const E& e) {
    const std::string what = e.what();
    return end == nullptr ? what : what.substr(0, what.find(end));
  }
  return "nothing was thrown";
}
/// The same of any Error.
template <class F>
std::string message(const F& f, const char* end = "\n  at ") {
  return message<Error, F>(f, end);
}

}  // namespace spruce
