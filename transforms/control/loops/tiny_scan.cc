// SPDX-License-Identifier: Apache-2.0
// A scan whose body is a tiny graph runs as one piece of machine code.
#include "spruce/core/fusion/tiny.h"
#include "spruce/core/graph/build.h"
#include "spruce/core/rules/group.h"
#include "spruce/transforms/control/loops/scan_rules.h"

namespace spruce::internal {
namespace {

constexpr int64_t kMostWork = 12000;  // scalar operations of one step

// The body with the equations that groups of them were made of.
Graph flattened(const Graph& body) {
  return rebuild(body, [](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    if (const GraphPtr group = rules::group_body(e))
      splice_for(out, e, *group, renamed);
    else
      out.equations.push_back(std::move(e));
  });
}

bool is_tiny(const Graph& g) {
  int64_t sum = 0;
  for (const Equation& e : g.equations) {
    const int64_t work = fusion::tiny_work(g, e);
    if (work < 0) return false;
    sum += work;
  }
  const auto small = [&](ValueId v) {
    const int64_t n = g.avals[at(v)].shape.numel();
    return n > 0 && n <= fusion::kTinyElements;
  };
  for (const ValueId v : g.inputs) {
    if (!small(v)) return false;
  }
  for (const ValueId v : g.outputs) {
    if (!small(v)) return false;
  }
  return sum <= kMostWork;
}

}  // namespace

std::unique_ptr<const PreparedKernel> tiny_scan(const ScanParams& p) {
  const Graph body = flattened(*p.body);
  if (!is_tiny(body)) return nullptr;
  return fusion::make_tiny_loop(body, {p.consts, p.carry, p.reverse, p.length});
}

}  // namespace spruce::internal
