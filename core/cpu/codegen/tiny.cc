// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/fusion/tiny.h"

#include "spruce/core/cpu/isa.h"

#ifdef SPRUCE_HAS_XBYAK
#include "spruce/core/cpu/x64/make.h"
#endif

namespace spruce::fusion {
namespace {

std::unique_ptr<const PreparedKernel> make([[maybe_unused]] const Graph& body,
                                           [[maybe_unused]] const TinyLoop* loop) {
#ifdef SPRUCE_HAS_XBYAK
  if (cpu::isa_level() != cpu::IsaLevel::kBase) return cpu::x64::make_tiny(body, loop);
#endif
  return nullptr;
}

}  // namespace

int64_t tiny_work([[maybe_unused]] const Graph& graph, [[maybe_unused]] const Equation& equation) {
#ifdef SPRUCE_HAS_XBYAK
  if (cpu::isa_level() != cpu::IsaLevel::kBase) return cpu::x64::work_of(graph, equation);
#endif
  return -1;
}

std::unique_ptr<const PreparedKernel> make_tiny(const Graph& body) { return make(body, nullptr); }
std::unique_ptr<const PreparedKernel> make_tiny_loop(const Graph& body, const TinyLoop& loop) {
  return make(body, &loop);
}

}  // namespace spruce::fusion
