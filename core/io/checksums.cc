// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/checksums.h"

#include <absl/strings/str_cat.h>

#include "spruce/core/io/inflate.h"

namespace spruce::io::internal {
namespace {

constexpr const char* kHeader = "crc32";
constexpr const char* kArray = "crc32.";

std::string digits(uint32_t crc) { return absl::StrCat(absl::Hex(crc, absl::kZeroPad8)); }

std::string digits_of(const Array& host) {
  return digits(crc32(0, bytes_of(host), static_cast<uint64_t>(host.nbytes())));
}

void append_type(std::string& text, const std::string& name, const Aval& aval) {
  absl::StrAppend(&text, name, " ", safetensors_dtype(aval.dtype), to_string(aval.shape), "\n");
}

// Of the types of the arrays, one a line, and the metadata without the checksum itself.
std::string header_digits(std::string text, const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key != kHeader) absl::StrAppend(&text, key, "=", value, "\n");
  }
  return digits(crc32(0, text.data(), text.size()));
}

}  // namespace

void add_checksums(const char* op, const NamedArrays& arrays,
                   std::map<std::string, std::string>& metadata) {
  std::string types;
  for (const auto& [name, array] : arrays) {
    append_type(types, name, array.aval());
    metadata[kArray + name] = digits_of(saved_array(op, name, array));
  }
  metadata[kHeader] = header_digits(std::move(types), metadata);
}

void check_header(const Source& source, const SafetensorsHeader& header) {
  const auto found = header.metadata.find(kHeader);
  if (found == header.metadata.end()) {
    for (const auto& [key, value] : header.metadata) {
      if (key.starts_with(kArray))
        source.fail(8, "the header is damaged: it has checksums of arrays and none of its own");
    }
    return;
  }
  std::string types;
  for (const SafetensorsEntry& entry : header.entries) append_type(types, entry.name, entry.aval);
  if (header_digits(std::move(types), header.metadata) != found->second)
    source.fail(8, "the header is damaged: its checksum differs");
}

void check_data(const Source& source, const SafetensorsHeader& header,
                const SafetensorsEntry& entry, const Array& array) {
  const auto found = header.metadata.find(kArray + entry.name);
  if (found != header.metadata.end() && found->second != digits_of(array))
    source.fail(entry.begin, "the data of '" + entry.name + "' is damaged: its checksum differs");
}

}  // namespace spruce::io::internal
