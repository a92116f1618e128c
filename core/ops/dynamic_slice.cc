// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/dynamic_slice.h"

#include "spruce/core/interpreter.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

// Starts that count from the end, counted from the front.
std::vector<Array> from_front(const Shape& shape, const std::vector<Array>& starts) {
  std::vector<Array> out;
  for (size_t i = 0; i < starts.size(); ++i) {
    const Array& start = starts[i];
    const bool counts_back = is_integer(start.dtype()) && !is_unsigned_integer(start.dtype()) &&
                             start.rank() == 0 && i < static_cast<size_t>(shape.rank());
    if (!counts_back) {
      out.push_back(start);
      continue;
    }
    const int64_t size = shape[static_cast<int>(i)];
    if (start.is_tracer())
      out.push_back(where(start < 0, start + size, start));
    else
      out.push_back(start.item<int64_t>() < 0 ? Array(start.item<int64_t>() + size) : start);
  }
  return out;
}

std::vector<Array> along(const Array& x, const Array& start, int axis) {
  std::vector<Array> starts(static_cast<size_t>(x.rank()), rules::scalar_of(int32, 0));
  starts[static_cast<size_t>(axis)] = start;
  return starts;
}

}  // namespace

Array DynamicSliceFunction::operator()(const Array& x, const std::vector<Array>& starts,
                                       const Shape& sizes, Loc loc) const {
  const OpScope at("dynamic_slice", loc);
  internal::require_defined("dynamic_slice", "x", x);
  internal::require_all_defined("dynamic_slice", starts);
  std::vector<Array> in = from_front(x.shape(), starts);
  in.insert(in.begin(), x);
  return bind1(dynamic_slice_p, in, Params::make(DynamicSliceParams{sizes}));
}

Array DynamicUpdateSliceFunction::operator()(Array x, const Array& update,
                                             const std::vector<Array>& starts, Loc loc) const {
  const OpScope at("dynamic_update_slice", loc);
  internal::require_defined("dynamic_update_slice", "x", x, "update", update);
  internal::require_all_defined("dynamic_update_slice", starts);
  std::vector<Array> in = from_front(x.shape(), starts);
  in.insert(in.begin(), update.weak() ? update.astype(x.dtype()) : update);
  in.insert(in.begin(), std::move(x));
  return internal::bind1_reusing(dynamic_update_slice_p, in);
}

Array DynamicSliceInDimFunction::operator()(const Array& x, const Array& start, int64_t size,
                                            Axis axis, Loc loc) const {
  const OpScope at("dynamic_slice_in_dim", loc);
  internal::require_defined("dynamic_slice_in_dim", "x", x, "start", start);
  const int a = normalize_axis("dynamic_slice_in_dim", axis, x.rank());
  Shape sizes = x.shape();
  sizes[a] = size;
  return dynamic_slice(x, along(x, start, a), sizes, loc);
}

Array DynamicUpdateSliceInDimFunction::operator()(Array x, const Array& update, const Array& start,
                                                  Axis axis, Loc loc) const {
  const OpScope at("dynamic_update_slice_in_dim", loc);
  internal::require_defined("dynamic_update_slice_in_dim", "x", x, "update", update, "start",
                            start);
  const int a = normalize_axis("dynamic_update_slice_in_dim", axis, x.rank());
  const std::vector<Array> starts = along(x, start, a);
  return dynamic_update_slice(std::move(x), update, starts, loc);
}

}  // namespace spruce
