// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/isa.h"

#include <algorithm>
#include <string_view>

#include "spruce/core/environment.h"

namespace spruce::cpu {
namespace {

IsaLevel detect() {
#if SPRUCE_HAS_X86_TARGETS
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const IsaLevel best = v4 ? IsaLevel::kV4 : v3 ? IsaLevel::kV3 : IsaLevel::kBase;
#else
  const IsaLevel best = IsaLevel::kBase;
#endif
  const std::string_view wish = spruce::internal::environment("SPRUCE_ISA", {"base", "v3", "v4"});
  if (wish == "base") return IsaLevel::kBase;
  if (wish == "v3") return std::min(best, IsaLevel::kV3);
  return best;
}

}  // namespace

IsaLevel isa_level() {
  static const IsaLevel level = detect();
  return level;
}

}  // namespace spruce::cpu
