// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/move.h"

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/rules/index_maps.h"

namespace spruce::cpu {

void move_elements(const IndexMap& map, const View& from, const View& to) {
  if (map.count.numel() == 0) return;
  const int64_t bytes = size_of(from.dtype());
  const rules::MappedMemory read = rules::memory_of_input(map, from.steps()),
                            write = rules::memory_of_output(map, to.steps());
  copy_strided(map.count, {advance(to.data, write.offset, bytes), write.strides},
               {advance(from.data, read.offset, bytes), read.strides}, bytes);
}

}  // namespace spruce::cpu
