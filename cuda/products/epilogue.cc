// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/products/epilogue.h"

#include <algorithm>
#include <map>
#include <utility>

#include "spruce/core/graph/build.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/gelu.h"
#include "spruce/core/rules/group.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/cuda/codegen/expression.h"
#include "spruce/cuda/products/product.h"

namespace spruce {
extern const Primitive relu_p;
}

namespace spruce::cuda {
namespace {

using internal::at;

// What follows a product.
struct End {
  Activation activation = Activation::kNone;
  int64_t bias = -1;                // input of the equation
  const Array* constant = nullptr;  // the bias, where it is part of the body
  bool has_bias() const { return bias >= 0 || constant != nullptr; }
};

// The equation's body, or the equation itself as one.
Graph body_of(const Graph& g, const Equation& e) {
  if (const GraphPtr group = rules::group_body(e)) return *group;
  Graph body;
  Equation only{e.primitive, e.params, {}, {}, e.place};
  for (const ValueId v : e.inputs) only.inputs.push_back(body.add_value(g.avals[at(v)]));
  for (const ValueId v : e.outputs) only.outputs.push_back(body.add_value(g.avals[at(v)]));
  body.inputs = only.inputs;
  body.outputs = only.outputs;
  body.equations.push_back(std::move(only));
  return body;
}

// One step along the innermost axis, none along the others.
bool is_along_last_axis(const Shape& steps, const Shape& space, int64_t elements) {
  int last = space.rank() - 1;
  while (last > 0 && space[last] == 1) --last;
  for (int i = 0; i < space.rank(); ++i) {
    if (space[i] != 1 && steps[i] != (i == last ? 1 : 0)) return false;
  }
  return space.rank() > 0 && space[last] == elements;
}

// Whether all that the program does with what it loads is one sum. One of halves is a sum of
// floats, rounded; at the end of a product it is rounded once less.
bool is_one_sum(const scalar::Program& program, Dtype dtype) {
  int sums = 0;
  for (const scalar::Node& n : program.nodes()) {
    if (n.op == scalar::Op::kInput) continue;
    if (n.op == scalar::Op::kAdd)
      ++sums;
    else if (n.op != scalar::Op::kConvert || !is_half(dtype) ||
             (n.dtype != dtype && n.dtype != Dtype::kFloat32))
      return false;
  }
  return sums == 1;
}

// The bias in `sum`, which adds it to input `product` of the body and does nothing else.
std::optional<End> bias_of(const Graph& body, ValueId sum, size_t product) {
  const Shape& space = body.avals[at(sum)].shape;
  std::map<ValueId, Place> places;
  for (size_t i = 0; i < body.inputs.size(); ++i)
    places[body.inputs[i]] = {Place::Kind::kInput, i, 0};
  for (size_t c = 0; c < body.constants.size(); ++c)
    places[body.constants[c].id] = {Place::Kind::kWorkspace, c, 0};
  Expression expression(body, places, space);
  if (expression.value(sum) < 0) return std::nullopt;
  const auto& loads = expression.loads();
  const Dtype dtype = body.avals[at(sum)].dtype;
  if (loads.size() != 2 || loads[0].dtype != dtype || loads[1].dtype != dtype ||
      !is_one_sum(expression.program(), dtype))
    return std::nullopt;
  const auto is_product = [&](const Expression::Load& l) {
    return l.place && l.place->kind == Place::Kind::kInput && l.place->index == product;
  };
  const size_t other = is_product(loads[0]) ? 1 : 0;
  const Expression::Load &x = loads[1 - other], &b = loads[other];
  if (!is_product(x) || is_product(b) || !b.place || !is_dense(x.steps, space)) return std::nullopt;
  End end;
  const Aval* aval = nullptr;
  if (b.place->kind == Place::Kind::kInput) {
    end.bias = static_cast<int64_t>(b.place->index);
    aval = &body.avals[at(body.inputs[b.place->index])];
  } else {
    end.constant = &body.constants[b.place->index].value;
    aval = &body.avals[at(body.constants[b.place->index].id)];
  }
  if (aval->shape.rank() == 0 || !is_along_last_axis(b.steps, space, aval->numel()))
    return std::nullopt;
  return end;
}

// What the equation makes of `product`, if it is nothing but an end of it. `body` outlives the
// result.
std::optional<End> end_of(const Equation& e, const Graph& body, ValueId product) {
  if (body.outputs.size() != 1 || std::count(e.inputs.begin(), e.inputs.end(), product) != 1)
    return std::nullopt;
  const auto input =
      static_cast<size_t>(std::find(e.inputs.begin(), e.inputs.end(), product) - e.inputs.begin());
  ValueId v = body.outputs[0];
  const Equation* last = maker_of(body, v);
  if (last == nullptr) return std::nullopt;
  Activation activation = Activation::kNone;
  if (last->primitive == &relu_p)
    activation = Activation::kRelu;
  else if (last->primitive == &gelu_p && last->params.get<GeluParams>().tanh)
    activation = Activation::kGelu;
  End end;
  if (activation != Activation::kNone) {
    v = last->inputs[0];
    last = maker_of(body, v);
  }
  if (v != body.inputs[input]) {
    if (last == nullptr || last->primitive != &add_p) return std::nullopt;
    const auto bias = bias_of(body, v, input);
    if (!bias) return std::nullopt;
    end = *bias;
  }
  end.activation = activation;
  if (activation == Activation::kNone && !end.has_bias()) return std::nullopt;
  return end;
}

// A product whose end is another equation.
struct Joined {
  size_t product;  // its equation
  Params params;   // ProductEndParams
  int64_t bias;    // input of the equation that follows
  std::optional<Array> constant;
};

ProductEndParams params_of(const Equation& product, const End& end) {
  const auto& d = product.params.get<DotParams>();
  return {d.lhs_contract, d.rhs_contract, d.lhs_batch,
          d.rhs_batch,    end.has_bias(), static_cast<int64_t>(end.activation)};
}

// By the equation that follows.
std::map<size_t, Joined> joins_of(const Graph& g) {
  std::vector<int> uses(g.avals.size());
  std::vector<size_t> user(g.avals.size());
  for (size_t n = 0; n < g.equations.size(); ++n) {
    for (const ValueId v : g.equations[n].inputs) {
      ++uses[at(v)];
      user[at(v)] = n;
    }
  }
  for (const ValueId v : g.outputs) ++uses[at(v)];
  std::map<size_t, Joined> joins;
  for (size_t n = 0; n < g.equations.size(); ++n) {
    const Equation& product = g.equations[n];
    if (product.primitive != &dot_general_p) continue;
    const ValueId v = product.outputs[0];
    if (uses[at(v)] != 1 || user[at(v)] <= n || joins.contains(user[at(v)])) continue;
    const Equation& next = g.equations[user[at(v)]];
    const Graph body = body_of(g, next);
    const std::optional<End> end = end_of(next, body, v);
    if (!end) continue;
    std::vector<const Aval*> in = types_of(g, product.inputs), out = types_of(g, next.outputs);
    Aval constant;
    if (end->bias >= 0) {
      in.push_back(&g.avals[at(next.inputs[static_cast<size_t>(end->bias)])]);
    } else if (end->constant != nullptr) {
      constant = end->constant->aval();
      constant.device = out[0]->device;
      in.push_back(&constant);
    }
    Joined joined{n, Params::make(params_of(product, *end)), end->bias, std::nullopt};
    if (!product_end_kernels({in, out, joined.params})) continue;
    if (end->constant != nullptr) joined.constant = *end->constant;
    joins.emplace(user[at(v)], std::move(joined));
  }
  return joins;
}

}  // namespace

extern constinit const Primitive product_end_p = {.name = "product_end"};

std::optional<Kernels> product_end_kernels(const PrepareArgs& args) {
  const auto& p = args.params.get<ProductEndParams>();
  return library_product(args, {p.lhs_contract, p.rhs_contract, p.lhs_batch, p.rhs_batch},
                         {p.bias, static_cast<Activation>(p.activation)});
}

Graph join_products(Graph graph) {
  const std::map<size_t, Joined> joins = joins_of(graph);
  if (joins.empty()) return graph;
  std::map<size_t, std::vector<ValueId>> operands;  // of products that are left out
  for (const auto& [n, joined] : joins) operands[joined.product] = {};
  size_t n = 0;
  return rebuild(std::move(graph), [&](Graph& g, Equation e, std::vector<ValueId>&) {
    const size_t here = n++;
    if (const auto product = operands.find(here); product != operands.end()) {
      product->second = std::move(e.inputs);
      return;
    }
    if (const auto join = joins.find(here); join != joins.end()) {
      const Joined& j = join->second;
      std::vector<ValueId> in = operands.at(j.product);
      if (j.bias >= 0) {
        in.push_back(e.inputs[static_cast<size_t>(j.bias)]);
      } else if (j.constant) {
        const Array value = rules::to_device(*j.constant, g.avals[at(e.outputs[0])].device);
        in.push_back(g.add_value(value.aval()));
        g.constants.push_back({in.back(), value});
      }
      e = {&product_end_p, j.params, std::move(in), std::move(e.outputs), std::move(e.place)};
    }
    g.equations.push_back(std::move(e));
  });
}

}  // namespace spruce::cuda
