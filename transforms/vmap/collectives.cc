// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/vmap/collectives.h"

#include "spruce/core/graph/find.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/collective.h"
#include "spruce/transforms/vmap/batch.h"

namespace spruce {
namespace {

int64_t size_of_axis(const char* op, const std::string& name) {
  int64_t size = 0;
  const Interpreter* i = Interpreter::current();
  if (i == nullptr || !i->find_axis(name, &size)) {
    throw ValueError(std::string(op) + ": no enclosing vmap has the axis_name '" + name +
                     "'; name it: vmap(f, {.axis_name = \"" + name + "\"})");
  }
  return size;
}

}  // namespace

Array PsumFunction::operator()(const Array& x, const std::string& axis_name, Loc loc) const {
  const OpScope at("psum", loc);
  size_of_axis("psum", axis_name);
  return bind1(psum_p, {x}, Params::make(CollectiveParams{axis_name}));
}

Array PmeanFunction::operator()(const Array& x, const std::string& axis_name, Loc loc) const {
  const OpScope at("pmean", loc);
  const int64_t size = size_of_axis("pmean", axis_name);
  return psum(x, axis_name) / Array(static_cast<float>(size));
}

Array AxisIndexFunction::operator()(const std::string& axis_name, Loc loc) const {
  const OpScope at("axis_index", loc);
  size_of_axis("axis_index", axis_name);
  return bind1(axis_index_p, std::span<const Array>(), Params::make(CollectiveParams{axis_name}));
}

namespace internal {

bool is_collective(const Primitive& p) { return &p == &psum_p || &p == &axis_index_p; }

const std::string& collective_axis(const Params& params) {
  return params.get<CollectiveParams>().axis_name;
}

bool asks_for_axis(const Params& params, const std::string& axis_name) {
  const auto asks = [&](const Equation& e) {
    return is_collective(*e.primitive) && collective_axis(e.params) == axis_name;
  };
  return find_equation(params, asks) != nullptr;
}

bool asks_for_any_axis(const Params& params) {
  const auto asks = [](const Equation& e) { return is_collective(*e.primitive); };
  return find_equation(params, asks) != nullptr;
}

Array run_collective(const Primitive& p, std::span<const Array> in, const Params&,
                     const BatchInterpreter& batch) {
  if (&p == &axis_index_p) return batch.make(spruce::arange(static_cast<int32_t>(batch.size())));
  if (batch.owns(in[0])) return sum(batch.unwrap(in[0]), 0);
  return in[0] * astype(Array(static_cast<float>(batch.size())), in[0].dtype());
}

}  // namespace internal
}  // namespace spruce
