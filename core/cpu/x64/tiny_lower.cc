// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/tiny_lower.h"

#include <algorithm>
#include <map>

#include "spruce/core/cpu/x64/lower.h"
#include "spruce/core/cpu/x64/tiny_elements.h"
#include "spruce/core/cpu/x64/tiny_moves.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce::cpu::x64 {
namespace {

// The primitive that joins two elements of a reduction, or null. Products of floats stay with the
// kernel, which knows zeros among factors that overflow.
const Primitive* joining(const Equation& reduction, Dtype dtype) {
  const Primitive& p = *reduction.primitive;
  const bool product_of_floats = p.reduces_by() == Monoid::kProduct && is_floating(dtype);
  return is_bool(dtype) || product_of_floats ? nullptr : p.combine;
}

// For each element of the result, the elements of the input that are reduced to it.
std::vector<std::vector<int64_t>> reduced_elements(const Shape& in, const Axes& axes) {
  Shape kept = in;
  for (const int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
  std::vector<std::vector<int64_t>> all(static_cast<size_t>(kept.numel()));
  for_each_index(in, [&](const Shape& index) {
    Shape at = index;
    for (const int64_t axis : axes) at[static_cast<int>(axis)] = 0;
    all[static_cast<size_t>(place(kept, at))].push_back(place(in, index));
  });
  return all;
}

// The elements of both operands whose products are added up to each element of the result.
struct Products {
  Shape out;
  int64_t terms = 1;
  std::vector<std::vector<int64_t>> a, b;  // [term][element of the result]
};

Products products(const DotParams& p, const Shape& a, const Shape& b) {
  const auto size = [](const Axes& axes) { return static_cast<size_t>(axes.rank()); };
  Products result;
  Shape contracted;
  std::vector<int> a_free, b_free;
  for (const int64_t axis : p.lhs_batch) result.out.push_back(a[static_cast<int>(axis)]);
  for (int i = 0; i < a.rank(); ++i) {
    if (!p.lhs_batch.contains(i) && !p.lhs_contract.contains(i)) a_free.push_back(i);
  }
  for (int i = 0; i < b.rank(); ++i) {
    if (!p.rhs_batch.contains(i) && !p.rhs_contract.contains(i)) b_free.push_back(i);
  }
  for (const int i : a_free) result.out.push_back(a[i]);
  for (const int i : b_free) result.out.push_back(b[i]);
  for (const int64_t axis : p.lhs_contract) contracted.push_back(a[static_cast<int>(axis)]);
  result.terms = contracted.numel();
  for_each_index(contracted, [&](const Shape& term) {
    result.a.emplace_back();
    result.b.emplace_back();
    for_each_index(result.out, [&](const Shape& index) {
      Shape from_a = a, from_b = b;
      int at = 0;
      for (size_t i = 0; i < size(p.lhs_batch); ++i, ++at) {
        const int k = static_cast<int>(i);
        from_a[static_cast<int>(p.lhs_batch[k])] = from_b[static_cast<int>(p.rhs_batch[k])] =
            index[at];
      }
      for (const int i : a_free) from_a[i] = index[at++];
      for (const int i : b_free) from_b[i] = index[at++];
      for (int k = 0; k < contracted.rank(); ++k) {
        from_a[static_cast<int>(p.lhs_contract[k])] = term[k];
        from_b[static_cast<int>(p.rhs_contract[k])] = term[k];
      }
      result.a.back().push_back(place(a, from_a));
      result.b.back().push_back(place(b, from_b));
    });
  });
  return result;
}

class Lowering {
 public:
  Lowering(const Graph& graph, const fusion::TinyLoop* loop)
      : graph_(graph),
        loop_(loop),
        elements_(made_, choose_width(graph),
                  loop == nullptr ? 0 : static_cast<int>(loop->consts + loop->carry)) {}

  std::optional<TinyProgram> run() {
    made_.wide = elements_.wide();
    values_.resize(graph_.avals.size());
    for (const ValueId v : graph_.inputs) {
      const Aval& aval = aval_of(v);
      if (!has_lanes(aval.dtype)) return std::nullopt;
      made_.inputs.push_back(aval.dtype);
      made_.input_bytes.push_back(aval.bytes());
      values_[static_cast<size_t>(v)] = elements_.inputs(static_cast<int>(made_.inputs.size()) - 1,
                                                         aval.dtype, aval.shape.numel());
    }
    for (const Graph::Constant& c : graph_.constants) {
      const Aval& aval = aval_of(c.id);
      if (!has_lanes(aval.dtype)) return std::nullopt;
      values_[static_cast<size_t>(c.id)] = elements_.constants(c.value);
    }
    for (const ValueId v : graph_.outputs) {
      made_.outputs.push_back(aval_of(v).dtype);
      made_.output_bytes.push_back(aval_of(v).bytes());
    }
    for (const Equation& eq : graph_.equations) {
      if (eq.outputs.size() != 1 || !equation(eq)) return std::nullopt;
      store_outputs(eq.outputs[0]);
    }
    for (const ValueId v : graph_.inputs) store_outputs(v);
    for (const Graph::Constant& c : graph_.constants) store_outputs(c.id);
    if (loop_ != nullptr) carry_on();
    return std::move(made_);
  }

 private:
  static Elements::Width choose_width(const Graph& graph) {
    bool wide = false, narrow = false;
    for (const Aval& a : graph.avals) {
      if (!is_bool(a.dtype)) (a.dtype == Dtype::kFloat64 ? wide : narrow) = true;
    }
    return wide && narrow ? Elements::Width::kMixed
           : wide         ? Elements::Width::k64
                          : Elements::Width::k32;
  }

  const Aval& aval_of(ValueId v) const { return graph_.avals[static_cast<size_t>(v)]; }
  const std::vector<int>& value(ValueId v) const { return values_[static_cast<size_t>(v)]; }

  bool equation(const Equation& eq) {
    const Aval& out = aval_of(eq.outputs[0]);
    std::vector<int>& result = values_[static_cast<size_t>(eq.outputs[0])];
    if (!has_lanes(out.dtype)) return false;
    if (const auto from = origins(graph_, eq)) {
      for (const Origin& o : *from) {
        const ValueId in = eq.inputs[static_cast<size_t>(o.input)];
        result.push_back(value(in)[static_cast<size_t>(o.element)]);
      }
      return true;
    }
    if (eq.primitive == &iota_p) {
      const Array counts = internal::make_array(out);
      const View view{internal::mutable_data(counts), &out};
      eq.primitive->cpu({{}, std::span<const View>(&view, 1), eq.params});
      result = elements_.constants(counts);
      return true;
    }
    if (const Primitive* join = joining(eq, out.dtype)) return reduce(eq, *join, result);
    if (eq.primitive == &dot_general_p) return dot(eq, result);
    if (eq.primitive->scalar == nullptr) return false;
    std::vector<std::vector<int>> in;
    for (const ValueId v : eq.inputs) {
      in.emplace_back();
      for (const int64_t e : broadcast_elements(aval_of(v).shape, out.shape))
        in.back().push_back(value(v)[static_cast<size_t>(e)]);
    }
    return apply(*eq.primitive, eq.params, in, out.dtype, out.shape, result);
  }

  bool apply(const Primitive& p, const Params& params, const std::vector<std::vector<int>>& in,
             Dtype out, const Shape& shape, std::vector<int>& result) {
    std::vector<Dtype> types;
    for (const auto& list : in) types.push_back(list.empty() ? out : elements_.dtype(list[0]));
    return elements_.apply(
        [&](Builder& b, std::span<const int> values) {
          return lower(b, {p, params, types, out}, values);
        },
        weight(p), in, out, shape, result);
  }

  static double weight(const Primitive& p) { return p.cost == ElementCost::kHigh ? 8 : 1; }

  // In pairs, so that no sum waits for all before it.
  bool reduce(const Equation& eq, const Primitive& join, std::vector<int>& result) {
    const Aval &in = aval_of(eq.inputs[0]), &out = aval_of(eq.outputs[0]);
    const auto sets = reduced_elements(in.shape, eq.params.get<ReduceParams>().axes);
    if (sets.empty() || sets[0].empty()) return false;
    std::vector<std::vector<int>> rows(sets[0].size());
    for (size_t k = 0; k < rows.size(); ++k) {
      for (const auto& set : sets)
        rows[k].push_back(value(eq.inputs[0])[static_cast<size_t>(set[k])]);
    }
    while (rows.size() > 1) {
      std::vector<std::vector<int>> next;
      for (size_t k = 0; k + 1 < rows.size(); k += 2) {
        next.emplace_back();
        if (!apply(join, {}, {rows[k], rows[k + 1]}, out.dtype, out.shape, next.back()))
          return false;
      }
      if (rows.size() % 2 == 1) next.push_back(rows.back());
      rows = std::move(next);
    }
    result = rows[0];
    return true;
  }

  bool dot(const Equation& eq, std::vector<int>& result) {
    const Aval &a = aval_of(eq.inputs[0]), &b = aval_of(eq.inputs[1]),
               &out = aval_of(eq.outputs[0]);
    if (!is_floating(out.dtype) || a.dtype != out.dtype || b.dtype != out.dtype) return false;
    const Products p = products(eq.params.get<DotParams>(), a.shape, b.shape);
    if (p.terms == 0 || !(p.out == out.shape)) return false;
    const auto chosen = [&](ValueId v, const std::vector<int64_t>& places) {
      std::vector<int> list;
      for (const int64_t e : places) list.push_back(value(v)[static_cast<size_t>(e)]);
      return list;
    };
    for (size_t t = 0; t < p.a.size(); ++t) {
      std::vector<std::vector<int>> in = {chosen(eq.inputs[0], p.a[t]),
                                          chosen(eq.inputs[1], p.b[t])};
      if (t == 0) {
        if (!apply(mul_p, {}, in, out.dtype, out.shape, result)) return false;
        continue;
      }
      in.push_back(std::move(result));
      result.clear();
      elements_.apply(
          [&](Builder& b2, std::span<const int> v) {
            b2.set_wide(out.dtype == Dtype::kFloat64);
            return b2.add(Op::kFma, v[0], v[1], v[2]);
          },
          1, in, out.dtype, out.shape, result);
    }
    return true;
  }

  // What is an output of the graph is written at once, but for what the loop carries on.
  void store_outputs(ValueId v) {
    for (size_t k = loop_ == nullptr ? 0 : static_cast<size_t>(loop_->carry);
         k < graph_.outputs.size(); ++k) {
      if (graph_.outputs[k] == v) elements_.store(static_cast<int>(k), value(v));
    }
  }

  // The carry lies in memory as its reader wants it; all of it is read before any is written.
  void carry_on() {
    const int first = static_cast<int>(loop_->consts), end = first + static_cast<int>(loop_->carry);
    const auto carried = [&](int input) { return input >= first && input < end; };
    for (int i = first; i < end; ++i) {
      const auto& list = value(graph_.inputs[static_cast<size_t>(i)]);
      for (const int element : list) elements_.need_load(element);
    }
    std::vector<int> next;
    for (size_t l = 0; l < made_.loads.size(); ++l) {
      const TinyLoad load = made_.loads[l];
      if (!carried(load.input)) {
        next.push_back(-1);
        continue;
      }
      const auto& after = value(graph_.outputs[static_cast<size_t>(load.input - first)]);
      std::vector<int> list;
      for (const int e : load.elements) list.push_back(after[static_cast<size_t>(e)]);
      next.push_back(elements_.vector(list));
    }
    for (size_t l = 0; l < next.size(); ++l) {
      if (next[l] >= 0) elements_.store_carry(static_cast<int>(l), next[l]);
    }
  }

  const Graph& graph_;
  const fusion::TinyLoop* loop_;
  TinyProgram made_;
  Elements elements_;
  std::vector<std::vector<int>> values_;  // the elements of each value of the graph
};

}  // namespace

std::optional<TinyProgram> lower_tiny(const Graph& body, const fusion::TinyLoop* loop) {
  return Lowering(body, loop).run();
}

int64_t work_of(const Graph& graph, const Equation& eq) {
  if (eq.outputs.size() != 1) return -1;
  const auto aval = [&](ValueId v) -> const Aval& { return graph.avals[static_cast<size_t>(v)]; };
  int64_t largest = aval(eq.outputs[0]).shape.numel();
  bool lanes = has_lanes(aval(eq.outputs[0]).dtype);
  std::vector<Dtype> types;
  for (const ValueId v : eq.inputs) {
    largest = std::max(largest, aval(v).shape.numel());
    lanes = lanes && has_lanes(aval(v).dtype);
    types.push_back(aval(v).dtype);
  }
  if (!lanes || largest > fusion::kTinyElements || aval(eq.outputs[0]).shape.numel() == 0)
    return -1;
  if (eq.primitive == &iota_p || rules::only_moves(eq)) return 0;
  if (joining(eq, aval(eq.outputs[0]).dtype) != nullptr)
    return aval(eq.inputs[0]).shape.numel() == 0 ? -1 : largest;
  if (eq.primitive == &dot_general_p) {
    const Aval& out = aval(eq.outputs[0]);
    if (!is_floating(out.dtype) || types[0] != out.dtype || types[1] != out.dtype) return -1;
    const int64_t terms =
        products(eq.params.get<DotParams>(), aval(eq.inputs[0]).shape, aval(eq.inputs[1]).shape)
            .terms;
    return terms == 0 ? -1 : terms * out.shape.numel();
  }
  if (eq.primitive->scalar == nullptr) return -1;
  Program program;
  Builder builder(program, IsaLevel::kV3);
  std::vector<int> in;
  for (size_t i = 0; i < types.size(); ++i) {
    in.push_back(builder.add(Op::kInput));
  }
  if (lower(builder, {*eq.primitive, eq.params, types, aval(eq.outputs[0]).dtype}, in) < 0)
    return -1;
  return aval(eq.outputs[0]).shape.numel() *
         std::max<int64_t>(1, static_cast<int64_t>(program.insts.size() - in.size()));
}

}  // namespace spruce::cpu::x64
