// SPDX-License-Identifier: Apache-2.0
// Functions across a mapped axis: what a slice under vmap may know of the others.
#pragma once

#include <string>

#include "spruce/core/array.h"
#include "spruce/core/interpreter.h"

namespace spruce {

/// The sum of x over the slices of the vmap with that axis_name, the same for each of them. Grad:
/// psum of g. Throws ValueError unless an enclosing vmap has the name.
inline constexpr struct PsumFunction {
  Array operator()(const Array& x, const std::string& axis_name, Loc loc = Loc::current()) const;
} psum{};
/// psum divided by the number of slices.
inline constexpr struct PmeanFunction {
  Array operator()(const Array& x, const std::string& axis_name, Loc loc = Loc::current()) const;
} pmean{};
/// i32[]: the number of this slice.
inline constexpr struct AxisIndexFunction {
  Array operator()(const std::string& axis_name, Loc loc = Loc::current()) const;
} axis_index{};

namespace internal {

class BatchInterpreter;

bool is_collective(const Primitive& p);
const std::string& collective_axis(const Params& params);
/// True if a graph within the parameters, or within its own ones, has a collective over that axis.
bool asks_for_axis(const Params& params, const std::string& axis_name);
/// The same for a collective over any axis.
bool asks_for_any_axis(const Params& params);
/// The result for the vmap that has the axis; runs under the interpreter outside of it.
Array run_collective(const Primitive& p, std::span<const Array> in, const Params& params,
                     const BatchInterpreter& batch);

}  // namespace internal
}  // namespace spruce
