// SPDX-License-Identifier: Apache-2.0
// Primitives as instructions: results are those of their kernels, to the last bit.
#pragma once

#include <span>

#include "spruce/core/cpu/x64/builder.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu::x64 {

/// One application of an elementwise primitive.
struct Application {
  const Primitive& p;
  const Params& params;
  std::span<const Dtype> in;
  Dtype out;
};

/// True for dtypes whose values programs hold as they are: bool (a mask), i32, u32, f32, f64.
bool has_lanes(Dtype d);

/// True for i8 and u8, which programs hold as i32: they are loaded and converted, nothing else.
bool is_byte(Dtype d);

/// Adds what the primitive does with the values `in`, of these dtypes or 16-bit floats; the
/// result's number, or -1 where the primitive is not known for them. Then nothing that was added is
/// of use.
int lower(Builder& b, const Application& app, std::span<const int> in);

}  // namespace spruce::cpu::x64
