// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "spruce/core/error.h"

namespace spruce {

/// What the Error that f throws says, up to `end`: by default without the line of the source.
template <class F>
std::string message(const F& f, const char* end = "\n  at ") {
  try {
    (void)f();
  } catch (const Error& e) {
    const std::string what = e.what();
    return what.substr(0, what.find(end));
  }
  return "nothing was thrown";
}

}  // namespace spruce
