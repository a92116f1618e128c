// SPDX-License-Identifier: Apache-2.0
// A file is a row of records: the length (u64), its masked checksum, the bytes, their masked
// checksum. Each record is a message `Event` of tensorflow/core/util/event.proto in protocol
// buffers: fields as (number << 3 | kind) and a value, kind 0 a variable-length integer, 1 eight
// bytes, 2 a length and bytes, 5 four bytes.
#include "spruce/data/log/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "spruce/core/io/path.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/ops.h"
#include "spruce/data/files/image.h"

namespace spruce::io {
namespace internal {

uint32_t crc32c(const std::string& bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0x82f63b78u ^ c >> 1 : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  uint32_t crc = 0xffffffffu;
  for (const char c : bytes) crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

}  // namespace internal

namespace {

template <class T>
std::string raw(T x) {
  return {reinterpret_cast<const char*>(&x), sizeof x};
}

std::string masked_checksum(const std::string& bytes) {
  const uint32_t crc = internal::crc32c(bytes);
  return raw(static_cast<uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8u));
}

std::string varint(uint64_t x) {
  std::string out;
  for (; x >= 128; x >>= 7) out += static_cast<char>(x | 128);
  return out + static_cast<char>(x);
}

std::string whole(int field, int64_t x) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(x));
}
std::string eight(int field, double x) { return varint(field << 3 | 1) + raw(x); }
std::string four(int field, float x) { return varint(field << 3 | 5) + raw(x); }
std::string bytes(int field, const std::string& x) {
  return varint(field << 3 | 2) + varint(x.size()) + x;
}

// A value of a summary: the tag, which has to be UTF-8, and what it is.
std::string tagged(const std::string& tag, const std::string& what) {
  try {
    (void)nlohmann::json(tag).dump();
  } catch (const nlohmann::json::exception&) {
    throw ValueError("TensorBoard: a tag is no UTF-8");
  }
  return bytes(1, bytes(1, tag) + what);
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string new_path(const std::string& folder, Loc loc) {
  const LocScope at(loc);
  internal::make_folder("TensorBoard", folder);
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "localhost");
  static std::atomic<int> number{0};
  return folder + "/events.out.tfevents." + std::to_string(static_cast<int64_t>(now())) + "." +
         host + "." + std::to_string(::getpid()) + "." + std::to_string(number++);
}

}  // namespace

TensorBoard::TensorBoard(const std::string& folder, Loc loc)
    : file_("TensorBoard", new_path(folder, loc), false, loc) {
  const OpScope at("TensorBoard", loc);
  write(eight(1, now()) + bytes(3, "brain.Event:2"));
}

void TensorBoard::write(const std::string& event) {
  const std::string length = raw(static_cast<uint64_t>(event.size()));
  file_.write(length + masked_checksum(length) + event + masked_checksum(event));
}

void TensorBoard::write_value(int64_t step, const std::string& values) {
  write(eight(1, now()) + whole(2, step) + bytes(5, values));
}

void TensorBoard::scalars(int64_t step, const Metrics& metrics, Loc loc) {
  const OpScope at("TensorBoard::scalars", loc);
  std::string values;
  for (const auto& [name, value] : metrics)
    values += tagged(name, four(2, static_cast<float>(value)));
  write_value(step, values);
}

void TensorBoard::histogram(int64_t step, const std::string& tag, const Array& values, Loc loc) {
  const OpScope at("TensorBoard::histogram", loc);
  if (is_bool(values.dtype())) {
    throw DtypeError("TensorBoard::histogram: the values are " + to_string(values.aval()) +
                     "; give numbers");
  }
  constexpr int kRanges = 30;
  std::vector<double> numbers = astype(values, float64).to_vector<double>();
  std::erase_if(numbers, [](double x) { return !std::isfinite(x); });
  double least = 0, most = 0, total = 0, squares = 0;
  if (!numbers.empty()) {
    const auto [a, b] = std::minmax_element(numbers.begin(), numbers.end());
    least = *a;
    most = *b;
  }
  const double width = (most / kRanges - least / kRanges);
  std::vector<double> counts(kRanges);
  for (const double x : numbers) {
    total += x;
    squares += x * x;
    const double place = width > 0 ? (x - least) / width : 0;
    ++counts[static_cast<size_t>(std::clamp(place, 0.0, kRanges - 1.0))];
  }
  std::string limits, packed;
  for (int k = 0; k < kRanges; ++k) {
    limits += raw(k + 1 < kRanges ? least + width * (k + 1) : most);
    packed += raw(counts[static_cast<size_t>(k)]);
  }
  const std::string proto = eight(1, least) + eight(2, most) +
                            eight(3, static_cast<double>(numbers.size())) + eight(4, total) +
                            eight(5, squares) + bytes(6, limits) + bytes(7, packed);
  write_value(step, tagged(tag, bytes(5, proto)));
}

void TensorBoard::image(int64_t step, const std::string& tag, const Array& picture, Loc loc) {
  const OpScope at("TensorBoard::image", loc);
  const std::vector<uint8_t> png = data::internal::encode_png("TensorBoard::image", picture);
  const Shape& shape = picture.shape();
  const int64_t channels = shape.rank() == 3 ? shape[2] : 1;
  const std::string proto = whole(1, shape[0]) + whole(2, shape[1]) + whole(3, channels) +
                            bytes(4, std::string(png.begin(), png.end()));
  write_value(step, tagged(tag, bytes(4, proto)));
}

}  // namespace spruce::io
