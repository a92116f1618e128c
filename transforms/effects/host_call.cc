// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/effects/host_call.h"

#include "spruce/transforms/rules/effect_rules.h"

namespace spruce::internal {

std::vector<Array> apply_host_call(
    std::function<std::vector<Array>(std::span<const Array>)> function,
    const std::vector<Array>& in, const std::vector<Aval>& results,
    const HostCallOptions& options) {
  for (const Aval& type : results) check_shape("host_call", type.shape, size_of(type.dtype));
  HostFunction f{std::move(function), in.size(), results, current_place()};
  HostCallParams params;
  params.function = std::make_shared<const HostFunction>(std::move(f));
  params.vectorized = options.vectorized;
  params.effects = options.effects;
  return bind_all(host_call_p, in, Params::make(std::move(params)));
}

}  // namespace spruce::internal
