// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/files/mapped.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "spruce/core/io/npy_format.h"
#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace internal {

/// The bytes of a whole file.
class Mapping {
 public:
  Mapping(const char* op, const std::string& path, uint64_t size) : path_(path), size_(size) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0 && size > 0) {
      void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
      bytes_ = at == MAP_FAILED ? nullptr : static_cast<const uint8_t*>(at);
    }
    const int problem = errno;
    if (file >= 0) ::close(file);
    if (file < 0 || (size > 0 && bytes_ == nullptr))
      throw IoError(std::string(op) + ": " + path +
                    ": cannot be mapped: " + std::strerror(problem));
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

// The dtype of "<f4"; false for those that cannot be mapped.
bool read_descr(const std::string& descr, Dtype* dtype) {
  constexpr std::pair<const char*, Dtype> kKnown[] = {
      {"|b1", Dtype::kBool},    {"|i1", Dtype::kInt8},    {"<i2", Dtype::kInt16},
      {"<i4", Dtype::kInt32},   {"<i8", Dtype::kInt64},   {"|u1", Dtype::kUint8},
      {"<u2", Dtype::kUint16},  {"<u4", Dtype::kUint32},  {"<u8", Dtype::kUint64},
      {"<f2", Dtype::kFloat16}, {"<f4", Dtype::kFloat32}, {"<f8", Dtype::kFloat64}};
  for (const auto& [text, known] : kKnown) {
    if (descr != text) continue;
    *dtype = known;
    return true;
  }
  return false;
}

// Checks that there is an axis to take from, and that all of it is in the file.
uint64_t check_room(const io::internal::Source& source, uint64_t offset, const Aval& aval) {
  if (aval.shape.rank() == 0) {
    throw ShapeError(std::string(source.op()) + ": " + source.name() + " is " + to_string(aval) +
                     ", one number; a mapped array needs an axis");
  }
  const uint64_t n = io::internal::byte_count(source, offset, aval);
  source.require(offset, n, "the data of the array");
  return n;
}

}  // namespace

MappedArray::MappedArray(std::shared_ptr<const internal::Mapping> file, Aval aval, uint64_t offset)
    : file_(std::move(file)), aval_(std::move(aval)), offset_(offset) {}

MappedArray MappedArray::npy(const std::string& path, Loc loc) {
  const OpScope at("MappedArray::npy", loc);
  const io::internal::FileSource source("MappedArray::npy", path);
  char mark[6];
  source.read(0, mark, sizeof mark, "the mark of a .npy file");
  if (std::memcmp(mark, "\x93NUMPY", sizeof mark) != 0)
    source.fail(0, "this is no .npy file: it does not begin with \\x93NUMPY");
  const auto version = source.number<uint8_t>(6, "the version");
  if (version < 1 || version > 3)
    source.fail(6, "the version is " + std::to_string(version) + "; 1, 2 and 3 are known");
  const uint64_t start = version == 1 ? 10 : 12;
  const uint64_t length = version == 1 ? source.number<uint16_t>(8, "the length of the header")
                                       : source.number<uint32_t>(8, "the length of the header");
  const std::vector<uint8_t> text = source.bytes(start, length, "the header");
  const io::internal::NpyHeader header =
      io::internal::parse_npy_header(source, start, std::string(text.begin(), text.end()));
  Aval aval{Dtype::kFloat32, false, header.shape};
  if (!read_descr(header.descr, &aval.dtype)) {
    source.fail(start, "elements are '" + header.descr +
                           "', which cannot be mapped; load_npy() may convert them");
  }
  if (header.fortran_order && header.shape.rank() > 1)
    source.fail(start, "the array is in Fortran order; save it in C order to map it");
  const uint64_t offset = start + length, n = check_room(source, offset, aval);
  if (source.size() - offset != n)
    source.fail(offset + n, "the array " + to_string(aval) + " ends here and more bytes follow");
  return {std::make_shared<internal::Mapping>("MappedArray::npy", path, source.size()), aval,
          offset};
}

MappedArray MappedArray::raw(const std::string& path, Dtype dtype, const Shape& shape,
                             int64_t offset, Loc loc) {
  const OpScope at("MappedArray::raw", loc);
  check_shape("MappedArray::raw", shape, size_of(dtype));
  if (offset < 0) throw ValueError("MappedArray::raw: the offset is " + std::to_string(offset));
  const io::internal::FileSource source("MappedArray::raw", path);
  const Aval aval{dtype, false, shape};
  check_room(source, static_cast<uint64_t>(offset), aval);
  return {std::make_shared<internal::Mapping>("MappedArray::raw", path, source.size()), aval,
          static_cast<uint64_t>(offset)};
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
