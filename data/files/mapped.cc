// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/files/mapped.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "spruce/core/io/npy_format.h"
#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace internal {

/// The bytes of a whole file.
class Mapping {
 public:
  explicit Mapping(const io::internal::FileSource& file) : path_(file.name()), size_(file.size()) {
    if (size_ == 0) return;
    void* at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (at == MAP_FAILED)
      throw IoError(std::string(file.op()) + ": " + path_ +
                    ": cannot be mapped: " + std::strerror(errno));
    bytes_ = static_cast<const uint8_t*>(at);
  }
  ~Mapping() {
    if (bytes_ != nullptr) ::munmap(const_cast<uint8_t*>(bytes_), size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const uint8_t* bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  uint64_t size_;
  const uint8_t* bytes_ = nullptr;
};

}  // namespace internal

namespace {

// Throws ShapeError unless there is an axis to take from.
void check_axis(const io::internal::Source& source, const Aval& aval) {
  if (aval.shape.rank() > 0) return;
  throw ShapeError(std::string(source.op()) + ": " + source.name() + " is " + to_string(aval) +
                   ", one number; a mapped array needs an axis");
}

}  // namespace

MappedArray::MappedArray(std::shared_ptr<const internal::Mapping> file, Aval aval, uint64_t offset)
    : file_(std::move(file)), aval_(std::move(aval)), offset_(offset) {}

MappedArray MappedArray::npy(const std::string& path, Loc loc) {
  const OpScope at("MappedArray::npy", loc);
  const io::internal::FileSource source("MappedArray::npy", path);
  const io::internal::NpyHead head = io::internal::read_npy_head(source);
  if (head.big_endian()) {
    source.fail(head.text, "elements are '" + head.header.descr +
                               "', which cannot be mapped; load_npy() converts them");
  }
  if (head.reversed())
    source.fail(head.text, "the array is in Fortran order; save it in C order to map it");
  check_axis(source, head.aval);
  return {std::make_shared<internal::Mapping>(source), head.aval, head.data};
}

MappedArray MappedArray::raw(const std::string& path, Dtype dtype, const Shape& shape,
                             int64_t offset, Loc loc) {
  const OpScope at("MappedArray::raw", loc);
  check_shape("MappedArray::raw", shape, size_of(dtype));
  if (offset < 0) throw ValueError("MappedArray::raw: the offset is " + std::to_string(offset));
  const io::internal::FileSource source("MappedArray::raw", path);
  const Aval aval{dtype, false, shape};
  const auto begin = static_cast<uint64_t>(offset);
  check_axis(source, aval);
  source.require(begin, io::internal::byte_count(source, begin, aval), "the data of the array");
  return {std::make_shared<internal::Mapping>(source), aval, begin};
}

void MappedArray::check(const char* op, const Array& out) const {
  if (!is_bool(aval_.dtype)) return;
  const auto* bytes = static_cast<const uint8_t*>(spruce::internal::mutable_data(out));
  for (int64_t i = 0; i < out.size(); ++i) {
    if (bytes[i] > 1) {
      throw IoError(std::string(op) + ": " + file_->path() + ": a bool is stored as " +
                    std::to_string(bytes[i]) + ", not as 0 or 1");
    }
  }
}

Array MappedArray::take(std::span<const int64_t> indices, Loc loc) const {
  const OpScope at("MappedArray::take", loc);
  Aval aval = aval_;
  aval.shape[0] = static_cast<int64_t>(indices.size());
  check_shape("MappedArray::take", aval.shape, size_of(aval.dtype));
  const auto width = static_cast<size_t>(size() > 0 ? aval_.bytes() / size() : 0);
  const Array out = spruce::internal::make_array(aval);
  auto* to = static_cast<uint8_t*>(spruce::internal::mutable_data(out));
  for (const int64_t i : indices) {
    if (i < 0 || i >= size()) {
      throw IndexError("MappedArray::take: there is no entry " + std::to_string(i) + " in " +
                       file_->path() + ", which is " + to_string(aval_));
    }
    if (width > 0)
      std::memcpy(to, file_->bytes() + offset_ + static_cast<uint64_t>(i) * width, width);
    to += width;
  }
  check("MappedArray::take", out);
  return out;
}

Array MappedArray::slice(int64_t start, int64_t count, Loc loc) const {
  const OpScope at("MappedArray::slice", loc);
  if (start < 0 || count < 0 || start > size() || count > size() - start) {
    throw IndexError("MappedArray::slice: there are no " + std::to_string(count) +
                     " entries from " + std::to_string(start) + " on in " + file_->path() +
                     ", which is " + to_string(aval_));
  }
  Aval aval = aval_;
  aval.shape[0] = count;
  const auto width = static_cast<uint64_t>(size() > 0 ? aval_.bytes() / size() : 0);
  const Array out = spruce::internal::make_array(aval);
  if (aval.bytes() > 0) {
    std::memcpy(spruce::internal::mutable_data(out),
                file_->bytes() + offset_ + static_cast<uint64_t>(start) * width,
                static_cast<size_t>(aval.bytes()));
  }
  check("MappedArray::slice", out);
  return out;
}

}  // namespace spruce::data
