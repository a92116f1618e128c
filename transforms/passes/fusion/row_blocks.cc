// SPDX-License-Identifier: Apache-2.0
// Equations that treat the rows of large arrays one by one, and that pass arrays to each other, run
// on a block of rows after the other, as a scan: so that what passes between them stays in the
// second-level cache, and takes no memory but that of a block. A product and the stages around it,
// a stack of layers, windows over a convolution, gathered rows and their sums. Where rows end in a
// scatter, what it changes is the carry of the scan.
#include "spruce/transforms/passes/fusion/row_blocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "spruce/core/graph/build.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/dot.h"
#include "spruce/core/rules/group.h"
#include "spruce/core/rules/layouts.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::passes {
namespace {

constexpr int64_t kFactor = 16;
constexpr int64_t kMostVisits = 1 << 22;  // a group may be anywhere behind its first equation
constexpr int64_t kNoProducts = 4;        // as small are blocks that no product needs to be large

using internal::at, internal::is_view;
using rules::params_for_rows, rules::reads_of_rows;

bool is_product(const Equation& e) {
  return e.primitive == &dot_general_p || e.primitive == &conv_general_p;
}

// Over arrays with `all` rows, in blocks of `rows_`.
class RowBlocks {
 public:
  RowBlocks(const Graph& g, const rules::Layouts& layouts, int64_t all,
            const RowBlockLimits& limits, int64_t& visits)
      : g_(g), layouts_(layouts), all_(all), limits_(limits), visits_(visits) {
    const size_t count = g_.equations.size();
    member_.assign(count, 0);
    reads_.resize(count);
    scatters_.resize(count);
    for (size_t n = 0; n < count; ++n) scatters_[n] = takes_blocks(g_.equations[n]);
    wanted_.assign(g_.avals.size(), 0);
    for (const ValueId v : g_.outputs) wanted_[at(v)] = 1;
  }

  // The graph with one group in blocks; none where no group pays.
  std::optional<Graph> run() {
    if (!choose_rows()) return std::nullopt;
    const size_t count = g_.equations.size();
    find_reads();  // the bits of a product may depend on the number of rows
    std::vector<uint8_t> tried(count, 0);
    for (size_t seed = 0; seed < count; ++seed) {
      if (tried[seed] != 0 || !reads_[seed] || !is_large(g_.equations[seed].outputs[0])) continue;
      if ((visits_ -= static_cast<int64_t>(count)) < 0) break;
      grow(seed);
      if (pays()) return rewritten();
      for (size_t n = 0; n < count; ++n) tried[n] |= member_[n];
    }
    return std::nullopt;
  }

 private:
  bool is_large(ValueId v) const { return g_.avals[at(v)].bytes() >= limits_.large; }
  bool made(ValueId v) const { return made_[at(v)] != 0; }
  // What only says how others read and write.
  bool is_free(size_t n) const { return is_view(g_.equations[n]) || !layouts_.runs(n); }

  // True for a scatter whose updates and index vectors have rows that may be scattered in blocks.
  bool takes_blocks(const Equation& e) const {
    if (e.primitive->updates_in_blocks == nullptr) return false;
    const std::vector<const Aval*> in = types_of(g_, e.inputs), out = types_of(g_, e.outputs);
    return e.primitive->updates_in_blocks({in, out, e.params, all_, all_});
  }

  void find_reads() {
    for (size_t n = 0; n < reads_.size(); ++n)
      reads_[n] = reads_of_rows(g_, g_.equations[n], all_, rows_);
  }

