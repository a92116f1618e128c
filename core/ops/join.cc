// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/join.h"

#include <algorithm>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

std::span<const Array> view(std::initializer_list<Array> arrays) {
  return {arrays.begin(), arrays.size()};
}

std::vector<Array> promoted_all(const char* op, std::span<const Array> arrays) {
  if (arrays.empty())
    throw ValueError(std::string(op) + ": there are no arrays to join; give at least one");
  internal::require_all_defined(op, arrays);
  Dtype dtype = arrays[0].dtype();
  bool weak = arrays[0].weak();
  for (const Array& x : arrays.subspan(1)) {
    dtype = promote(dtype, weak, x.dtype(), x.weak());
    weak = weak && x.weak();
  }
  if (weak && dtype == float64) dtype = float32;  // C++ numbers only
  std::vector<Array> out;
  for (const Array& x : arrays) out.push_back(rules::convert(x, dtype, x.weak() && weak));
  return out;
}

Array joined(const char* op, std::span<const Array> arrays, Axis axis) {
  const std::vector<Array> parts = promoted_all(op, arrays);
  return rules::concatenate_axis(parts, normalize_axis(op, axis, parts[0].rank()));
}

}  // namespace

Array ConcatenateFunction::operator()(std::span<const Array> arrays, Axis axis, Loc loc) const {
  const OpScope at("concatenate", loc);
  return joined("concatenate", arrays, axis);
}

Array ConcatenateFunction::operator()(std::initializer_list<Array> arrays, Axis axis,
                                      Loc loc) const {
  return concatenate(view(arrays), axis, loc);
}

Array StackFunction::operator()(std::span<const Array> arrays, Axis axis, Loc loc) const {
  const OpScope at("stack", loc);
  std::vector<Array> parts = promoted_all("stack", arrays);
  const int place = normalize_axis("stack", axis, parts[0].rank() + 1);
  for (size_t k = 0; k < parts.size(); ++k) {
    if (!(parts[k].shape() == arrays[0].shape())) {
      throw ShapeError("stack: the shapes of " + to_string(arrays[0].aval()) + " and " +
                       to_string(arrays[k].aval()) + " (array " + std::to_string(k) +
                       ") differ; all must be equal");
    }
    parts[k] = expand_dims(parts[k], place);
  }
  return rules::concatenate_axis(parts, place);
}

Array StackFunction::operator()(std::initializer_list<Array> arrays, Axis axis, Loc loc) const {
  return stack(view(arrays), axis, loc);
}

namespace {

// Each with at least that rank: new axes stand in front.
std::vector<Array> with_rank(const char* op, std::span<const Array> arrays, int rank) {
  internal::require_all_defined(op, arrays);
  std::vector<Array> out;
  for (const Array& x : arrays) {
    Shape shape = x.shape();
    while (shape.rank() < rank) shape.insert(0, 1);
    out.push_back(reshape(x, shape));
  }
  return out;
}

}  // namespace

Array VstackFunction::operator()(std::span<const Array> arrays, Loc loc) const {
  const OpScope at("vstack", loc);
  return joined("vstack", with_rank("vstack", arrays, 2), 0);
}

Array VstackFunction::operator()(std::initializer_list<Array> arrays, Loc loc) const {
  return vstack(view(arrays), loc);
}

Array HstackFunction::operator()(std::span<const Array> arrays, Loc loc) const {
  const OpScope at("hstack", loc);
  const std::vector<Array> parts = with_rank("hstack", arrays, 1);
  return joined("hstack", parts, !parts.empty() && parts[0].rank() > 1 ? 1 : 0);
}

Array HstackFunction::operator()(std::initializer_list<Array> arrays, Loc loc) const {
  return hstack(view(arrays), loc);
}

namespace {

std::vector<Array> cut(const Array& x, const std::vector<int64_t>& places, int axis) {
  const int64_t n = x.shape()[axis];
  std::vector<Array> out;
  int64_t begin = 0;
  for (const int64_t place : places) {
    const int64_t end = std::clamp<int64_t>(place < 0 ? place + n : place, 0, n);
    out.push_back(rules::slice_axis(x, axis, std::min(begin, end), end));
    begin = end;
  }
  out.push_back(rules::slice_axis(x, axis, begin, n));
  return out;
}

// More parts than entries are empty arrays, of which a slip in a count could ask for any number.
constexpr int64_t kMostEmptyParts = int64_t{1} << 20;

void require_sections(const char* op, int64_t sections, int64_t entries) {
  if (sections < 1)
    throw ValueError(std::string(op) + ": " + std::to_string(sections) +
                     " sections; at least one is needed");
  if (sections > std::max(entries, kMostEmptyParts))
    throw ValueError(std::string(op) + ": " + std::to_string(sections) +
                     " sections of an axis of size " + std::to_string(entries) +
                     "; at most one for each entry, or " + std::to_string(kMostEmptyParts) +
                     ", can be made");
}

}  // namespace

