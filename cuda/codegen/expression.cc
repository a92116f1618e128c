// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/expression.h"

#include <algorithm>
#include <tuple>

#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/operations.h"

namespace spruce::cuda {
namespace {

const Equation* maker_of(const Graph& graph, ValueId v) {
  for (const Equation& e : graph.equations) {
    if (std::find(e.outputs.begin(), e.outputs.end(), v) != e.outputs.end()) return &e;
  }
  return nullptr;
}

const Graph::Constant* constant_of(const Graph& graph, ValueId v) {
  for (const Graph::Constant& c : graph.constants) {
    if (c.id == v) return &c;
  }
  return nullptr;
}

std::string number_of(const Array& value) {
  const Dtype d = value.dtype();
  return visit_dtype(d, [&]<class T>(T) -> std::string {
    const T x = *static_cast<const T*>(internal::mutable_data(value));
    if constexpr (std::is_same_v<T, bool>)
      return x ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
      return literal(d, static_cast<int64_t>(x));
    else
      return literal(d, static_cast<double>(x));
  });
}

bool is_special(const Primitive& p) {
  const std::string_view name = p.name;
  return name == "erf_inv" || name == "lgamma" || name == "digamma" || name == "polygamma" ||
         name == "random_gamma_grad";
}

}  // namespace

bool Expression::Need::operator<(const Need& b) const {
  if (value != b.value) return value < b.value;
  return std::lexicographical_compare(axes.begin(), axes.end(), b.axes.begin(), b.axes.end());
}

std::string Expression::load(const std::optional<Place>& place, const Aval& aval,
                             const Shape& strides, const Axes& axes) {
  Shape steps = Shape::filled(space_.rank(), 0);
  for (int i = 0; i < axes.rank(); ++i) {
    if (axes[i] >= 0) steps[axes[i]] += strides[i];
  }
  loads_.push_back({place, aval.dtype, steps});
  return "e" + std::to_string(loads_.size() - 1);
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
  if (!has_operation(*e->primitive) || e->outputs.size() != 1) return std::nullopt;
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

bool Expression::emit(const Need& of, const std::vector<Need>& in) {
  const Aval& aval = graph_.avals[static_cast<size_t>(of.value)];
  const auto known = places_.find(of.value);
  if (known != places_.end()) {
    names_[of] = load(known->second, aval, row_major_strides(aval.shape), of.axes);
    return true;
  }
  const Equation* e = maker_of(graph_, of.value);
  std::string text;
  if (e == nullptr) {
    text = number_of(constant_of(graph_, of.value)->value);
  } else if (e->primitive == &iota_p) {
    const auto axis = e->params.get<IotaParams>().axis;
    Shape strides = Shape::filled(aval.shape.rank(), 0);
    strides[axis] = 1;
    const std::string at = load(std::nullopt, {Dtype::kInt64, false, {}}, strides, of.axes);
    text = "sp::convert<" + std::string(text_type(aval.dtype)) + ">(" +
           (is_half(aval.dtype) ? "sp::f32(" + at + ")" : at) + ")";
  } else if (e->primitive == &broadcast_in_dim_p || e->primitive == &reshape_p) {
    names_[of] = names_[in[0]];
    return true;
  } else {
    std::vector<std::string> arguments;
    std::vector<Dtype> dtypes;
    for (const Need& need : in) {
      arguments.push_back(names_[need]);
      dtypes.push_back(graph_.avals[static_cast<size_t>(need.value)].dtype);
    }
    const auto made =
        operation_text({*e->primitive, e->params, dtypes, aval.dtype, arguments});
    if (!made) return false;
    special_ = special_ || is_special(*e->primitive);
    text = *made;
  }
  const std::string name = "v" + std::to_string(names_.size());
  statements_ += "      const " + std::string(compute_type(aval.dtype)) + " " + name + " = " + text +
                 ";\n";
  names_[of] = name;
  return true;
}

std::string Expression::value(ValueId v) {
  Need all{v, {}};
  for (int i = 0; i < space_.rank(); ++i) all.axes.push_back(space_[i] == 1 ? -1 : i);
  std::vector<Need> open{all};
  while (!open.empty()) {
    const Need next = open.back();
    if (names_.contains(next)) {
      open.pop_back();
      continue;
    }
    const auto in = needs(next);
    if (!in) return {};
    const size_t before = open.size();
    for (const Need& need : *in) {
      if (!names_.contains(need)) open.push_back(need);
    }
    if (open.size() > before) continue;
    if (!emit(next, *in)) return {};
    open.pop_back();
  }
  return names_[all];
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
