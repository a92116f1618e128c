// SPDX-License-Identifier: Apache-2.0
// A disk that is full after so many bytes.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace spruce::io {

/// No file of this process may grow past `bytes` while it lives; writing further is EFBIG.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_;
};

}  // namespace spruce::io
