// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/driver/ranges.h"

#include "spruce/core/environment.h"
#include "spruce/cuda/driver/tables.h"

namespace spruce::cuda {

bool ranges_wanted() {
  static const bool on = internal::environment("SPRUCE_CUDA_NVTX", {"0", "1"}) == "1";
  return on;
}

Range::Range(const char* text) {
  if (ranges_wanted()) nvtx().nvtxRangePushA(text);
}

Range::Range(const char* text, const std::string& place) {
  if (!ranges_wanted()) return;
  nvtx().nvtxRangePushA(place.empty() ? text : (text + (" " + place)).c_str());
}

Range::~Range() {
  if (ranges_wanted()) nvtx().nvtxRangePop();
}

}  // namespace spruce::cuda
