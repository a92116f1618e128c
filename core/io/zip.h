// SPDX-License-Identifier: Apache-2.0
// Zip archives, as far as .npz needs them.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/source.h"

namespace spruce::io::internal {

/// One file in an archive.
struct ZipEntry {
  std::string name;
  uint16_t method = 0;  // 0 stored, 8 deflated
  uint32_t crc = 0;
  uint64_t compressed = 0;
  uint64_t size = 0;
  uint64_t header = 0;  // where its local header stands
};

/// The files of an archive, in its order. Throws IoError for an archive that is damaged, encrypted
/// or in several parts.
std::vector<ZipEntry> read_zip_directory(const Source& source);
/// The bytes of one, uncompressed and checked. Throws IoError.
std::vector<uint8_t> read_zip_entry(const Source& source, const ZipEntry& entry);

/// Writes stored files, every size with 64 bits, all dated 1980-01-01.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file) {}
  /// Begins a file of `size` bytes with that checksum; the caller then writes its bytes to the
  /// archive.
  void begin(const std::string& name, uint64_t size, uint32_t crc);
  /// Ends the archive.
  void finish();

 private:
  AtomicFile& file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace spruce::io::internal
