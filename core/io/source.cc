// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "spruce/core/io/path.h"

namespace spruce::io::internal {

void Source::fail(uint64_t offset, const std::string& problem) const {
  throw IoError(std::string(op_) + ": " + name_ + ": at byte " + std::to_string(offset) + ": " +
                problem);
}

void Source::require(uint64_t offset, uint64_t n, const char* what) const {
  if (offset > size_ || n > size_ - offset) {
    fail(std::min(offset, size_), std::string(what) + " takes " + std::to_string(n) +
                                      " bytes from byte " + std::to_string(offset) +
                                      " on and there are only " + std::to_string(size_) +
                                      " bytes in all; the file is cut short or damaged");
  }
}

void Source::read(uint64_t offset, void* out, uint64_t n, const char* what) const {
  require(offset, n, what);
  if (n > 0) read_at(offset, out, n);
}

std::vector<uint8_t> Source::bytes(uint64_t offset, uint64_t n, const char* what) const {
  require(offset, n, what);
  std::vector<uint8_t> out;
  try {
    out.resize(n);
  } catch (const std::exception&) {  // bad_alloc, or length_error
    fail(offset,
         std::string(what) + " has " + std::to_string(n) + " bytes, more than there is memory for");
  }
  if (n > 0) read_at(offset, out.data(), n);
  return out;
}

FileSource::FileSource(const char* op, const std::string& path) : Source(op, path) {
  check_path(op, path);
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0)
    throw IoError(std::string(op) + ": " + path + ": cannot be opened: " + std::strerror(errno));
  struct stat status;
  std::string problem;
  if (::fstat(file_, &status) != 0)
    problem = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    problem = S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file";
  if (!problem.empty()) {
    ::close(file_);
    throw IoError(std::string(op) + ": " + path + ": cannot be read: " + problem);
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

FileSource::~FileSource() { ::close(file_); }

void FileSource::read_at(uint64_t offset, void* out, uint64_t n) const {
  auto* at = static_cast<uint8_t*>(out);
  while (n > 0) {
    const ssize_t got =
        ::pread(file_, at, std::min<uint64_t>(n, 1 << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(offset, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) fail(offset, "the file has become shorter while it was read");
    at += got;
    offset += static_cast<uint64_t>(got);
    n -= static_cast<uint64_t>(got);
  }
}

MemorySource::MemorySource(const char* op, std::string name, std::vector<uint8_t> bytes)
    : Source(op, std::move(name)), bytes_(std::move(bytes)) {
  size_ = bytes_.size();
}

void MemorySource::read_at(uint64_t offset, void* out, uint64_t n) const {
  std::memcpy(out, bytes_.data() + offset, n);
}

uint64_t byte_count(const Source& source, uint64_t offset, const Aval& aval) {
  try {
    check_shape(source.op(), aval.shape, size_of(aval.dtype));
  } catch (const ShapeError&) {
    source.fail(offset, "the shape " + to_string(aval.shape) +
                            " is impossible: it has a negative size or too many bytes");
  }
  return static_cast<uint64_t>(aval.bytes());
}

void check_bools(const Source& source, uint64_t offset, const Array& a) {
  if (!is_bool(a.dtype())) return;
  const auto* bytes = static_cast<const uint8_t*>(spruce::internal::mutable_data(a));
  for (int64_t i = 0, n = a.size(); i < n; ++i) {
    if (bytes[i] > 1) {
      source.fail(offset + static_cast<uint64_t>(i),
                  "a bool is stored as " + std::to_string(bytes[i]) + ", not as 0 or 1");
    }
  }
}

Array read_array(const Source& source, uint64_t offset, const Aval& aval) {
  const uint64_t n = byte_count(source, offset, aval);
  source.require(offset, n, "the data of an array");
  const Array a = spruce::internal::make_array(aval);
  source.read(offset, spruce::internal::mutable_data(a), n, "the data of an array");
  check_bools(source, offset, a);
  return a;
}

void swap_bytes(const Array& a) {
  const auto width = static_cast<size_t>(size_of(a.dtype()));
  auto* at = static_cast<uint8_t*>(spruce::internal::mutable_data(a));
  if (width == 1) return;
  for (int64_t i = 0, n = a.size(); i < n; ++i, at += width) std::reverse(at, at + width);
}

void check_saved(const char* op, const std::string& name, const Array& a) {
  if (!a.defined()) {
    throw ValueError(std::string(op) + ": the array '" + name +
                     "' is empty (default-constructed); give it a value before it is saved");
  }
  if (a.impl()->concrete() == nullptr) {
    throw TracerError(std::string(op) + ": the array '" + name + "' of type " +
                      to_string(a.aval()) +
                      " has no value while its function is traced; return it and save it outside");
  }
}

Array saved_array(const char* op, const std::string& name, const Array& a) {
  check_saved(op, name, a);
  return spruce::internal::on_host(a);
}

}  // namespace spruce::io::internal
