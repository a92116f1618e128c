// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/path.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

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

void make_folder(const char* op, const std::string& path) {
  check_path(op, path);
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) throw IoError(std::string(op) + ": the folder " + path + ": " + problem.message());
}

bool write_all(int file, const void* data, uint64_t n) {
  const auto* at = static_cast<const char*>(data);
  while (n > 0) {
    const ssize_t done = ::write(file, at, std::min<uint64_t>(n, 1 << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    at += done;
    n -= static_cast<uint64_t>(done);
  }
  return true;
}

}  // namespace spruce::io::internal
