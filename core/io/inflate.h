// SPDX-License-Identifier: Apache-2.0
// Uncompressing what deflate has compressed.
#pragma once

#include "spruce/core/io/source.h"

namespace spruce::io::internal {

/// The most bytes that n compressed ones can become: a claim above it is false, and no memory is
/// asked for.
constexpr uint64_t most_inflated(uint64_t n) {
  return n > (UINT64_MAX >> 11) ? UINT64_MAX : n * 1040 + 1024;
}

enum class Wrapping { kRaw, kGzip };

/// The `size` bytes that the `length` compressed bytes at `offset` stand for. Throws IoError if
/// they are damaged or stand for more or fewer bytes. A gzip file may have several members.
std::vector<uint8_t> inflate(const Source& source, uint64_t offset, uint64_t length, uint64_t size,
                             Wrapping wrapping);

/// The first `size` bytes of a gzip file. Throws IoError if they are damaged or fewer.
std::vector<uint8_t> inflate_first(const Source& source, uint64_t size);

/// The CRC-32 of zip and gzip, of bytes that follow others with the checksum `before`.
uint32_t crc32(uint32_t before, const void* data, uint64_t n);

}  // namespace spruce::io::internal
