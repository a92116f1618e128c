// SPDX-License-Identifier: Apache-2.0
// What one scan stacks for another and the other can make by itself out of what it has: reverse
// mode keeps y and 1 - y * y of a tanh, or a carry before the step and behind it.
#include <algorithm>
#include <map>
#include <optional>

#include "spruce/core/ops/math.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/loops/scan_parts.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

constexpr size_t kMostWork = 12;  // elementwise operations that are cheaper than an array in memory

using internal::at;

// Nothing that takes longer than a trip to memory.
bool is_cheap(const Equation& e) {
  if (e.primitive == &integer_pow_p) {
    const int64_t n = e.params.get<IntegerPowParams>().n;
    return n >= 0 && n <= 4;
  }
  return e.primitive->cost != ElementCost::kHigh;
}

// How a stacked value comes from others of its step.
struct RematPlan {
  std::vector<size_t> equations;  // of the body, in order
  std::vector<ScanParts::Operand> consts, slices;
  std::vector<Graph::Constant> constants;
};

class Residuals {
 public:
  explicit Residuals(Graph graph) : g_(std::move(graph)), users_(g_.avals.size()) {
    for (size_t n = 0; n < g_.equations.size(); ++n) {
      Equation& e = g_.equations[n];
      if (has_bodies(e)) e.params = map_graphs(e.params, rematerialize_residuals);
      for (const ValueId v : e.inputs) {
        auto& users = users_[at(v)];
        if (users.empty() || users.back() != n) users.push_back(n);
      }
      if (e.primitive == &scan_p) scans_.emplace(n, ScanParts(e));
    }
  }

  Graph run() {
    for (auto& [n, scan] : scans_) {
      const size_t values = g_.avals.size();
      export_carries(scan);
      recompute(scan);
      shift(scan, values);
    }
    for (auto& [n, scan] : scans_) g_.equations[n] = scan.equation();
    std::vector<Equation> all;
    for (size_t n = 0; n <= g_.equations.size(); ++n) {
      for (Equation& e : before_[n]) all.push_back(std::move(e));
      if (n < g_.equations.size()) all.push_back(std::move(g_.equations[n]));
    }
    g_.equations = std::move(all);
    return std::move(g_);
  }

 private:
  bool is_result(ValueId v) const {
    return std::find(g_.outputs.begin(), g_.outputs.end(), v) != g_.outputs.end();
  }
  // True if the scan takes slices of v and nothing else of it.
  static bool only_slices(const ScanParts& s, ValueId v) {
    return std::none_of(s.consts.begin(), s.consts.end(),
                        [&](const ScanParts::Operand& c) { return c.outside == v; }) &&
           std::none_of(s.carry.begin(), s.carry.end(),
                        [&](const ScanParts::Carry& c) { return c.init == v; });
  }
  static const ScanParts::Operand* find(const std::vector<ScanParts::Operand>& list, ValueId v,
                                        ValueId ScanParts::Operand::*by) {
    const auto it = std::find_if(list.begin(), list.end(),
                                 [&](const ScanParts::Operand& o) { return o.*by == v; });
    return it == list.end() ? nullptr : &*it;
  }

  void recompute(ScanParts& f) {
    std::vector<size_t> source(f.body.avals.size(), SIZE_MAX);
    for (size_t n = 0; n < f.body.equations.size(); ++n) {
      for (const ValueId v : f.body.equations[n].outputs) source[at(v)] = n;
    }
    std::vector<ScanParts::Operand> ys;  // the last first: none is made from one that is gone
    for (const ScanParts::Operand& y : f.ys) {
      if (source[at(y.inside)] != SIZE_MAX) ys.push_back(y);
    }
    std::stable_sort(ys.begin(), ys.end(), [&](const auto& a, const auto& b) {
      return source[at(a.inside)] > source[at(b.inside)];
    });
    for (const ScanParts::Operand& y : ys) {
      const std::vector<size_t> users = users_[at(y.outside)];
      if (users.empty() || is_result(y.outside)) continue;
      const std::optional<RematPlan> plan = remat_plan(f, source, y);
      if (!plan || !std::all_of(users.begin(), users.end(),
                                [&](size_t n) { return pays(n, y.outside, *plan); }))
        continue;
      for (const size_t n : users) rematerialize(f, n, y.outside, *plan);
      users_[at(y.outside)].clear();
      f.ys.erase(std::find_if(f.ys.begin(), f.ys.end(),
                              [&](const auto& o) { return o.outside == y.outside; }));
    }
  }