  // The largest blocks of equal size whose equations stay in the cache. Elementwise ones work in
  // place, unless on arrays from elsewhere.
  bool choose_rows() {
    rows_ = all_ / limits_.blocks;
    find_reads();
    std::vector<uint8_t> by_rows(g_.avals.size(), 0);
    int64_t most = 0;
    bool has_products = false;
    for (size_t n = 0; n < reads_.size(); ++n) {
      const Equation& e = g_.equations[n];
      if (!reads_[n] || is_free(n)) continue;
      has_products = has_products || is_product(e);
      int64_t read = 0, written = 0;
      bool in_place = e.primitive == &fused_p || e.primitive->in_place;
      for (size_t i = 0; i < e.inputs.size(); ++i) {
        const ValueId v = e.inputs[i];
        if ((*reads_[n])[i] == RowRead::kWhole) continue;
        read += g_.avals[at(v)].bytes();
        in_place = in_place && by_rows[at(v)] != 0;
      }
      for (const ValueId v : e.outputs) {
        written += g_.avals[at(v)].bytes();
        by_rows[at(v)] = 1;
      }
      most = std::max(most, (in_place ? std::max(read, written) : read + written) / all_);
    }
    if (most == 0) return false;
    const int64_t block = has_products ? limits_.block : limits_.block / kNoProducts;
    const int64_t fit = std::min(block / most, all_ / limits_.blocks);
    // Many small factors suit kernels that take several rows at a time.
    int64_t best = 0, factor = 0;
    for (int64_t rows = fit; rows >= std::max(limits_.rows, fit / 4); --rows) {
      if (all_ % rows != 0 || std::min(rows & -rows, kFactor) <= factor) continue;
      best = rows, factor = std::min(rows & -rows, kFactor);
    }
    rows_ = best;
    return best > 0;
  }

  // The group of an equation: what passes rows to others in it, or reads the rows of one array.
  void grow(size_t seed) {
    const size_t count = g_.equations.size();
    std::fill(member_.begin(), member_.end(), 0);
    made_.assign(g_.avals.size(), 0);
    std::vector<uint8_t> behind(g_.avals.size(), 0), read(g_.avals.size(), 0);
    for (size_t n = seed; n < count; ++n) {
      const Equation& e = g_.equations[n];
      if (scatters_group(n, behind)) {
        member_[n] = 1;
        behind[at(e.outputs[0])] = 1;
        continue;
      }
      bool joins = reads_[n].has_value(), of_group = n == seed, needs = false;
      for (size_t i = 0; i < e.inputs.size(); ++i) {
        const ValueId v = e.inputs[i];
        const bool rows = reads_[n] && (*reads_[n])[i] == RowRead::kRows;
        needs = needs || made(v) || behind[at(v)] != 0;
        joins = joins && behind[at(v)] == 0 && (rows || !made(v));
        of_group = of_group || (rows && (made(v) || read[at(v)] != 0));
      }
      if (joins && of_group) {
        member_[n] = 1;
        for (const ValueId v : e.outputs) made_[at(v)] = 1;
        for (size_t i = 0; i < e.inputs.size(); ++i) {
          if ((*reads_[n])[i] == RowRead::kRows && is_large(e.inputs[i])) read[at(e.inputs[i])] = 1;
        }
      } else if (needs) {
        for (const ValueId v : e.outputs) behind[at(v)] = 1;
      }
    }
    find_escaping();
    // What does not run is as good outside if no member reads it.
    for (size_t n = count; n-- > seed;) {
      const Equation& e = g_.equations[n];
      if (member_[n] == 0 || !is_free(n) || inner_readers_[at(e.outputs[0])] > 0) continue;
      member_[n] = made_[at(e.outputs[0])] = 0;
      for (const ValueId v : e.inputs) --inner_readers_[at(v)];
    }
    find_escaping();
  }

  // True for a scatter of rows that the group makes into what no member reads.
  bool scatters_group(size_t n, const std::vector<uint8_t>& behind) const {
    const Equation& e = g_.equations[n];
    if (!scatters_[n] || !made(e.inputs[2]) || made(e.inputs[0])) return false;
    for (const ValueId v : e.inputs) {
      if (behind[at(v)] != 0) return false;
    }
    for (size_t m = 0; m < n; ++m) {
      const std::vector<ValueId>& in = g_.equations[m].inputs;
      if (member_[m] != 0 && std::find(in.begin(), in.end(), e.inputs[0]) != in.end()) return false;
    }
    return true;
  }

  // How a member reads input i.
  RowRead read(size_t n, size_t i) const {
    if (scatters_[n]) return i == 0 ? RowRead::kWhole : RowRead::kRows;
    return (*reads_[n])[i];
  }

  void find_escaping() {
    leaves_ = wanted_;
    inner_readers_.assign(g_.avals.size(), 0);
    for (size_t n = 0; n < g_.equations.size(); ++n) {
      for (const ValueId v : g_.equations[n].inputs) {
        if (member_[n] != 0)
          ++inner_readers_[at(v)];
        else
          leaves_[at(v)] = 1;
      }
    }
  }

