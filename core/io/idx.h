// SPDX-License-Identifier: Apache-2.0
// IDX: the format of the MNIST files.
#pragma once

#include <string>

#include "spruce/core/array.h"

namespace spruce::io {

/// The array in an IDX file, plain or compressed by gzip: u8, i8, i16, i32, f32 or f64 of any rank.
/// Throws IoError, with the byte where something is wrong.
Array load_idx(const std::string& path, Loc loc = Loc::current());

}  // namespace spruce::io
