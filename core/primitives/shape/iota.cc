// SPDX-License-Identifier: Apache-2.0
// 0, 1, 2, ... along one axis, repeated along the others. It has no inputs.
#include <algorithm>
#include <cstring>
#include <limits>

#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval iota_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<IotaParams>();
  check_shape(a.op, p.shape, size_of(p.dtype));
  if (is_bool(p.dtype))
    throw DtypeError(std::string(a.op) +
                     ": counts do not fit in bool; use an integer or floating dtype");
  (void)rules::settled_axis(a.op, p.axis, p.shape.rank());
  return {p.dtype, false, p.shape};
}

void iota_kernel(const KernelArgs& a) {
  const auto& p = a.params.get<IotaParams>();
  const View& y = a.out[0];
  if (y.numel() == 0) return;
  const auto axis = static_cast<int>(p.axis);
  const int64_t n = p.shape[axis], inner = row_major_strides(p.shape)[axis];
  visit_dtype(p.dtype, [&]<class T>(T) {
    T* out = y.as<T>();
    const auto count = [&](auto i) {
      if constexpr (kIsHalf<T>)
        return T(static_cast<float>(i));
      else
        return static_cast<T>(i);
    };
    if (inner == 1 && n <= std::numeric_limits<int32_t>::max()) {
      for (int32_t i = 0; i < static_cast<int32_t>(n); ++i) out[i] = count(i);
    } else {
      for (int64_t i = 0; i < n; ++i) std::fill_n(out + i * inner, inner, count(i));
    }
    for (int64_t k = n * inner; k < y.numel(); k += n * inner)
      std::memcpy(out + k, out, static_cast<size_t>(n * inner) * sizeof(T));
  });
}

std::vector<Sample> iota_samples() {
  const auto sample = [](const Shape& s, Dtype dtype, int64_t axis) {
    Sample out;
    out.params = Params::make(IotaParams{s, dtype, axis});
    return out;
  };
  return {sample({5}, Dtype::kFloat32, 0), sample({2, 3}, Dtype::kInt32, 1),
          sample({2, 3, 2}, Dtype::kInt64, 1), sample({0}, Dtype::kUint8, 0),
          sample({3, 2}, Dtype::kBfloat16, 0)};
}

rules::RowReads iota_rows(const RowArgs& a) {
  if (a.params.get<IotaParams>().axis == 0) return {};
  return rules::rows_alike(a);
}

}  // namespace

extern constinit const Primitive iota_p = {
    .name = "iota",
    .shape = iota_shape,
    .cpu = iota_kernel,
    .samples = iota_samples,
    .params = kParamsOf<IotaParams>,
    .cost = ElementCost::kLow,
    .flops = rules::no_flops,
    .rows = iota_rows,
    .row_params = rules::shape_of_rows<IotaParams>,
};

}  // namespace spruce
