// SPDX-License-Identifier: Apache-2.0
// Sound: WAV files.
#pragma once

#include <string>

#include "spruce/core/array.h"

namespace spruce::data {

/// Sound as numbers; a tree.
struct Sound {
  Array samples;     ///< f32[samples, channels], in -1 .. 1
  int64_t rate = 0;  ///< samples in a second
};

/// The sound in a WAV file: whole numbers of 8, 16, 24 or 32 bits, divided by their largest power
/// of two, or floating ones of 32 or 64 bits as they are. What a program has written to a pipe,
/// without sizes, is read to the end of the file. Throws IoError, with the byte, for what is
/// damaged, cut short or compressed, and for samples that are filled up with bytes.
Sound load_wav(const std::string& path, Loc loc = Loc::current());

/// Writes f32[samples, channels] as whole numbers of 16 bits; what lies outside of -1 .. 1 is cut
/// off there, and NaN is 0. The file is replaced as a whole or not at all. Throws IoError;
/// DtypeError and ShapeError for other arrays; ValueError for a rate that is not in 1 .. 2^31 - 1,
/// and for sound that is too long for the format.
void save_wav(const std::string& path, const Sound& sound, Loc loc = Loc::current());

}  // namespace spruce::data