  // Trips to memory that are spared against operands of products that are read again.
  bool pays() const {
    std::vector<ValueId> root(g_.avals.size());
    for (size_t v = 0; v < root.size(); ++v) root[v] = static_cast<ValueId>(v);
    std::vector<int64_t> trips(g_.avals.size(), 0);
    std::vector<uint8_t> leaves = leaves_;
    double again = 0;
    int64_t working = 0;
    for (size_t n = 0; n < member_.size(); ++n) {
      const Equation& e = g_.equations[n];
      if (member_[n] == 0) continue;
      if (is_free(n)) {
        const ValueId from = root[at(e.outputs[0])] = root[at(e.inputs[0])];
        leaves[at(from)] |= leaves[at(e.outputs[0])];
        continue;
      }
      ++working;
      if (is_product(e) && read(n, 1) == RowRead::kWhole)
        again += static_cast<double>(g_.avals[at(e.inputs[1])].bytes() * (all_ / rows_ - 1));
      for (size_t i = 0; i < e.inputs.size(); ++i) {
        if (read(n, i) == RowRead::kRows) ++trips[at(root[at(e.inputs[i])])];
      }
    }
    double spared = 0, escaping = 0;
    for (size_t v = 0; v < trips.size(); ++v) {
      const auto id = static_cast<ValueId>(v);
      if (root[v] != id || !is_large(id)) continue;
      const auto bytes = static_cast<double>(g_.avals[v].bytes());
      const bool written = made(id), left = written && leaves[v] != 0;
      if (left) escaping += bytes;
      if (trips[v] > 0)
        spared += static_cast<double>(trips[v] + (!written ? -1 : left ? 0 : 1)) * bytes;
    }
    return working >= limits_.equations && spared >= static_cast<double>(limits_.least) &&
           limits_.again * again + limits_.escaping * escaping <= spared;
  }

  Shape in_blocks(Shape shape) const {
    shape[0] = rows_;
    shape.insert(0, all_ / rows_);
    return shape;
  }

  Graph rewritten() const {
    Graph out = without_equations(g_);
    std::vector<uint8_t> behind(g_.avals.size(), 0);
    std::vector<const Equation*> after;
    size_t last = 0;
    for (size_t n = 0; n < member_.size(); ++n) last = member_[n] != 0 ? n : last;
    for (size_t n = 0; n < member_.size(); ++n) {
      const Equation& e = g_.equations[n];
      if (member_[n] != 0) {
        if (scatters_[n]) behind[at(e.outputs[0])] = 1;
        continue;
      }
      bool waits = n > last;
      for (const ValueId v : e.inputs) waits = waits || made(v) || behind[at(v)] != 0;
      if (!waits) {
        out.equations.push_back(e);
        continue;
      }
      for (const ValueId v : e.outputs) behind[at(v)] = 1;
      after.push_back(&e);
    }
    add_loop(out);
    for (const Equation* e : after) out.equations.push_back(*e);
    return out;
  }

