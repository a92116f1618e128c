// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/expression.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/rules/shape.h"
#include "spruce/core/scalar/expression.h"

namespace spruce::cuda {
const Equation* maker_of(const Graph& graph, ValueId v) {
  for (const Equation& e : graph.equations) {
    if (std::find(e.outputs.begin(), e.outputs.end(), v) != e.outputs.end()) return &e;
  }
  return nullptr;
}

bool is_dense(const Shape& steps, const Shape& space) {
  const Shape dense = row_major_strides(space);
  for (int i = 0; i < space.rank(); ++i) {
    if (space[i] != 1 && steps[i] != dense[i]) return false;
  }
  return true;
}

namespace {

const Graph::Constant* constant_of(const Graph& graph, ValueId v) {
  for (const Graph::Constant& c : graph.constants) {
    if (c.id == v) return &c;
  }
  return nullptr;
}

// The bits of the only element.
uint64_t bits_of(const Array& value) {
  uint64_t bits = 0;
  std::memcpy(&bits, internal::mutable_data(value), static_cast<size_t>(value.nbytes()));
  return bits;
}

}  // namespace

bool Expression::Need::operator<(const Need& b) const {
  if (value != b.value) return value < b.value;
  return std::lexicographical_compare(axes.begin(), axes.end(), b.axes.begin(), b.axes.end());
}

int Expression::load(const std::optional<Place>& place, const Aval& aval, const Shape& strides,
                     const Axes& axes) {
  Shape steps = Shape::filled(space_.rank(), 0);
  for (int i = 0; i < axes.rank(); ++i) {
    if (axes[i] >= 0) steps[axes[i]] += strides[i];
  }
  loads_.push_back({place, aval.dtype, steps});
  return program_.input(aval.dtype, static_cast<int>(loads_.size()) - 1);
}

// The inputs that a value is computed from; none for what is read. Nothing if it cannot be.
std::optional<std::vector<Expression::Need>> Expression::needs(const Need& of) const {
  std::vector<Need> in;
  if (places_.contains(of.value)) return in;
  const Equation* e = maker_of(graph_, of.value);
  if (e == nullptr) {
    const Graph::Constant* c = constant_of(graph_, of.value);
    if (c == nullptr || c->value.size() != 1) return std::nullopt;
    return in;
  }
  const auto shape = [&](ValueId v) -> const Shape& {
    return graph_.avals[static_cast<size_t>(v)].shape;
  };
  if (e->primitive == &iota_p) return in;
  if (e->primitive == &broadcast_in_dim_p) {
    const Axes& dims = e->params.get<BroadcastInDimParams>().broadcast_dimensions;
    const Shape& x = shape(e->inputs[0]);
    Need need{e->inputs[0], Axes::filled(x.rank(), -1)};
    for (int i = 0; i < x.rank(); ++i) {
      if (x[i] != 1) need.axes[i] = of.axes[dims[i]];
    }
    return std::vector<Need>{need};
  }
  if (e->primitive == &reshape_p) {
    const Shape &x = shape(e->inputs[0]), &y = shape(of.value);
    Need need{e->inputs[0], Axes::filled(x.rank(), -1)};
    int k = 0;
    for (int i = 0; i < x.rank(); ++i) {
      if (x[i] == 1) continue;
      while (k < y.rank() && y[k] == 1) ++k;
      if (k == y.rank() || y[k] != x[i]) return std::nullopt;
      need.axes[i] = of.axes[k++];
    }
    return std::vector<Need>{need};
  }
  if (e->primitive->scalar == nullptr) return std::nullopt;
  for (const ValueId v : e->inputs) {
    const Shape& x = shape(v);
    Need need{v, Axes::filled(x.rank(), -1)};
    for (int i = 1; i <= x.rank(); ++i) {
      if (x[-i] != 1) need.axes[x.rank() - i] = of.axes[of.axes.rank() - i];
    }
    in.push_back(need);
  }
  return in;
}

int Expression::emit(const Need& of, const std::vector<Need>& in) {
  const Aval& aval = graph_.avals[static_cast<size_t>(of.value)];
  const auto known = places_.find(of.value);
  if (known != places_.end())
    return load(known->second, aval, row_major_strides(aval.shape), of.axes);
  const Equation* e = maker_of(graph_, of.value);
  if (e == nullptr)
    return program_.constant(aval.dtype, bits_of(constant_of(graph_, of.value)->value));
  if (e->primitive == &iota_p) {
    Shape strides = Shape::filled(aval.shape.rank(), 0);
    strides[e->params.get<IotaParams>().axis] = 1;
    int at = load(std::nullopt, {Dtype::kInt64, false, {}}, strides, of.axes);
    // To 16 bits by f32, as the CPU's kernel.
    if (is_half(aval.dtype)) at = program_.add(scalar::Op::kConvert, Dtype::kFloat32, at);
    return program_.add(scalar::Op::kConvert, aval.dtype, at);
  }
  if (e->primitive == &broadcast_in_dim_p || e->primitive == &reshape_p) return values_[in[0]];
  std::vector<int> inputs;
  for (const Need& need : in) inputs.push_back(values_[need]);
  return e->primitive->scalar({program_, inputs, aval.dtype, e->params});
}

int Expression::value(ValueId v) {
  Need all{v, {}};
  for (int i = 0; i < space_.rank(); ++i) all.axes.push_back(space_[i] == 1 ? -1 : i);
  std::vector<Need> open{all};
  while (!open.empty()) {
    const Need next = open.back();
    if (values_.contains(next)) {
      open.pop_back();
      continue;
    }
    const auto in = needs(next);
    if (!in) return -1;
    const size_t before = open.size();
    for (const Need& need : *in) {
      if (!values_.contains(need)) open.push_back(need);
    }
    if (open.size() > before) continue;
    values_[next] = emit(next, *in);
    open.pop_back();
  }
  return values_[all];
}

std::string declare(KernelBuilder& kernel, const Place& place, Dtype dtype) {
  switch (place.kind) {
    case Place::Kind::kInput:
      return kernel.input(place.index);
    case Place::Kind::kOutput:
      return kernel.output(place.index);
    default: {
      const std::string name = "w" + std::to_string(place.offset);
      kernel.workspace(text_type(dtype), name, place.offset);
      return name;
    }
  }
}

std::string declare(KernelBuilder& kernel, const Expression::Load& load) {
  return load.place ? declare(kernel, *load.place, load.dtype) : std::string();
}

}  // namespace spruce::cuda
