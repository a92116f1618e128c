// SPDX-License-Identifier: Apache-2.0
// What a scan hands on or gives and nobody needs; carries that never change.
#include <algorithm>

#include "spruce/transforms/passes/loops/scan_parts.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

// Marks what the marked values are made from.
std::vector<uint8_t> needed_for(const ScanParts& s, std::vector<uint8_t> marked) {
  for (size_t n = s.body.equations.size(); n-- > 0;) {
    const Equation& e = s.body.equations[n];
    if (std::none_of(e.outputs.begin(), e.outputs.end(),
                     [&](ValueId v) { return marked[static_cast<size_t>(v)] != 0; }))
      continue;
    for (const ValueId v : e.inputs) marked[static_cast<size_t>(v)] = 1;
  }
  return marked;
}

// What is handed over twice is handed over once.
void merge(ScanParts& s, std::vector<ScanParts::Operand>& operands) {
  std::vector<ScanParts::Operand> kept;
  for (const ScanParts::Operand& o : operands) {
    const auto twin = std::find_if(kept.begin(), kept.end(), [&](const ScanParts::Operand& k) {
      return k.outside == o.outside;
    });
    if (twin == kept.end())
      kept.push_back(o);
    else
      s.replace(o.inside, twin->inside);
  }
  operands = std::move(kept);
}

template <class T, class Test>
void keep_if(std::vector<T>& x, const Test& test) {
  x.erase(std::remove_if(x.begin(), x.end(), [&](const T& o) { return !test(o); }), x.end());
}

void tidy(ScanParts& s, Outside& outside) {
  keep_if(s.carry, [&](const ScanParts::Carry& c) {
    if (c.before != c.after) return true;
    s.consts.push_back({c.init, c.before});
    outside.renamed[static_cast<size_t>(c.last)] = c.init;
    return false;
  });
  merge(s, s.consts);
  merge(s, s.xs);
  const auto at = [](ValueId v) { return static_cast<size_t>(v); };
  keep_if(s.ys, [&](const ScanParts::Operand& y) { return outside.used[at(y.outside)] != 0; });
  std::vector<ScanParts::Operand> kept;
  for (const ScanParts::Operand& y : s.ys) {
    const auto twin = std::find_if(kept.begin(), kept.end(), [&](const ScanParts::Operand& k) {
      return k.inside == y.inside;
    });
    const auto x = std::find_if(s.xs.begin(), s.xs.end(),
                                [&](const ScanParts::Operand& k) { return k.inside == y.inside; });
    if (x != s.xs.end())
      outside.renamed[at(y.outside)] = x->outside;
    else if (twin != kept.end())
      outside.renamed[at(y.outside)] = twin->outside;
    else
      kept.push_back(y);
  }
  s.ys = std::move(kept);
  // The carries that something needs are the smallest set that has all that its members are made
  // from.
  std::vector<uint8_t> live = s.marks();
  for (const ScanParts::Operand& y : s.ys) live[at(y.inside)] = 1;
  for (const ScanParts::Carry& c : s.carry) live[at(c.after)] |= outside.used[at(c.last)];
  for (bool again = true; again;) {
    again = false;
    live = needed_for(s, std::move(live));
    for (const ScanParts::Carry& c : s.carry) {
      if (live[at(c.before)] == 0 || live[at(c.after)] != 0) continue;
      live[at(c.after)] = 1;
      again = true;
    }
  }
  keep_if(s.carry, [&](const ScanParts::Carry& c) {
    return live[at(c.before)] != 0 || outside.used[at(c.last)] != 0;
  });
  keep_if(s.consts, [&](const ScanParts::Operand& c) { return live[at(c.inside)] != 0; });
  keep_if(s.xs, [&](const ScanParts::Operand& x) { return live[at(x.inside)] != 0; });
  keep_if(s.body.equations, [&](const Equation& e) {
    return std::any_of(e.outputs.begin(), e.outputs.end(),
                       [&](ValueId v) { return live[at(v)] != 0; });
  });
}

}  // namespace

Graph simplify_scans(Graph graph) {
  if (!has_bodies(graph)) return graph;
  return rewrite_scans(std::move(graph), tidy, simplify_scans);
}

}  // namespace spruce::passes
