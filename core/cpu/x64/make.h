// SPDX-License-Identifier: Apache-2.0
// What this folder gives to the rest of the library, where it was built with Xbyak.
#pragma once

#include <memory>

#include "spruce/core/cpu/fusion/stage.h"
#include "spruce/core/fusion/tiny.h"

namespace spruce::cpu::x64 {

/// make_stage_x64 for kV3 and kV4.
std::unique_ptr<const StageKernel> make_stage(const Stage& stage, IsaLevel level);

/// make_tiny and make_tiny_loop for a processor with AVX2.
std::unique_ptr<const PreparedKernel> make_tiny(const Graph& body, const fusion::TinyLoop* loop);
/// tiny_work.
int64_t work_of(const Graph& graph, const Equation& equation);

}  // namespace spruce::cpu::x64
