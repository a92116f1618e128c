// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/branches/switch.h"

#include <algorithm>

#include "spruce/core/default_device.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::internal {
namespace {

// The type that two branches' results have together, if there is one.
bool agree(const Aval& a, const Aval& b, Aval* both) {
  if (!(a.shape == b.shape)) return false;
  const Dtype dtype = promote(a.dtype, a.weak, b.dtype, b.weak);
  if ((!a.weak && dtype != a.dtype) || (!b.weak && dtype != b.dtype)) return false;
  if (a.device != b.device && is_placed(a) && is_placed(b)) return false;
  *both = {dtype, a.weak && b.weak, a.shape, is_placed(a) ? a.device : b.device};
  return true;
}

// Where a result comes from, for messages; the branches of cond have no numbers.
std::string origin(const char* op, size_t branch) {
  if (std::string_view(op) == "cond")
    return branch == 0 ? "where the predicate does not hold" : "where it holds";
  return "from branch " + std::to_string(branch);
}

// Gives the results of all branches the same types.
void settle_results(const char* op, std::vector<Body>& bodies,
                    const std::vector<std::string>& paths) {
  std::vector<Aval> types = bodies[0].results();
  for (size_t b = 1; b < bodies.size(); ++b) {
    const std::vector<Aval> other = bodies[b].results();
    for (size_t k = 0; k < types.size(); ++k) {
      const Aval first = types[k];
      if (agree(first, other[k], &types[k])) continue;
      const std::string message = std::string(op) + ": " + paths[k] + " is " + to_string(first) +
                                  " " + origin(op, 0) + " and " + to_string(other[k]) + " " +
                                  origin(op, b) + "; ";
      if (first.device != other[k].device && is_placed(first) && is_placed(other[k]))
        throw DeviceError(message + "move one of them with to_device");
      if (first.shape == other[k].shape)
        throw DtypeError(message + "convert one of them with astype");
      throw ShapeError(message + "all branches give results of one shape");
    }
  }
  for (Body& b : bodies) {
    for (size_t k = 0; k < types.size(); ++k) convert_output(b.graph, k, types[k]);
  }
}

}  // namespace

Array branch_index(const Array& index) {
  if (index.rank() != 0)
    throw ShapeError("switch_: the index is " + to_string(index.aval()) +
                     "; it must be one integer");
  if (!is_integer(index.dtype()))
    throw DtypeError("switch_: the index is " + to_string(index.aval()) +
                     ", not an integer; convert it with astype");
  // Within i32 before the conversion, which would wrap.
  if (index.dtype() == int32) return index;
  const Array low = is_unsigned_integer(index.dtype()) ? Array(0) : Array(-1);
  return astype(size_of(index.dtype()) < 4 ? index : clip(index, low, Array(INT32_MAX)), int32);
}

void check_branch_form(const char* op, size_t branch, const std::string& difference) {
  if (difference.empty()) return;
  throw TreeError(std::string(op) + ": the result " + origin(op, 0) + " and the one " +
                  origin(op, branch) + " have different forms: " + difference);
}

std::vector<Array> flat_switch(const char* op, const Array& index, std::vector<Array> args,
                               const std::vector<FlatBody>& branches,
                               const std::vector<std::string>& paths) {
  if (branches.empty()) throw ValueError(std::string(op) + ": there are no branches; give one");
  std::vector<Aval> types;
  for (const Array& a : args) types.push_back(a.aval());
  std::vector<Body> bodies;
  for (const FlatBody& f : branches) bodies.push_back(stage_body(op, f, types));
  settle_results(op, bodies, paths);
  // Every branch takes what any of them closes over.
  std::vector<Array> consts;
  std::vector<std::vector<size_t>> places(bodies.size());
  for (size_t b = 0; b < bodies.size(); ++b) {
    for (const Array& c : bodies[b].consts) {
      const auto it = std::find_if(consts.begin(), consts.end(),
                                   [&](const Array& seen) { return seen.impl() == c.impl(); });
      places[b].push_back(static_cast<size_t>(it - consts.begin()));
      if (it == consts.end()) consts.push_back(c);
    }
  }
  CondParams params;
  for (size_t b = 0; b < bodies.size(); ++b) {
    Graph& g = bodies[b].graph;
    const auto own = static_cast<ptrdiff_t>(places[b].size());
    std::vector<ValueId> inputs(consts.size(), -1);
    for (size_t i = 0; i < places[b].size(); ++i) inputs[places[b][i]] = g.inputs[i];
    for (size_t i = 0; i < consts.size(); ++i) {
      if (inputs[i] < 0) inputs[i] = g.add_value(consts[i].aval());
    }
    inputs.insert(inputs.end(), g.inputs.begin() + own, g.inputs.end());
    g.inputs = std::move(inputs);
    params.branches.push_back(std::make_shared<const Graph>(std::move(g)));
  }
  std::vector<Array> in{index};
  in.insert(in.end(), consts.begin(), consts.end());
  in.insert(in.end(), args.begin(), args.end());
  return rules::cond(params, in);
}

}  // namespace spruce::internal
