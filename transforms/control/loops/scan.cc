// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/loops/scan.h"

#include "spruce/core/empty_array_error.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::internal {

Slices slices_of(const char* op, const std::vector<tree::Entry>& xs, int64_t length) {
  if (length < -1)
    throw ValueError(std::string(op) + ": the length is " + std::to_string(length) +
                     "; it must not be negative");
  Slices out;
  const std::vector<std::string> paths = leaf_paths("xs", xs);
  out.length = length;
  std::string first;
  for (const tree::Entry& e : xs) {
    if (!e.value.defined()) continue;
    const std::string& path = paths[out.leaves.size()];
    Aval type = e.value.aval();
    if (type.shape.rank() <= (e.kind == tree::Leaf::kKey ? 1 : 0)) {
      throw ShapeError(std::string(op) + ": " + path + " is " + to_string(type) +
                       ", which has no axis to step along" +
                       (e.kind == tree::Leaf::kKey ? "; give a key for each step, split(key, n)"
                                                   : "; stack the steps along axis 0"));
    }
    const int64_t here = type.shape[0];
    if (out.leaves.empty() && length < 0) {
      out.length = here;
      first = path + " is " + to_string(type);
    } else if (here != out.length) {
      if (first.empty())
        throw ShapeError(std::string(op) + ": " + path + " is " + to_string(type) +
                         ", the length is " + std::to_string(length) +
                         "; they must agree, or leave the length out");
      throw ShapeError(std::string(op) + ": " + first + ", " + path + " is " + to_string(type) +
                       "; all leaves of xs must have one size along axis 0");
    }
    type.shape.erase(0);
    out.leaves.push_back(e.value);
    out.types.push_back(type);
  }
  if (out.length < 0 && !xs.empty())
    throw ValueError(std::string(op) + ": all arrays of xs are undefined: " + kMovedFrom);
  if (out.length < 0)
    throw ValueError(std::string(op) +
                     ": there are no xs that say how many steps there are; give a length that is "
                     "not negative: {.length = n}");
  return out;
}

std::vector<Array> flat_scan(const char* op, std::vector<Array> init,
                             const std::vector<std::string>& paths, const Slices& xs,
                             const ScanOptions& options, const FlatBody& step) {
  if (options.unroll < 1)
    throw ValueError(std::string(op) + ": unroll is " + std::to_string(options.unroll) +
                     "; it must be positive");
  check_running(op, xs.leaves);
  const Body body = settle_carry(op, init, paths, [&](std::span<const Aval> carry) {
    std::vector<Aval> types(carry.begin(), carry.end());
    types.insert(types.end(), xs.types.begin(), xs.types.end());
    return stage_step(op, step, types);
  });
  ScanParams params;
  params.length = xs.length;
  params.consts = static_cast<int64_t>(body.consts.size());
  params.carry = static_cast<int64_t>(init.size());
  params.reverse = options.reverse;
  params.unroll = options.unroll;
  params.checkpoint = options.checkpoint;
  params.body = std::make_shared<const Graph>(body.graph);
  std::vector<Array> in = body.consts;
  in.insert(in.end(), init.begin(), init.end());
  in.insert(in.end(), xs.leaves.begin(), xs.leaves.end());
  return rules::scan(params, in);
}

}  // namespace spruce::internal
