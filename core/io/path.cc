// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/path.h"

#include "spruce/core/error.h"

namespace spruce::io::internal {

void check_path(const char* op, const std::string& path) {
  const size_t at = path.find('\0');
  if (at == path.npos) return;
  std::string shown;
  for (const char c : path) shown += c == '\0' ? "\\0" : std::string(1, c);
  throw IoError(std::string(op) + ": " + shown + ": the path has a NUL byte at " +
                std::to_string(at) + ", and no file has such a name; give the path without it");
}

}  // namespace spruce::io::internal
