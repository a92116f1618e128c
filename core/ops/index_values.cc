// SPDX-License-Identifier: Apache-2.0
// The values of index arrays: known ones are checked, others only wrapped.
#include <algorithm>

#include "spruce/core/ops/index_plan.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/sort.h"

namespace spruce::internal {

Array known(const Array& a) { return a.aval().device == 0 ? on_host(a) : Array(); }

std::vector<int64_t> known_integers(const Array& a) {
  std::vector<int64_t> out(static_cast<size_t>(a.size()));
  visit_dtype(a.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const T* x = static_cast<const T*>(mutable_data(a));
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(x[i]);
    }
  });
  return out;
}

Array true_places(const Array& mask) {
  const auto* x = static_cast<const bool*>(mutable_data(mask));
  const int64_t n = mask.size();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += x[i];
  const Array out = make_array(Aval{rules::count_dtype(n), false, Shape{count}});
  visit_dtype(out.dtype(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
      T* y = static_cast<T*>(mutable_data(out));
      const T* end = y + count;
      for (int64_t i = 0; y != end;
           ++i) {  // without a branch on the mask: every place is written, the true ones stay
        *y = static_cast<T>(i);
        y += x[i];
      }
    }
  });
  return out;
}

namespace {

[[noreturn]] void throw_outside(const char* op, const std::string& index, int axis, const Aval& x) {
  const int64_t n = x.shape[axis];
  std::string message = std::string(op) + ": index " + index + " is out of range for axis " +
                        std::to_string(axis) + " of " + to_string(x) + ", which has size " +
                        std::to_string(n);
  message += n == 0 ? "; an empty axis has no elements to index"
                    : "; use indices from " + std::to_string(-n) + " to " + std::to_string(n - 1);
  throw IndexError(message);
}

template <class T>
Array wrapped_known(const char* op, const Array& indices, int axis, const Aval& x) {
  const T* i = static_cast<const T*>(mutable_data(indices));
  const int64_t count = indices.size(), n = x.shape[axis];
  const auto outside = [n](T entry) {
    return std::is_unsigned_v<T>
               ? static_cast<uint64_t>(entry) >= static_cast<uint64_t>(n)
               : static_cast<int64_t>(entry) >= n || static_cast<int64_t>(entry) < -n;
  };
  // Without a way out of the loop, so that it takes many at once.
  T lowest = 0, highest = 0;
  for (int64_t k = 0; k < count; ++k) {
    lowest = i[k] < lowest ? i[k] : lowest;
    highest = i[k] > highest ? i[k] : highest;
  }
  if (count > 0 && (outside(lowest) || outside(highest))) {
    const T* first = std::find_if(i, i + count, outside);
    if (first != i + count) throw_outside(op, std::to_string(*first), axis, x);
  }
  if (lowest >= T{}) return indices;
  const auto wrap = [&]<class To>(To) {
    const Array out = make_array(Aval{dtype_of<To>(), false, indices.shape()});
    To* y = static_cast<To*>(mutable_data(out));
    const auto size = static_cast<To>(n);
    for (int64_t k = 0; k < count; ++k) y[k] = static_cast<To>(i[k]) + (i[k] < T{} ? size : To{0});
    return out;
  };
  return rules::count_dtype(n) == int64 ? wrap(int64_t{}) : wrap(int32_t{});
}

}  // namespace

Array wrapped(const char* op, const Array& indices, int axis, const Aval& x) {
  if (!is_integer(indices.dtype())) {
    throw DtypeError(std::string(op) + ": indices must be integers, got " +
                     to_string(indices.aval()) + "; convert them with astype" +
                     (is_bool(indices.dtype()) ? ", or index with the mask by x[mask]" : ""));
  }
  if (const Array values = known(indices); values.defined()) {
    Array out;
    visit_dtype(values.dtype(), [&]<class T>(T) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        out = wrapped_known<T>(op, values, axis, x);
    });
    return out;
  }
  const int64_t n = x.shape[axis];
  if (n == 0 && indices.size() > 0)
    throw_outside(op, "of type " + to_string(indices.aval()), axis, x);
  if (is_unsigned_integer(indices.dtype())) return indices;
  const Dtype dtype = indices.dtype() == int64 ? int64 : rules::count_dtype(n);
  const Array i = rules::convert(indices, dtype);
  return where(i < 0, i + rules::scalar_of(dtype, static_cast<double>(n)), i);
}

}  // namespace spruce::internal