std::vector<Array> SplitFunction::operator()(const Array& x, int64_t sections, Axis axis,
                                             Loc loc) const {
  const OpScope at("split", loc);
  const int along = normalize_axis("split", axis, x.rank());
  require_sections("split", sections, x.shape()[along]);
  if (x.shape()[along] % sections != 0) {
    throw ShapeError("split: axis " + std::to_string(along) + " of " + to_string(x.aval()) +
                     " has no " + std::to_string(sections) +
                     " equal parts; use array_split, or name the places to cut at");
  }
  return array_split(x, sections, axis);
}

std::vector<Array> SplitFunction::operator()(const Array& x, const std::vector<int64_t>& places,
                                             Axis axis, Loc loc) const {
  const OpScope at("split", loc);
  return cut(x, places, normalize_axis("split", axis, x.rank()));
}

std::vector<Array> SplitFunction::operator()(const Array& x, std::initializer_list<int64_t> places,
                                             Axis axis, Loc loc) const {
  return split(x, std::vector<int64_t>(places), axis, loc);
}

std::vector<Array> ArraySplitFunction::operator()(const Array& x, int64_t sections, Axis axis,
                                                  Loc loc) const {
  const OpScope at("array_split", loc);
  const int along = normalize_axis("array_split", axis, x.rank());
  require_sections("array_split", sections, x.shape()[along]);
  const int64_t n = x.shape()[along], size = n / sections, longer = n % sections;
  std::vector<int64_t> places;
  for (int64_t k = 1; k < sections; ++k) places.push_back(k * size + std::min(k, longer));
  return cut(x, places, along);
}

Array TileFunction::operator()(const Array& x, const Shape& repeats, Loc loc) const {
  const OpScope at("tile", loc);
  const int rank = std::max(x.rank(), repeats.rank());
  Shape doubled, from;  // a repeated axis has one in front along which it is broadcast
  for (int i = 0; i < rank; ++i) {
    const int r = i - (rank - repeats.rank()), a = i - (rank - x.rank());
    const int64_t times = r < 0 ? 1 : repeats[r], n = a < 0 ? 1 : x.shape()[a];
    if (times < 0)
      throw ValueError("tile: " + to_string(repeats) + " repeats; no count may be negative");
    if (times != 1) {
      doubled.push_back(times);
      from.push_back(1);
    }
    doubled.push_back(n);
    from.push_back(n);
  }
  const Array repeated = broadcast_to(reshape(x, from), doubled);
  Shape result = Shape::filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    const int r = i - (rank - repeats.rank()), a = i - (rank - x.rank());
    result[i] = (r < 0 ? 1 : repeats[r]) * (a < 0 ? 1 : x.shape()[a]);
  }
  return reshape(repeated, result);
}

Array RepeatFunction::operator()(const Array& x, int64_t repeats, const AxisArg& axis,
                                 Loc loc) const {
  const OpScope at("repeat", loc);
  if (repeats < 0)
    throw ValueError("repeat: " + std::to_string(repeats) +
                     " repeats; the count must not be negative");
  const Array from = axis.all() ? ravel(x) : x;
  const int along = axis.all() ? 0 : rules::single_axis("repeat", axis, x.rank());
  Shape doubled = from.shape(), result = from.shape();
  doubled.insert(along + 1, repeats);
  const Array repeated = broadcast_to(expand_dims(from, along + 1), doubled);
  result[along] *= repeats;
  return reshape(repeated, result);
}

Array RepeatFunction::operator()(const Array& x, const std::vector<int64_t>& repeats,
                                 const AxisArg& axis, Loc loc) const {
  const OpScope at("repeat", loc);
  const Array from = axis.all() ? ravel(x) : x;
  const int along = axis.all() ? 0 : rules::single_axis("repeat", axis, x.rank());
  const int64_t n = from.shape()[along];
  if (static_cast<int64_t>(repeats.size()) != n) {
    throw ShapeError("repeat: " + std::to_string(repeats.size()) + " counts are given for axis " +
                     std::to_string(along) + " of " + to_string(from.aval()) +
                     "; give one for each of its " + std::to_string(n) + " elements");
  }
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t times = repeats[static_cast<size_t>(i)];
    if (times < 0)
      throw ValueError("repeat: count " + std::to_string(i) + " is " + std::to_string(times) +
                       "; it must not be negative");
    if (__builtin_add_overflow(total, times, &total)) {
      throw ShapeError("repeat: the counts for axis " + std::to_string(along) + " of " +
                       to_string(from.aval()) + " add up to more than int64 can count");
    }
  }
  Shape result = from.shape();
  result[along] = total;
  check_shape("repeat", result, size_of(from.dtype()));
  const Array places = internal::make_array(Aval{int64, false, {total}});
  auto* to = static_cast<int64_t*>(internal::mutable_data(places));
  for (int64_t i = 0; i < n; ++i) to = std::fill_n(to, repeats[static_cast<size_t>(i)], i);
  return take(from, places, along);
}

}  // namespace spruce
