// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "spruce/core/error.h"
#include "spruce/core/io/path.h"

namespace spruce::io::internal {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// The file that a link leads to: it is the one that is replaced, not the link.
std::string follow_links(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string out = resolved;
  std::free(resolved);
  return out;
}

}  // namespace

AtomicFile::AtomicFile(const char* op, const std::string& path)
    : op_(op), path_(path), target_(follow_links(path)) {
  check_path(op, path);
  struct stat old;
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    throw IoError(std::string(op_) + ": " + path_ +
                  ": is no regular file; give the path of a file");
  }
  static std::atomic<uint32_t> next{0};
  const std::string stem = folder_of(target_) + "/.spruce-" + std::to_string(::getpid()) + "-";
  do {
    temporary_ = stem + std::to_string(next.fetch_add(1)) + ".tmp";
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) {
    temporary_.clear();
    fail("no file can be made in its folder");
  }
  if (exists) (void)!::fchmod(file_, old.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what) const {
  throw IoError(std::string(op_) + ": " + path_ + ": " + what + ": " + std::strerror(errno));
}

void AtomicFile::write(const void* data, uint64_t n) {
  if (!write_all(file_, data, n)) fail("cannot be written, the old file is unchanged");
  position_ += n;
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0) fail("cannot be brought to the disk, the old file is unchanged");
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) fail("cannot be closed, the old file is unchanged");
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail("cannot be put in place, the old file is unchanged");
  temporary_.clear();
  // The new name is on the disk once its folder is; not every file system can do that on request.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
}

}  // namespace spruce::io::internal
