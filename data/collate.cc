// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/collate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace {

using spruce::internal::make_array;
using spruce::internal::mutable_data;

void check_alike(const Array& first, const Array& other, size_t i) {
  const Aval &a = first.aval(), &b = other.aval();
  bool same = a.shape.rank() == b.shape.rank();
  for (int k = 1; same && k < a.shape.rank(); ++k) same = a.shape[k] == b.shape[k];
  if (same && a.dtype == b.dtype) return;
  const std::string text = "collate: sequence 0 is " + to_string(a) + " and sequence " +
                           std::to_string(i) + " is " + to_string(b);
  if (!same) throw ShapeError(text + "; they may differ in their first axis alone");
  throw DtypeError(text);
}

// Fills n elements of that dtype with the number.
void fill(Dtype dtype, void* to, int64_t n, double value) {
  visit_dtype(dtype, [&]<class T>(T) {
    auto* at = static_cast<T*>(to);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // 2^digits is the first number above the range, and a double holds it.
      const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (value != std::floor(value) || value >= above ||
          value < (std::is_signed_v<T> ? -above : 0)) {
        throw ValueError("collate: fill is " + std::to_string(value) + ", which " +
                         std::string(short_name(dtype)) + " does not hold");
      }
    }
    const T element = static_cast<T>(value);
    std::fill(at, at + n, element);
  });
}

}  // namespace

Padded collate(const std::vector<Array>& sequences, const CollateOptions& options, Loc loc) {
  const OpScope at("collate", loc);
  if (sequences.empty()) throw ValueError("collate: there are no sequences; give at least one");
  if (options.length < -1 || options.multiple_of < 1) {
    throw ValueError("collate: length is " + std::to_string(options.length) +
                     " and multiple_of is " + std::to_string(options.multiple_of) +
                     "; the first has to be -1 or more, the second 1 or more");
  }
  const Array& first = sequences[0];
  if (first.rank() == 0 || first.rank() == kMaxRank) {
    throw ShapeError("collate: sequence 0 is " + to_string(first.aval()) +
                     "; its first axis has to count elements, and there must be room for one more");
  }
  int64_t longest = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    check_alike(first, sequences[i], i);
    longest = std::max(longest, sequences[i].shape()[0]);
  }
  if (options.length >= 0) longest = options.length;
  const int64_t over = longest % options.multiple_of;
  if (over > 0 && options.multiple_of - over > INT64_MAX - longest)
    throw ValueError("collate: the length rounded up to multiple_of is too large");
  if (over > 0) longest += options.multiple_of - over;

  const auto n = static_cast<int64_t>(sequences.size());
  Aval aval{first.dtype(), false, {n, longest}};
  for (int k = 1; k < first.rank(); ++k) aval.shape.push_back(first.shape()[k]);
  aval.device = 0;  // batches are made on the host
  check_shape("collate", aval.shape, size_of(aval.dtype));
  const Array values = make_array(aval), mask = make_array({Dtype::kBool, false, {n, longest}}),
              lengths = make_array({Dtype::kInt32, false, {n}});
  auto* to = static_cast<uint8_t*>(mutable_data(values));
  auto* real = static_cast<bool*>(mutable_data(mask));
  auto* length = static_cast<int32_t*>(mutable_data(lengths));
  const int64_t row = longest > 0 && n > 0 ? aval.bytes() / n / longest : 0;
  for (const Array& x : sequences) {
    const int64_t kept = std::min(x.shape()[0], longest);
    const auto bytes = static_cast<size_t>(kept * row);
    const Array host = io::internal::saved_array("collate", "a sequence", x);
    if (bytes > 0) std::memcpy(to, io::internal::bytes_of(host), bytes);
    fill(aval.dtype, to + bytes, (longest - kept) * row / size_of(aval.dtype), options.fill);
    std::fill(real, real + kept, true);
    std::fill(real + kept, real + longest, false);
    *length++ = static_cast<int32_t>(kept);
    to += longest * row;
    real += longest;
  }
  return {values, mask, lengths};
}

}  // namespace spruce::data
