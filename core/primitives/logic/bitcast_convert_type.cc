// SPDX-License-Identifier: Apache-2.0
// The bits of each element read as another dtype of the same size; the memory is shared.
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/scalar/expression.h"

namespace spruce {
namespace {

Aval shape(const ShapeArgs& a) {
  const Aval& x = *a.in[0];
  const Dtype to = a.params.get<BitcastParams>().dtype;
  if (size_of(to) != size_of(x.dtype) || is_bool(to) != is_bool(x.dtype)) {
    throw DtypeError("bitcast: the elements of " + to_string(x) + " cannot be read as " +
                     std::string(name(to)) +
                     "; both need the same number of bytes, and bool is only itself");
  }
  return {to, false, x.shape};
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](Dtype from, Dtype to, const Shape& shape) {
    Sample s = rules::sample_of({shape}, from, Params::make(BitcastParams{to}));
    s.fixed_dtypes = true;
    out.push_back(s);
  };
  add(float32, uint32, {2, 3});
  add(float64, int64, {3});
  add(bfloat16, uint16, {0, 3});
  add(int32, float32, {});
  return out;
}

}  // namespace

extern constinit const Primitive bitcast_convert_type_p = {
    .name = "bitcast_convert_type",
    .shape = shape,
    .scalar = scalar::as_they_are<scalar::Op::kBitcast>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_elementwise,
    .samples = samples,
    .params = kParamsOf<BitcastParams>,
    .kind = PrimitiveKind::kView,
    .flops = rules::no_flops,
};

}  // namespace spruce
