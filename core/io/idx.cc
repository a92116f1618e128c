// SPDX-License-Identifier: Apache-2.0
// IDX: two zero bytes, a code of the element type, the rank, the sizes as big-endian u32, the
// elements.
#include "spruce/core/io/idx.h"

#include <algorithm>

#include "spruce/core/io/inflate.h"

namespace spruce::io {
namespace internal {
namespace {

bool read_dtype(uint8_t code, Dtype* dtype) {
  switch (code) {
    case 0x08:
      *dtype = Dtype::kUint8;
      return true;
    case 0x09:
      *dtype = Dtype::kInt8;
      return true;
    case 0x0b:
      *dtype = Dtype::kInt16;
      return true;
    case 0x0c:
      *dtype = Dtype::kInt32;
      return true;
    case 0x0d:
      *dtype = Dtype::kFloat32;
      return true;
    case 0x0e:
      *dtype = Dtype::kFloat64;
      return true;
    default:
      return false;
  }
}

Aval read_idx_head(const Source& source) {
  if (source.number<uint16_t>(0, "the mark of an IDX file") != 0)
    source.fail(0, "this is no IDX file: it does not begin with two zero bytes");
  const auto code = source.number<uint8_t>(2, "the element type"),
             rank = source.number<uint8_t>(3, "the rank");
  Aval aval;
  if (!read_dtype(code, &aval.dtype))
    source.fail(
        2, "the code of the element type is " + std::to_string(code) + ", which means nothing");
  if (rank > kMaxRank)
    source.fail(3, "the rank is " + std::to_string(rank) + "; arrays have at most " +
                       std::to_string(kMaxRank) + " axes");
  for (uint64_t axis = 0; axis < rank; ++axis) {
    const std::vector<uint8_t> b = source.bytes(4 + 4 * axis, 4, "a size");
    aval.shape.push_back(int64_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3]);
  }
  return aval;
}

uint64_t head_bytes(const Aval& aval) { return 4 + 4 * static_cast<uint64_t>(aval.shape.rank()); }

Array read_idx(const Source& source) {
  const Aval aval = read_idx_head(source);
  const uint64_t head = head_bytes(aval), n = byte_count(source, head, aval);
  source.require(head, n, "the data of the array");
  if (source.size() - head != n) {
    source.fail(head + n, "the array " + to_string(aval) + " ends here and " +
                              std::to_string(source.size() - head - n) + " more bytes follow");
  }
  const Array a = read_array(source, head, aval);
  swap_bytes(a);
  return a;
}

}  // namespace
}  // namespace internal

Array load_idx(const std::string& path, Loc loc) {
  const LocScope at(loc);
  const internal::FileSource file("load_idx", path);
  if (file.size() < 2 || file.number<uint16_t>(0, "the first bytes") != 0x8b1f)
    return internal::read_idx(file);
  // The head, uncompressed by itself, says how much memory the rest may take.
  const std::string name = path + " (uncompressed)";
  const std::vector<uint8_t> mark = internal::inflate_first(file, 4);
  const uint64_t sizes = mark[0] == 0 && mark[1] == 0 ? std::min<uint64_t>(mark[3], kMaxRank) : 0;
  const internal::MemorySource head("load_idx", name, internal::inflate_first(file, 4 + 4 * sizes));
  const Aval aval = internal::read_idx_head(head);
  const uint64_t start = internal::head_bytes(aval), n = internal::byte_count(head, start, aval);
  const internal::MemorySource whole(
      "load_idx", name,
      internal::inflate(file, 0, file.size(), start + n, internal::Wrapping::kGzip));
  return internal::read_idx(whole);
}

}  // namespace spruce::io
