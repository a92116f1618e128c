// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/npy.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "spruce/core/interpreter.h"
#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/npy_format.h"
#include "spruce/core/ops/shape.h"

namespace spruce::io {
namespace internal {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

// NumPy's letter for the kind and the bytes, by dtype.
constexpr std::string_view kDescr[kDtypeCount] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                  "u4", "u8", "f2", "V2", "f4", "f8"};

std::optional<Dtype> dtype_of_descr(std::string_view letters) {
  const auto* found = std::find(std::begin(kDescr), std::end(kDescr), letters);
  if (found == std::end(kDescr)) return std::nullopt;
  return static_cast<Dtype>(found - std::begin(kDescr));
}

// Elements stand in Fortran order: the array is the transpose of one of the reversed shape.
Array from_fortran(const Array& reversed) {
  const InterpreterScope now(nullptr);
  return transpose(reversed);
}

}  // namespace

NpyHead read_npy_head(const Source& source) {
  char magic[6];
  source.read(0, magic, sizeof magic, "the mark of a .npy file");
  if (std::string_view(magic, sizeof magic) != kMagic)
    source.fail(0, "this is no .npy file: it does not begin with \\x93NUMPY");
  const auto version = source.number<uint8_t>(6, "the version");
  if (version < 1 || version > 3)
    source.fail(6, "version " + std::to_string(version) + " of .npy is not known; 1, 2 and 3 are");
  NpyHead head;
  head.text = version == 1 ? 10 : 12;
  const uint64_t length = version == 1 ? source.number<uint16_t>(8, "the length of the header")
                                       : source.number<uint32_t>(8, "the length of the header");
  const std::vector<uint8_t> bytes = source.bytes(head.text, length, "the header");
  head.header = parse_npy_header(source, head.text, std::string(bytes.begin(), bytes.end()));
  const NpyHeader& header = head.header;

  const bool marked = !header.descr.empty() &&
                      std::string_view("<>|=").find(header.descr[0]) != std::string_view::npos;
  const std::optional<Dtype> dtype =
      marked ? dtype_of_descr(std::string_view(header.descr).substr(1)) : std::nullopt;
  if (!dtype)
    source.fail(head.text, "Spruce has no dtype for elements of the type '" + header.descr + "'");
  head.aval = {*dtype, false, header.shape};
  head.data = head.text + length;
  const uint64_t n = byte_count(source, head.data, head.aval);
  source.require(head.data, n, "the data of the array");
  if (source.size() - head.data != n) {
    source.fail(head.data + n, "the array ends here and " +
                                   std::to_string(source.size() - head.data - n) +
                                   " more bytes follow");
  }
  return head;
}

Array read_npy(const Source& source) {
  const NpyHead head = read_npy_head(source);
  Aval aval = head.aval;
  if (head.reversed()) std::reverse(aval.shape.begin(), aval.shape.end());
  const Array a = read_array(source, head.data, aval);
  if (head.big_endian()) swap_bytes(a);
  return head.reversed() ? from_fortran(a) : a;
}

std::string npy_head(const Aval& aval) {
  std::string shape;
  for (const int64_t size : aval.shape)
    shape += std::to_string(size) + (aval.shape.rank() == 1 ? "," : ", ");
  if (aval.shape.rank() > 1) shape.resize(shape.size() - 2);
  const char* order = size_of(aval.dtype) == 1 ? "|" : "<";
  std::string header = "{'descr': '" + std::string(order) +
                       std::string(kDescr[static_cast<int>(aval.dtype)]) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr size_t kAlignment = 64, kBefore = 10;
  header.append(kAlignment - 1 - (kBefore + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string head(kMagic);
  head += std::string("\x01\x00", 2);
  head += static_cast<char>(header.size() & 0xff);
  head += static_cast<char>(header.size() >> 8);
  return head + header;
}

}  // namespace internal

Array load_npy(const std::string& path, Loc loc) {
  const LocScope at(loc);
  return internal::read_npy(internal::FileSource("load_npy", path));
}

void save_npy(const std::string& path, const Array& array, Loc loc) {
  const LocScope at(loc);
  const Array saved = internal::saved_array("save_npy", path, array);
  internal::AtomicFile file("save_npy", path);
  file.write(internal::npy_head(array.aval()));
  file.write(internal::bytes_of(saved), static_cast<uint64_t>(array.nbytes()));
  file.commit();
}

}  // namespace spruce::io
