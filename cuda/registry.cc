// SPDX-License-Identifier: Apache-2.0
// The table of twins: the build lists the files of cuda/primitives/.
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

#define SPRUCE_TWIN(name) extern const Twin name##_twin;
#include "spruce/cuda/twin_list.inc"
#undef SPRUCE_TWIN

const Twin* find_twin(const Primitive& primitive) {
#define SPRUCE_TWIN(name) &name##_twin,
  static const Twin* const all[] = {
#include "spruce/cuda/twin_list.inc"
      nullptr};
#undef SPRUCE_TWIN
  for (const Twin* twin : all) {
    if (twin != nullptr && twin->primitive == &primitive) return twin;
  }
  return nullptr;
}

}  // namespace spruce::cuda
