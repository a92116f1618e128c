// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/create.h"

#include <cmath>

#include "spruce/core/interpreter.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/fill.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/to_device.h"

namespace spruce {
namespace {

[[noreturn]] void throw_count(const char* op, const std::string& what) {
  throw ValueError(std::string(op) + ": " + what);
}

Array stepped(int64_t n, Dtype dtype, const Array& start, const Array& step, bool from_zero,
              bool by_one) {
  Array out = rules::iota({n}, dtype, 0);
  if (!by_one) out = out * step;
  return from_zero ? out : out + start;
}

}  // namespace

Array ZerosFunction::operator()(const Shape& shape, Dtype dtype, Loc loc) const {
  const OpScope at("zeros", loc);
  return rules::filled("zeros", shape, rules::scalar_of(dtype, 0));
}

Array OnesFunction::operator()(const Shape& shape, Dtype dtype, Loc loc) const {
  const OpScope at("ones", loc);
  return rules::filled("ones", shape, rules::scalar_of(dtype, 1));
}

Array FullFunction::operator()(const Shape& shape, const Array& value, Loc loc) const {
  const OpScope at("full", loc);
  return full(shape, value, value.aval().strong_dtype(), loc);
}

Array FullFunction::operator()(const Shape& shape, const Array& value, Dtype dtype, Loc loc) const {
  const OpScope at("full", loc);
  const internal::SameDevice here(value);
  const Array v = rules::convert(value, dtype);
  return v.rank() == 0 ? rules::filled("full", shape, v) : broadcast_to(v, shape);
}

Array ZerosLikeFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("zeros_like", loc);
  const internal::SameDevice here(x);
  return zeros(x.shape(), x.aval().strong_dtype(), loc);
}
Array OnesLikeFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("ones_like", loc);
  const internal::SameDevice here(x);
  return ones(x.shape(), x.aval().strong_dtype(), loc);
}
Array FullLikeFunction::operator()(const Array& x, const Array& value, Loc loc) const {
  const OpScope at("full_like", loc);
  internal::require_defined("full_like", "x", x, "value", value);
  const internal::SameDevice here(x, value);
  return full(x.shape(), value, x.aval().strong_dtype(), loc);
}

namespace internal {

Array arange(Dtype dtype, double start, double stop, double step, Loc loc) {
  const OpScope at("arange", loc);
  if (!is_floating(dtype)) return rules::convert(arange(float64, start, stop, step, loc), dtype);
  const double n = std::ceil((stop - start) / step);
  if (step == 0 || !(std::abs(n) < 9e18)) {
    throw_count("arange", "no count of steps of " + std::to_string(step) + " leads from " +
                              std::to_string(start) + " to " + std::to_string(stop) +
                              "; give finite numbers and a step that is not zero");
  }
  return stepped(n > 0 ? static_cast<int64_t>(n) : 0, dtype, rules::scalar_of(dtype, start),
                 rules::scalar_of(dtype, step), start == 0, step == 1);
}

Array arange(Dtype dtype, int64_t start, int64_t stop, int64_t step, Loc loc) {
  const OpScope at("arange", loc);
  if (step == 0) throw_count("arange", "a step of 0 leads nowhere; give another one");
  int64_t span = 0;
  if (__builtin_sub_overflow(stop, start, &span))
    throw_count("arange", "there are more numbers between the two than int64 can count");
  const int64_t n =
      span == 0 || (span > 0) != (step > 0) ? 0 : (span - (span > 0 ? 1 : -1)) / step + 1;
  const int64_t lowest = n == 0 ? 0 : std::min(start, start + (n - 1) * step);
  if (is_unsigned_integer(dtype) && lowest < 0) {
    throw_count("arange", std::to_string(lowest) + " is no number of the dtype " +
                              std::string(short_name(dtype)) +
                              "; give a signed one, as arange(start, stop, int64)");
  }
  const auto scalar = [dtype](int64_t v) { return rules::convert(array(v), dtype); };
  if (start == 0 && step == 1) return rules::iota({n}, dtype, 0);
  return stepped(n, dtype, scalar(start), scalar(step), start == 0, step == 1);
}

}  // namespace internal

Array LinspaceFunction::operator()(const Array& start, const Array& stop, int64_t n,
                                   const LinspaceOptions& options, Loc loc) const {
  const OpScope at("linspace", loc);
  internal::require_defined("linspace", "start", start, "stop", stop);
  const internal::SameDevice here(start, stop);
  if (n < 0)
    throw_count("linspace", std::to_string(n) + " numbers cannot be made; n must not be negative");
  const Dtype common =
      promote(start.aval().strong_dtype(), start.weak(), stop.aval().strong_dtype(), stop.weak());
  const Dtype dtype = options.dtype.value_or(is_floating(common) ? common : float32);
  if (!is_floating(dtype)) {
    return rules::convert(
        linspace(start, stop, n, {.endpoint = options.endpoint, .dtype = float64}), dtype);
  }
  const Array a = rules::convert(start, dtype), b = rules::convert(stop, dtype);
  const int64_t steps = options.endpoint ? n - 1 : n;
  Shape shape = Shape::filled(1 + broadcast_shapes("linspace", a.shape(), b.shape()).rank(), 1);
  shape[0] = n;
  const Array s = rules::iota(shape, dtype, 0) /
                  rules::scalar_of(dtype, static_cast<double>(std::max<int64_t>(1, steps)));
  return a * (rules::scalar_of(dtype, 1) - s) + b * s;
}

