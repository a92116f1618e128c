// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/checkpoint/checkpoint.h"

#include "spruce/transforms/rules/checkpoint_rules.h"

namespace spruce {

Array checkpoint_name(const Array& x, const std::string& name, Loc loc) {
  const LocScope at(loc);
  if (name.empty() || name.find(',') != std::string::npos) {
    throw ValueError("checkpoint_name: '" + name +
                     "' is no name; it must not be empty and hold no comma");
  }
  return bind1(checkpoint_name_p, {x}, Params::make(CheckpointNameParams{name}));
}

namespace internal {

std::vector<Array> apply_checkpoint(const Body& body, std::span<const Array> in,
                                    const CheckpointOptions& options) {
  CheckpointParams params;
  params.body = std::make_shared<const Graph>(body.graph);
  params.save_matmuls = options.save_matmuls;
  for (const std::string& name : options.save_names) {
    params.save_names += (params.save_names.empty() ? "" : ",") + name;
  }
  std::vector<Array> all = body.consts;
  all.insert(all.end(), in.begin(), in.end());
  return bind_all(checkpoint_p, all, Params::make(std::move(params)));
}

}  // namespace internal
}  // namespace spruce