  std::optional<RematPlan> remat_plan(const ScanParts& f, const std::vector<size_t>& source,
                                      const ScanParts::Operand& of) const {
    RematPlan r;
    std::vector<uint8_t> seen(f.body.avals.size(), 0);
    std::vector<ValueId> todo = {of.inside};
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      if (seen[at(v)] != 0) continue;
      seen[at(v)] = 1;
      const auto* y = v == of.inside ? nullptr : find(f.ys, v, &ScanParts::Operand::inside);
      const auto* x = find(f.xs, v, &ScanParts::Operand::inside);
      const auto* c = find(f.consts, v, &ScanParts::Operand::inside);
      const auto constant = std::find_if(f.body.constants.begin(), f.body.constants.end(),
                                         [&](const Graph::Constant& k) { return k.id == v; });
      if (y != nullptr || x != nullptr) {
        r.slices.push_back(y != nullptr ? *y : *x);
      } else if (c != nullptr) {
        r.consts.push_back(*c);
      } else if (constant != f.body.constants.end()) {
        r.constants.push_back(*constant);
      } else {
        const size_t n = source[at(v)];
        if (n == SIZE_MAX || !is_cheap(f.body.equations[n]) || r.equations.size() == kMostWork)
          return std::nullopt;
        r.equations.push_back(n);
        for (const ValueId in : f.body.equations[n].inputs) todo.push_back(in);
      }
    }
    std::sort(r.equations.begin(), r.equations.end());
    return r;
  }

  // True if equation n can follow the plan for v, and needs no more memory for that.
  bool pays(size_t n, ValueId v, const RematPlan& r) const {
    const auto it = scans_.find(n);
    if (it == scans_.end() || !only_slices(it->second, v)) return false;
    int64_t more = 0;
    const auto count = [&](const std::vector<ScanParts::Operand>& wanted,
                           const std::vector<ScanParts::Operand>& there) {
      for (const ScanParts::Operand& o : wanted) {
        if (find(there, o.outside, &ScanParts::Operand::outside) == nullptr)
          more += g_.avals[at(o.outside)].bytes();
      }
    };
    count(r.slices, it->second.xs);
    count(r.consts, it->second.consts);
    return more <= g_.avals[at(v)].bytes();
  }

  // Puts what scan f does to get v into scan n.
  void rematerialize(const ScanParts& f, size_t n, ValueId v, const RematPlan& r) {
    ScanParts& s = scans_.at(n);
    std::map<ValueId, ValueId> renamed;
    const auto take = [&](const std::vector<ScanParts::Operand>& wanted,
                          std::vector<ScanParts::Operand>& there) {
      for (const ScanParts::Operand& o : wanted) {
        const auto* found = find(there, o.outside, &ScanParts::Operand::outside);
        if (found == nullptr) {
          there.push_back({o.outside, s.body.add_value(f.body.avals[at(o.inside)])});
          found = &there.back();
          users_[at(o.outside)].push_back(n);
        }
        renamed[o.inside] = found->inside;
      }
    };
    take(r.slices, s.xs);
    take(r.consts, s.consts);
    for (const Graph::Constant& c : r.constants) {
      renamed[c.id] = s.body.add_value(f.body.avals[at(c.id)]);
      s.body.constants.push_back({renamed[c.id], c.value});
    }
    std::vector<Equation> made;
    for (const size_t k : r.equations) {
      Equation e = f.body.equations[k];
      for (ValueId& in : e.inputs) in = renamed.at(in);
      for (ValueId& out : e.outputs) out = renamed[out] = s.body.add_value(f.body.avals[at(out)]);
      made.push_back(std::move(e));
    }
    const ValueId result = made.back().outputs[0];
    s.body.equations.insert(s.body.equations.begin(), std::make_move_iterator(made.begin()),
                            std::make_move_iterator(made.end()));
    std::vector<ScanParts::Operand> xs;
    for (const ScanParts::Operand& x : s.xs) {
      if (x.outside == v)
        s.replace(x.inside, result);
      else
        xs.push_back(x);
    }
    s.xs = std::move(xs);
  }

  // A carry as it was before each step is the same array as that of what it was after each, moved
  // on by one. Loops read both at once, so for them it stays.
  const ScanParts::Carry* shifted(const ScanParts& f, const ScanParts::Operand& y) const {
    const auto carry = [&](ValueId v) -> const ScanParts::Carry* {
      const auto it = std::find_if(f.carry.begin(), f.carry.end(),
                                   [&](const ScanParts::Carry& k) { return k.before == v; });
      return it == f.carry.end() ? nullptr : &*it;
    };
    const ScanParts::Carry* c = carry(y.inside);
    const auto& users = users_[at(y.outside)];
    const bool moves =
        c != nullptr && carry(c->after) == nullptr && f.params.length > 1 &&
        std::none_of(users.begin(), users.end(), [&](size_t k) { return scans_.count(k) > 0; });
    return moves ? c : nullptr;
  }

  // Keeps carries after the step, where they are kept before it.
  void export_carries(ScanParts& f) {
    for (size_t k = 0, n = f.ys.size(); k < n; ++k) {
      const ScanParts::Carry* c = shifted(f, f.ys[k]);
      if (c == nullptr || find(f.ys, c->after, &ScanParts::Operand::inside) != nullptr) continue;
      f.ys.push_back({g_.add_value(g_.avals[at(f.ys[k].outside)]), c->after});
      users_.resize(g_.avals.size());
    }
  }

  // What was exported and is of no use goes.
  void shift(ScanParts& f, size_t first_exported) {
    std::vector<ScanParts::Operand> kept;
    for (const ScanParts::Operand& y : f.ys) {
      const bool exported = y.outside >= static_cast<ValueId>(first_exported);
      if (!exported || !users_[at(y.outside)].empty()) kept.push_back(y);
    }
    f.ys = std::move(kept);
    kept.clear();
    for (const ScanParts::Operand& y : f.ys) {
      const ScanParts::Carry* c = shifted(f, y);
      const auto* after =
          c == nullptr ? nullptr : find(f.ys, c->after, &ScanParts::Operand::inside);
      if (after == nullptr)
        kept.push_back(y);
      else
        emit_shifted(f, c->init, after->outside, y.outside);
    }
    f.ys = std::move(kept);
  }

  // Right in front of the first equation that needs it.
  void emit_shifted(const ScanParts& f, ValueId first, ValueId all, ValueId result) {
    const auto& users = users_[at(result)];
    auto& to = before_[users.empty() ? g_.equations.size() : users.front()];
    const Aval type = g_.avals[at(all)], one = g_.avals[at(first)];
    const auto emit = [&](const Primitive& p, Params params, std::vector<ValueId> in,
                          const Aval& out) {
      const ValueId v = g_.add_value(out);
      to.push_back({&p, std::move(params), std::move(in), {v}, f.place});
      return v;
    };
    const auto number = [&](Dtype dtype, int64_t value) {
      const Array x = rules::scalar_of(dtype, static_cast<double>(value));
      g_.constants.push_back({g_.add_value(x.aval()), x});
      return g_.constants.back().id;
    };
    Shape low = Shape::filled(type.shape.rank(), 0), high = low;
    low[0] = f.params.reverse ? -1 : 1;
    high[0] = -low[0];
    const ValueId moved =
        emit(pad_p, Params::make(PadParams{low, high, Shape::filled(type.shape.rank(), 0)}),
             {all, number(type.dtype, 0)}, type);
    Aval row = one;
    row.shape.insert(0, 1);
    const ValueId slice = emit(reshape_p, Params::make(ReshapeParams{row.shape}), {first}, row);
    std::vector<ValueId> in = {moved, slice,
                               number(int32, f.params.reverse ? f.params.length - 1 : 0)};
    for (int i = 1; i < type.shape.rank(); ++i) in.push_back(number(int32, 0));
    to.push_back({&dynamic_update_slice_p, {}, std::move(in), {result}, f.place});
  }

  Graph g_;
  std::vector<std::vector<size_t>> users_;  // equations, by value
  std::map<size_t, ScanParts> scans_;
  std::map<size_t, std::vector<Equation>> before_;  // new ones in front of others
};

}  // namespace

Graph rematerialize_residuals(Graph graph) {
  if (!has_bodies(graph)) return graph;
  return Residuals(std::move(graph)).run();
}

}  // namespace spruce::passes
