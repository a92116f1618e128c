// SPDX-License-Identifier: Apache-2.0
// What the examples read from their command lines.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

/// The number behind `name`, as in "--steps 200"; `otherwise` where it is not given.
inline int64_t number_argument(int argc, char** argv, std::string_view name, int64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) return std::atoll(argv[i + 1]);
  }
  return otherwise;
}

/// The text behind `name`, as in "--text plays.txt"; `otherwise` where it is not given.
inline std::string text_argument(int argc, char** argv, std::string_view name,
                                 const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) return argv[i + 1];
  }
  return otherwise;
}