Array LogspaceFunction::operator()(const Array& start, const Array& stop, int64_t n, double base,
                                   const LinspaceOptions& options, Loc loc) const {
  const OpScope at("logspace", loc);
  internal::require_defined("logspace", "start", start, "stop", stop);
  if (options.dtype && !is_floating(*options.dtype)) {
    const LinspaceOptions exact{.endpoint = options.endpoint, .dtype = float64};
    return rules::convert(logspace(start, stop, n, base, exact), *options.dtype);
  }
  const Array exponents = linspace(start, stop, n, options);
  return power(rules::scalar_of(exponents.dtype(), base), exponents);
}

namespace {

// Whether column - row compares with `offset`, over the matrix f[rows, columns].
Array diagonals(const BinaryFunction& compare, int64_t rows, int64_t columns, int64_t offset) {
  const Array row = rules::iota({rows, 1}, int64, 0), column = rules::iota({1, columns}, int64, 1);
  return compare(row + Array(offset), column);
}

// Ones where column - row compares with the offset.
Array ones_by(const char* op, const BinaryFunction& compare, int64_t rows, int64_t columns,
              const EyeOptions& options, Loc loc) {
  const OpScope at(op, loc);
  check_shape(op, {rows, columns}, 8);
  return rules::convert(diagonals(compare, rows, columns, options.offset), options.dtype);
}

int64_t columns_of(int64_t n, const EyeOptions& options) {
  return options.columns < 0 ? n : options.columns;
}

struct MatrixSize {
  int64_t rows, columns;
};

MatrixSize last_two(const char* op, const Array& x) {
  if (x.rank() < 2) {
    throw ShapeError(std::string(op) + ": " + to_string(x.aval()) +
                     " is no matrix; at least two axes are needed");
  }
  return {x.shape(-2), x.shape(-1)};
}

}  // namespace

Array EyeFunction::operator()(int64_t n, const EyeOptions& options, Loc loc) const {
  return ones_by("eye", equal, n, columns_of(n, options), options, loc);
}
Array EyeFunction::operator()(int64_t n, int64_t columns, const EyeOptions& options,
                              Loc loc) const {
  return ones_by("eye", equal, n, columns, options, loc);
}
Array EyeFunction::operator()(int64_t n, Dtype dtype, Loc loc) const {
  return eye(n, {.dtype = dtype}, loc);
}

Array IdentityFunction::operator()(int64_t n, Dtype dtype, Loc loc) const {
  const OpScope at("identity", loc);
  return eye(n, {.dtype = dtype}, loc);
}

Array TriFunction::operator()(int64_t n, const EyeOptions& options, Loc loc) const {
  return ones_by("tri", greater_equal, n, columns_of(n, options), options, loc);
}
Array TriFunction::operator()(int64_t n, int64_t columns, const EyeOptions& options,
                              Loc loc) const {
  return ones_by("tri", greater_equal, n, columns, options, loc);
}

Array TrilFunction::operator()(const Array& x, int64_t offset, Loc loc) const {
  const OpScope at("tril", loc);
  const auto [rows, columns] = last_two("tril", x);
  const internal::SameDevice here(x);
  return where(diagonals(greater_equal, rows, columns, offset), x, rules::scalar_of(x.dtype(), 0));
}

Array TriuFunction::operator()(const Array& x, int64_t offset, Loc loc) const {
  const OpScope at("triu", loc);
  const auto [rows, columns] = last_two("triu", x);
  const internal::SameDevice here(x);
  return where(diagonals(less_equal, rows, columns, offset), x, rules::scalar_of(x.dtype(), 0));
}

std::vector<Array> MeshgridFunction::operator()(std::span<const Array> axes, Indexing indexing,
                                                Loc loc) const {
  const OpScope at("meshgrid", loc);
  internal::require_all_defined("meshgrid", axes);
  const auto rank = static_cast<int>(axes.size());
  const auto place = [&](int k) {
    return indexing == Indexing::kXy && rank > 1 && k < 2 ? 1 - k : k;
  };
  Shape shape = Shape::filled(rank, 1);
  for (int k = 0; k < rank; ++k) {
    const Array& x = axes[static_cast<size_t>(k)];
    if (x.rank() > 1) {
      throw ShapeError("meshgrid: array " + std::to_string(k) + " is " + to_string(x.aval()) +
                       "; each must be of rank 0 or 1");
    }
    shape[place(k)] = x.size();
  }
  std::vector<Array> out;
  for (int k = 0; k < rank; ++k)
    out.push_back(rules::broadcast_in_dim(ravel(axes[static_cast<size_t>(k)]), shape, {place(k)}));
  return out;
}

std::vector<Array> MeshgridFunction::operator()(std::initializer_list<Array> axes,
                                                Indexing indexing, Loc loc) const {
  return meshgrid(std::span<const Array>(axes.begin(), axes.size()), indexing, loc);
}

}  // namespace spruce
