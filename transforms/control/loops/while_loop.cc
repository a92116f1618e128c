// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/loops/while_loop.h"

#include "spruce/core/ops/logic.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::internal {

Array checked_condition(const char* op, const Array& value) {
  if (value.rank() != 0) {
    throw ShapeError(std::string(op) + ": the condition is " + to_string(value.aval()) +
                     "; it must be one bool: reduce it with all or any");
  }
  return internal::math::truth(value);
}

std::vector<Array> flat_while(const char* op, std::vector<Array> init,
                              const std::vector<std::string>& paths, const WhileOptions& options,
                              const FlatBody& condition, const FlatBody& body) {
  if (options.max_steps < -1) {
    throw ValueError(std::string(op) + ": max_steps is " + std::to_string(options.max_steps) +
                     "; it must not be negative, except for -1, no bound");
  }
  std::vector<Aval> types;
  const Body step = settle_carry(op, init, paths, [&](std::span<const Aval> carry) {
    types.assign(carry.begin(), carry.end());
    return stage_step(op, body, carry);
  });
  const Body more = stage_step(op, condition, types);
  WhileParams params;
  params.condition_consts = static_cast<int64_t>(more.consts.size());
  params.body_consts = static_cast<int64_t>(step.consts.size());
  params.max_steps = options.max_steps;
  params.checkpoint = options.checkpoint;
  params.condition = std::make_shared<const Graph>(more.graph);
  params.body = std::make_shared<const Graph>(step.graph);
  std::vector<Array> in = more.consts;
  in.insert(in.end(), step.consts.begin(), step.consts.end());
  in.insert(in.end(), init.begin(), init.end());
  return rules::while_loop(params, in);
}

}  // namespace spruce::internal
