// SPDX-License-Identifier: Apache-2.0
// Copies of runs of bytes: of many short ones, where a call of memcpy for each would cost more than
// the copy, and of long ones that memcpy is slow at.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// memcpy, but for where the destination lies a few bytes, by the offset within pages, behind the
/// source, as in a shift by one element: AMD's processors move strings of bytes, which memcpy does
/// from 2 KiB on, up to 25 times as slowly there (seen on Zen 4).
void copy_bytes(void* to, const void* from, int64_t bytes);

/// Runs of at most this many bytes are copied faster by copy_runs() than by a memcpy each.
inline constexpr int64_t kShortRunBytes = 256;

/// Copies `count` runs of `bytes` bytes: run i from `from + i * from_step` to `to + i * to_step`,
/// steps in bytes. Sources and destinations do not overlap.
void copy_runs(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t bytes,
               int64_t count);

/// The numbers of pieces of a row, and of bytes of a piece, that join_short() takes.
inline constexpr int64_t kMostPieces = 16, kShortPieceBytes = 32;

/// Writes `count` rows to `to`, one behind the other: row i is, for k < pieces, the i-th bytes[k]
/// bytes of from[k], at least one each. Reads nothing behind the `count` pieces of from[k].
void join_short(char* to, const char* const* from, const int64_t* bytes, int64_t pieces,
                int64_t count);

/// The numbers of arrays that interleave() takes.
inline constexpr int64_t kFewestParts = 2, kMostParts = 4;

/// Writes to[k + parts * i] = from[k][i] for i < count and k < parts, elements of 1, 2, 4 or 8
/// bytes.
void interleave(void* to, const void* const* from, int64_t parts, int64_t element_bytes,
                int64_t count);
/// The other way for 2 or 3 arrays: writes to[k][i] = from[k + parts * i].
void deinterleave(void* const* to, const void* from, int64_t parts, int64_t element_bytes,
                  int64_t count);

}  // namespace spruce::cpu