  void add_loop(Graph& out) const {
    Graph body;
    std::vector<ValueId> wholes, slices, whole_inside, slice_inside;
    std::vector<ValueId> carry, carry_inside, carry_out, carry_results;
    std::map<std::pair<ValueId, RowRead>, ValueId> inside;
    const auto part = [&](Aval a) {
      a.shape[0] = rows_;
      return a;
    };
    const auto operand = [&](ValueId v, RowRead read) {
      const auto [it, added] = inside.try_emplace({v, read}, 0);
      if (!added) return it->second;
      const bool whole = read == RowRead::kWhole;
      it->second = body.add_value(whole ? g_.avals[at(v)] : part(g_.avals[at(v)]));
      (whole ? wholes : slices).push_back(v);
      (whole ? whole_inside : slice_inside).push_back(it->second);
      return it->second;
    };
    Equation loop;
    loop.primitive = &scan_p;
    std::vector<ValueId> results;
    for (size_t n = 0; n < member_.size(); ++n) {
      if (member_[n] == 0) continue;
      Equation e = g_.equations[n];
      if (loop.place.empty()) loop.place = e.place;
      if (scatters_[n]) {
        carry.push_back(e.inputs[0]);
        carry_inside.push_back(body.add_value(g_.avals[at(e.inputs[0])]));
        carry_results.push_back(e.outputs[0]);
        carry_out.push_back(body.add_value(g_.avals[at(e.outputs[0])]));
        e.inputs = {carry_inside.back(), operand(e.inputs[1], RowRead::kRows),
                    operand(e.inputs[2], RowRead::kRows)};
        e.outputs = {carry_out.back()};
        body.equations.push_back(std::move(e));
        continue;
      }
      e.params = params_for_rows(e, rows_);
      for (size_t i = 0; i < e.inputs.size(); ++i)
        e.inputs[i] = operand(e.inputs[i], (*reads_[n])[i]);
      for (ValueId& v : e.outputs) {
        const ValueId y = inside[{v, RowRead::kRows}] = body.add_value(part(g_.avals[at(v)]));
        if (leaves_[at(v)] != 0) {
          body.outputs.push_back(y);
          results.push_back(v);
        }
        v = y;
      }
      body.equations.push_back(std::move(e));
    }
    const auto append = [](std::vector<ValueId>& to, const std::vector<ValueId>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    body.inputs = whole_inside;
    append(body.inputs, carry_inside);
    append(body.inputs, slice_inside);
    append(carry_out, body.outputs);
    body.outputs = carry_out;
    loop.inputs = wholes;
    append(loop.inputs, carry);
    const auto reshape = [&](ValueId from, ValueId to) {
      Params p = Params::make(ReshapeParams{out.avals[at(to)].shape});
      out.equations.push_back({&reshape_p, std::move(p), {from}, {to}, loop.place});
    };
    const auto stacked = [&](ValueId v) {
      Aval a = g_.avals[at(v)];
      a.shape = in_blocks(a.shape);
      return out.add_value(a);
    };
    for (const ValueId v : slices) {
      loop.inputs.push_back(stacked(v));
      reshape(v, loop.inputs.back());
    }
    std::vector<ValueId> outputs;
    for (const ValueId v : results) outputs.push_back(stacked(v));
    loop.outputs = carry_results;
    append(loop.outputs, outputs);
    ScanParams p;
    p.length = all_ / rows_;
    p.consts = static_cast<int64_t>(wholes.size());
    p.carry = static_cast<int64_t>(carry.size());
    p.body = std::make_shared<const Graph>(std::move(body));
    loop.params = Params::make(std::move(p));
    out.equations.push_back(std::move(loop));
    for (size_t k = 0; k < results.size(); ++k) reshape(outputs[k], results[k]);
  }

  const Graph& g_;
  const rules::Layouts& layouts_;
  const int64_t all_;
  const RowBlockLimits& limits_;
  int64_t& visits_;  // of equations, that are left
  int64_t rows_ = 0;
  std::vector<std::optional<std::vector<RowRead>>> reads_;  // by equation
  std::vector<bool> scatters_;                              // by equation: rows into its operand
  std::vector<uint8_t> member_;                             // by equation: of the group
  std::vector<uint8_t> made_;                               // by value: in the group
  std::vector<uint8_t> wanted_, leaves_;                    // by value: by the graph, by others
  std::vector<int32_t> inner_readers_;                      // by value: members
};

}  // namespace

Graph row_blocks(Graph graph, const RowBlockLimits& limits) {
  Graph out = std::move(graph);
  std::set<int64_t> all;
  for (Equation& e : out.equations) {
    if (has_bodies(e)) {
      e.params = e.params.map_graphs([&](const GraphPtr& g) {
        return g == nullptr ? g : std::make_shared<const Graph>(row_blocks(*g, limits));
      });
      continue;
    }
    for (const ValueId v : e.outputs) {
      const Aval& a = out.avals[at(v)];
      if (a.shape.rank() > 0 && a.bytes() >= limits.large &&
          a.shape[0] >= limits.rows * limits.blocks)
        all.insert(a.shape[0]);
    }
  }
  if (all.empty()) return out;
  int64_t visits = kMostVisits;
  rules::Layouts layouts(out, rules::Layouts::Takers::kWorking);
  for (const int64_t rows : all) {
    for (size_t before = 0; before != out.equations.size() && visits > 0;) {
      before = out.equations.size();
      std::optional<Graph> blocks = RowBlocks(out, layouts, rows, limits, visits).run();
      if (!blocks) break;
      out = *std::move(blocks);
      layouts = rules::Layouts(out, rules::Layouts::Takers::kWorking);
    }
  }
  return out;
}

Graph row_blocks(Graph graph) { return row_blocks(std::move(graph), RowBlockLimits{}); }

}  // namespace spruce::passes
