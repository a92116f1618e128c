// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/inflate.h"
#include "spruce/core/io/npy.h"
#include "spruce/core/io/npy_format.h"
#include "spruce/core/io/zip.h"

namespace spruce::io {
namespace {

constexpr std::string_view kEnding = ".npy";

}  // namespace

NamedArrays load_npz(const std::string& path, Loc loc) {
  const LocScope at(loc);
  const internal::FileSource source("load_npz", path);
  NamedArrays arrays;
  for (const internal::ZipEntry& entry : internal::read_zip_directory(source)) {
    if (!entry.name.ends_with(kEnding))
      source.fail(entry.header, "'" + entry.name + "' is no array: its name does not end in .npy");
    const std::string name = entry.name.substr(0, entry.name.size() - kEnding.size());
    if (arrays.contains(name))
      source.fail(entry.header, "the archive has two arrays with the name '" + name + "'");
    const internal::MemorySource bytes("load_npz", path + "[" + name + "]",
                                       internal::read_zip_entry(source, entry));
    arrays.insert(name, internal::read_npy(bytes));
  }
  return arrays;
}

void save_npz(const std::string& path, const NamedArrays& arrays, Loc loc) {
  const LocScope at(loc);
  for (const auto& entry : arrays) {
    internal::check_saved("save_npz", entry.first, entry.second);
    if (entry.first.size() + kEnding.size() > UINT16_MAX) {
      throw ValueError("save_npz: a name of " + std::to_string(entry.first.size()) +
                       " letters is too long for a zip archive");
    }
  }
  internal::AtomicFile file("save_npz", path);
  internal::ZipWriter zip(file);
  for (const auto& entry : arrays) {
    const Array array = internal::saved_array("save_npz", entry.first, entry.second);
    const void* bytes = internal::bytes_of(array);
    const std::string head = internal::npy_head(array.aval());
    const auto n = static_cast<uint64_t>(array.nbytes());
    const uint32_t crc = internal::crc32(internal::crc32(0, head.data(), head.size()), bytes, n);
    zip.begin(entry.first + std::string(kEnding), head.size() + n, crc);
    file.write(head);
    file.write(bytes, n);
  }
  zip.finish();
  file.commit();
}

}  // namespace spruce::io
