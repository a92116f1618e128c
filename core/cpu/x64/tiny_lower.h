// SPDX-License-Identifier: Apache-2.0
// A graph over tiny arrays as a program for AVX2: arrays become elements, moving elements becomes
// naming them, and equal operations on several elements become one where their operands lie in
// lanes already.
#pragma once

#include <optional>

#include "spruce/core/cpu/x64/program.h"
#include "spruce/core/fusion/tiny.h"

namespace spruce::cpu::x64 {

/// What an instruction kInput reads: one element, which goes to all lanes, or several.
struct TinyLoad {
  int input;
  std::vector<int> elements;
};
/// Where an instruction kStore writes `count` lanes, or (output < 0) all, for the next turn, to
/// where load `load` reads.
struct TinyStore {
  int output;
  int element;
  int count;
  int load;
};

struct TinyProgram {
  Program program;
  std::vector<TinyLoad> loads;
  std::vector<TinyStore> stores;
  std::vector<Dtype> inputs, outputs;
  std::vector<int64_t> input_bytes, output_bytes;
  bool wide = false;  // lanes of 64 bits
};

/// Without `loop`, for one run. Nullopt where an equation has no code.
std::optional<TinyProgram> lower_tiny(const Graph& body, const fusion::TinyLoop* loop);

/// Of tiny_work.
int64_t work_of(const Graph& graph, const Equation& equation);

}  // namespace spruce::cpu::x64
