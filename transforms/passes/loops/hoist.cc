// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/loops/hoist.h"

#include <algorithm>

#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {

using internal::at;

bool is_free_in_loops(const Equation& e) {
  return e.primitive == &broadcast_in_dim_p || e.primitive == &iota_p || e.primitive == &reshape_p;
}

void move_out(Graph& out, const Graph& body, std::vector<uint8_t> wanted,
              std::vector<ValueId>& outer) {
  for (size_t n = body.equations.size(); n-- > 0;) {
    const Equation& e = body.equations[n];
    const bool needed = std::any_of(e.outputs.begin(), e.outputs.end(), [&](ValueId v) {
      return wanted[at(v)] != 0 && outer[at(v)] == kNone;
    });
    if (!needed) continue;
    for (const ValueId v : e.outputs) wanted[at(v)] = 1;
    for (const ValueId v : e.inputs) wanted[at(v)] = 1;
  }
  for (const Graph::Constant& c : body.constants) {
    if (wanted[at(c.id)] == 0 || outer[at(c.id)] != kNone) continue;
    outer[at(c.id)] = out.add_value(c.value.aval());
    out.constants.push_back({outer[at(c.id)], c.value});
  }
  for (const Equation& e : body.equations) {
    if (wanted[at(e.outputs[0])] == 0 || outer[at(e.outputs[0])] != kNone) continue;
    Equation moved = e;
    for (ValueId& v : moved.inputs) v = outer[at(v)];
    for (ValueId& v : moved.outputs) v = outer[at(v)] = out.add_value(body.avals[at(v)]);
    out.equations.push_back(std::move(moved));
  }
}

}  // namespace spruce::passes
