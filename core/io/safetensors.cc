// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/safetensors.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/safetensors_header.h"

namespace spruce::io {
namespace {

constexpr const char* kMetadata = "__metadata__";

// JSON text, which must be UTF-8.
std::string json_text(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw ValueError("save_safetensors: the text '" + text +
                     "' is no UTF-8; names and metadata must be");
  }
}

// The places of the arrays in the file, widest elements first.
std::vector<size_t> data_order(const NamedArrays& arrays) {
  std::vector<size_t> order(arrays.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return size_of(arrays.value(a).dtype()) > size_of(arrays.value(b).dtype());
  });
  return order;
}

std::string header_text(const NamedArrays& arrays, const std::vector<size_t>& order,
                        const std::map<std::string, std::string>& metadata) {
  std::vector<int64_t> begin(arrays.size());
  int64_t at = 0;
  for (const size_t i : order) {
    begin[i] = at;
    at += arrays.value(i).nbytes();
  }
  std::string text = "{";
  if (!metadata.empty()) {
    absl::StrAppend(&text, json_text(kMetadata), ":{");
    for (const auto& [key, value] : metadata)
      absl::StrAppend(&text, text.back() == '{' ? "" : ",", json_text(key), ":", json_text(value));
    text += "}";
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Array& a = arrays.value(i);
    absl::StrAppend(&text, text.size() > 1 ? "," : "", json_text(arrays.name(i)), ":{\"dtype\":\"",
                    internal::safetensors_dtype(a.dtype()), "\",\"shape\":", to_string(a.shape()),
                    ",\"data_offsets\":[", begin[i], ",", begin[i] + a.nbytes(), "]}");
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

NamedArrays load_safetensors(const std::string& path, Loc loc) {
  const LocScope at(loc);
  const internal::FileSource source("load_safetensors", path);
  return internal::read_safetensors_arrays(source, internal::read_safetensors_header(source));
}

std::map<std::string, std::string> load_safetensors_metadata(const std::string& path, Loc loc) {
  const LocScope at(loc);
  return internal::read_safetensors_header(internal::FileSource("load_safetensors_metadata", path))
      .metadata;
}

void save_safetensors(const std::string& path, const NamedArrays& arrays,
                      const SafetensorsOptions& options, Loc loc) {
  const LocScope at(loc);
  for (const auto& entry : arrays) {
    internal::check_saved("save_safetensors", entry.first, entry.second);
    if (entry.first == kMetadata)
      throw ValueError(
          "save_safetensors: an array cannot have the name __metadata__; the format keeps it");
  }
  const std::vector<size_t> order = data_order(arrays);
  const std::string header = header_text(arrays, order, options.metadata);
  const auto length = static_cast<uint64_t>(header.size());
  internal::AtomicFile file("save_safetensors", path);
  file.write(&length, sizeof length);
  file.write(header);
  for (const size_t i : order) {
    const Array a = internal::saved_array("save_safetensors", arrays.name(i), arrays.value(i));
    file.write(internal::bytes_of(a), static_cast<uint64_t>(a.nbytes()));
  }
  file.commit();
}

}  // namespace spruce::io
