// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/index.h"

#include <cstring>

#include "spruce/core/interpreter.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index_plan.h"

namespace spruce {
namespace {

// x[i] where nothing is traced: one copy of a part of the memory.
bool copies(const Array& x, const Index& index) {
  return index.kind() == Index::Kind::kInteger && Interpreter::current() == nullptr &&
         !x.is_tracer() && x.rank() > 0 && x.aval().device == 0;
}

Array copied(const Array& x, int64_t i) {
  const Aval& from = x.aval();
  const int64_t n = from.shape[0];
  if (i < 0) i += n;
  Aval aval{from.dtype, from.weak, {}};
  for (int axis = 1; axis < from.shape.rank(); ++axis) aval.shape.push_back(from.shape[axis]);
  const Array y = internal::make_array(aval);
  const auto bytes = static_cast<size_t>(aval.bytes());
  std::memcpy(internal::mutable_data(y),
              static_cast<const char*>(internal::mutable_data(x)) + static_cast<size_t>(i) * bytes,
              bytes);
  return y;
}

Array read_at(const Array& x, std::span<const Index> indices) {
  return internal::read(x, internal::plan_index("operator[]", x.aval(), indices));
}

}  // namespace

Array Array::operator[](const Index& index) const {
  const LocScope at(index.loc());
  internal::require_defined("operator[]", "x", *this);
  const int64_t i = index.integer();
  if (copies(*this, index) && i >= -shape()[0] && i < shape()[0]) return copied(*this, i);
  return read_at(*this, {&index, 1});
}

Array Array::operator[](std::initializer_list<Index> indices) const {
  const LocScope at(indices.size() == 0 ? Loc::none() : indices.begin()->loc());
  internal::require_defined("operator[]", "x", *this);
  return read_at(*this, {indices.begin(), indices.size()});
}

}  // namespace spruce
