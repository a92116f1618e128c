// SPDX-License-Identifier: Apache-2.0
// Pure updates at indices: one scatter each, over the old memory where nobody else can see it.
#include "spruce/core/debug.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index_plan.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/to_device.h"

namespace spruce {
namespace {

// `v` with the dtype of x, which must be able to hold it, and the shape of the place.
Array fitted(const char* op, const Array& v, const Aval& x, const internal::IndexPlan& plan) {
  if (promote(x.dtype, false, v.dtype(), v.weak()) != x.dtype) {
    throw DtypeError(std::string(op) + ": the array " + to_string(x) +
                     " cannot hold values of type " + to_string(v.aval()) +
                     "; convert them with astype(" + std::string(short_name(x.dtype)) +
                     "), or the array first");
  }
  Array u = rules::convert(internal::converted(op, v, x.dtype), x.dtype);
  const Shape place = plan.result();
  while (u.rank() > place.rank() && u.shape()[0] == 1) {
    Shape shape = u.shape();
    shape.erase(0);
    u = reshape(u, shape);
  }
  if (!broadcasts_to(u.shape(), place)) {
    throw ShapeError(std::string(op) + ": values of type " + to_string(v.aval()) +
                     " do not broadcast to the place of shape " + to_string(place) + " in " +
                     to_string(x) + "; reshape them or change the index");
  }
  if (!(u.shape() == place)) u = broadcast_to(u, place);
  const Shape updates = plan.result(false);
  return updates == place ? u : reshape(u, updates);
}

// True if nobody but the holder of this reference can ever see the memory.
bool owned(const Array& x) {
  const internal::ArrayImpl* impl = x.impl();
  return Interpreter::current() == nullptr && !debug_nans() && !x.is_tracer() && !x.weak() &&
         impl->unique() && impl->buffer->may_be_reused();
}

bool stands_with(const Array& a, const Array& x) {
  return !a.is_tracer() && a.aval().device == x.aval().device;
}

void run_over(const Primitive& p, const Array& x, const Shape& base, const Array& indices,
              const Array& updates, const Params& params) {
  const Aval aval{x.dtype(), false, base};
  const View in[] = {{internal::mutable_data(x), &aval},
                     {internal::mutable_data(indices), &indices.aval()},
                     {internal::mutable_data(updates), &updates.aval()}};
  const KernelArgs args{in, {in, 1}, params};
  x.device().run(p, args);
}

// Takes the array over: on the way in, `x` is the only reference that the caller gives up, or one
// of several.
Array update(const char* op, const Primitive& p, Array x, std::span<const Index> indices,
             const Array& v) {
  internal::require_defined(op, "x", x, "v", v);
  const internal::SameDevice here(x);
  const internal::IndexPlan plan = internal::plan_index(op, x.aval(), indices);
  const Array updates = fitted(op, v, x.aval(), plan);
  internal::ScatterPlan scatter = internal::plan_scatter(plan);
  scatter.indices = rules::beside(scatter.indices, x);
  const Params params = Params::make(scatter.params);
  if (owned(x) && stands_with(scatter.indices, x) && stands_with(updates, x)) {
    run_over(p, x, scatter.base, scatter.indices, updates, params);
    return x;
  }
  const bool same = scatter.base == x.shape();
  const Array y = bind1(p, {same ? x : reshape(x, scatter.base), scatter.indices, updates}, params);
  return same ? y : reshape(y, x.shape());
}

// x + (-v). The check is here, since the negative of an undefined array is an error by itself.
Array update_subtract(Array x, std::span<const Index> indices, const Array& v) {
  internal::require_defined("at.subtract", "x", x, "v", v);
  return update("at.subtract", scatter_add_p, std::move(x), indices, -v);
}

// x / v as x times one over v at each place, so that repeated indices divide repeatedly.
Array update_divide(Array x, std::span<const Index> indices, const Array& v) {
  internal::require_defined("at.divide", "x", x, "v", v);
  if (!is_floating(x.dtype())) {
    throw DtypeError("at.divide: takes a floating array, got " + to_string(x.aval()) +
                     "; convert it with astype first");
  }
  const Array divisors = update("at.divide", scatter_mul_p, ones_like(x), indices, v);
  return x / divisors;
}

}  // namespace

Array ArrayAt::get(Loc loc) const {
  const OpScope at("at.get", loc);
  internal::require_defined("at.get", "x", x_);
  return internal::read(x_, internal::plan_index("at.get", x_.aval(), indices_));
}

Array ArrayAt::set(const Array& v, Loc loc) const& {
  const OpScope at("at.set", loc);
  return update("at.set", scatter_p, x_, indices_, v);
}
Array ArrayAt::set(const Array& v, Loc loc) && {
  const OpScope at("at.set", loc);
  return update("at.set", scatter_p, std::move(x_), indices_, v);
}
Array ArrayAt::add(const Array& v, Loc loc) const& {
  const OpScope at("at.add", loc);
  return update("at.add", scatter_add_p, x_, indices_, v);
}
Array ArrayAt::add(const Array& v, Loc loc) && {
  const OpScope at("at.add", loc);
  return update("at.add", scatter_add_p, std::move(x_), indices_, v);
}
Array ArrayAt::subtract(const Array& v, Loc loc) const& {
  const OpScope at("at.subtract", loc);
  return update_subtract(x_, indices_, v);
}
Array ArrayAt::subtract(const Array& v, Loc loc) && {
  const OpScope at("at.subtract", loc);
  return update_subtract(std::move(x_), indices_, v);
}
Array ArrayAt::multiply(const Array& v, Loc loc) const& {
  const OpScope at("at.multiply", loc);
  return update("at.multiply", scatter_mul_p, x_, indices_, v);
}
Array ArrayAt::multiply(const Array& v, Loc loc) && {
  const OpScope at("at.multiply", loc);
  return update("at.multiply", scatter_mul_p, std::move(x_), indices_, v);
}
Array ArrayAt::divide(const Array& v, Loc loc) const& {
  const OpScope at("at.divide", loc);
  return update_divide(x_, indices_, v);
}
Array ArrayAt::divide(const Array& v, Loc loc) && {
  const OpScope at("at.divide", loc);
  return update_divide(std::move(x_), indices_, v);
}
Array ArrayAt::min(const Array& v, Loc loc) const& {
  const OpScope at("at.min", loc);
  return update("at.min", scatter_min_p, x_, indices_, v);
}
Array ArrayAt::min(const Array& v, Loc loc) && {
  const OpScope at("at.min", loc);
  return update("at.min", scatter_min_p, std::move(x_), indices_, v);
}
Array ArrayAt::max(const Array& v, Loc loc) const& {
  const OpScope at("at.max", loc);
  return update("at.max", scatter_max_p, x_, indices_, v);
}
Array ArrayAt::max(const Array& v, Loc loc) && {
  const OpScope at("at.max", loc);
  return update("at.max", scatter_max_p, std::move(x_), indices_, v);
}

}  // namespace spruce
