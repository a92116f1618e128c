// SPDX-License-Identifier: Apache-2.0
// The time, for what examples say about their speed.
#pragma once

#include <chrono>

/// Seconds since some fixed moment.
inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
