// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulator/nvtx.h"

#include <mutex>
#include <utility>

#include "tests/cuda/emulator/emulator.h"

namespace spruce::cuda_emulator {
namespace {

struct Ranges {
  std::mutex mutex;
  std::vector<std::string> texts;
};
Ranges& ranges() {
  static Ranges* r = new Ranges;
  return *r;
}

int push(const char* text) {
  const std::lock_guard lock(ranges().mutex);
  ranges().texts.emplace_back(text);
  return 0;
}
int pop() { return push(""); }

}  // namespace

const cuda::NvtxTable& nvtx_table() {
  static const cuda::NvtxTable table = {.nvtxRangePushA = push, .nvtxRangePop = pop};
  return table;
}

std::vector<std::string> take_ranges() {
  const std::lock_guard lock(ranges().mutex);
  return std::exchange(ranges().texts, {});
}

}  // namespace spruce::cuda_emulator
