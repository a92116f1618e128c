// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "spruce/core/io/checksums.h"

namespace spruce::io::internal {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kLengthBytes = 8, kMostHeaderBytes = 100'000'000;
constexpr size_t kMostDepth = 8;
constexpr const char* kNames[kDtypeCount] = {"BOOL", "I8",  "I16", "I32",  "I64", "U8", "U16",
                                             "U32",  "U64", "F16", "BF16", "F32", "F64"};

std::optional<Dtype> dtype_of_name(const std::string& name) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Dtype>(found - std::begin(kNames));
}

// Looks through the text before it is read: objects within objects, keys that are given twice, and
// the order of the keys of the outermost object. A parser with a callback would do it in one go,
// but takes a time that grows with the square of the number of arrays.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  explicit Checker(const Source& source) : source_(source) {}

  std::vector<std::string> order;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override {
    keys_.emplace_back();
    return enter();
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second)
      source_.fail(kLengthBytes, "the header has the key '" + key + "' twice");
    if (keys_.size() == 1) order.push_back(key);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) override {
    const auto* at = dynamic_cast<const Json::parse_error*>(&e);
    if (at == nullptr) source_.fail(kLengthBytes, "the header is no JSON text of this format");
    source_.fail(kLengthBytes + (at->byte > 0 ? at->byte - 1 : 0), "the header is no JSON text");
  }

 private:
  bool enter() {
    if (++depth_ > kMostDepth)
      source_.fail(kLengthBytes, "the header nests deeper than any header does");
    return true;
  }

  const Source& source_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the objects that are open
  size_t depth_ = 0;
};

// The parsed text, and the keys of the outermost object in their order.
struct Parsed {
  Json json;
  std::vector<std::string> order;
};

Parsed parse(const Source& source, const std::vector<uint8_t>& text) {
  Checker checker(source);
  Json::sax_parse(text.begin(), text.end(), &checker);
  Parsed out{Json::parse(text.begin(), text.end()), std::move(checker.order)};
  if (!out.json.is_object()) source.fail(kLengthBytes, "the header is no JSON object");
  return out;
}

[[noreturn]] void fail_entry(const Source& source, const std::string& name,
                             const std::string& problem) {
  source.fail(kLengthBytes, "the array '" + name + "' " + problem);
}

// A list of whole numbers that fit in int64.
std::vector<uint64_t> numbers(const Source& source, const std::string& name, const Json& entry,
                              const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array())
    fail_entry(source, name, std::string("has no list of numbers as ") + key);
  std::vector<uint64_t> out;
  for (const Json& x : *found) {
    if (!x.is_number_unsigned() || x.get<uint64_t>() > INT64_MAX) {
      fail_entry(source, name,
                 std::string("has something else than whole numbers up to 2^63 - 1 in ") + key);
    }
    out.push_back(x.get<uint64_t>());
  }
  return out;
}

SafetensorsEntry read_entry(const Source& source, const std::string& name, const Json& json,
                            uint64_t data, uint64_t data_bytes) {
  if (!json.is_object()) fail_entry(source, name, "is no JSON object");
  const auto dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string()) fail_entry(source, name, "has no text as dtype");
  const std::optional<Dtype> known = dtype_of_name(dtype->get<std::string>());
  if (!known)
    fail_entry(source, name,
               "has the dtype " + dtype->get<std::string>() + ", which Spruce does not have");

  const std::vector<uint64_t> shape = numbers(source, name, json, "shape"),
                              offsets = numbers(source, name, json, "data_offsets");
  if (shape.size() > kMaxRank)
    fail_entry(source, name,
               "has " + std::to_string(shape.size()) + " axes; arrays have at most " +
                   std::to_string(kMaxRank));
  SafetensorsEntry entry{.name = name, .aval = Aval{*known, false, Shape{}}, .begin = 0, .end = 0};
  for (const uint64_t size : shape) entry.aval.shape.push_back(static_cast<int64_t>(size));
  const uint64_t bytes = byte_count(source, kLengthBytes, entry.aval);

  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes) {
    fail_entry(source, name,
               "has data_offsets that are not two, in rising order and within the " +
                   std::to_string(data_bytes) + " bytes of data");
  }
  if (offsets[1] - offsets[0] != bytes) {
    fail_entry(source, name,
               "is " + to_string(entry.aval) + ", which takes " + std::to_string(bytes) +
                   " bytes, and its data_offsets span " + std::to_string(offsets[1] - offsets[0]));
  }
  entry.begin = data + offsets[0];
  entry.end = data + offsets[1];
  return entry;
}

// The data must be covered by the arrays, each byte once.
void check_cover(const Source& source, const std::vector<SafetensorsEntry>& entries,
                 uint64_t data) {
  std::vector<const SafetensorsEntry*> sorted;
  for (const SafetensorsEntry& e : entries) sorted.push_back(&e);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t at = data;
  for (const SafetensorsEntry* e : sorted) {
    if (e->begin != at) {
      source.fail(e->begin,
                  "the array '" + e->name + "' begins here " +
                      (e->begin < at ? "and overlaps the one" : "and leaves a gap to the one") +
                      " that ends at byte " + std::to_string(at));
    }
    at = e->end;
  }
  if (at != source.size())
    source.fail(at, "the last array ends here and " + std::to_string(source.size() - at) +
                        " more bytes follow");
}

std::map<std::string, std::string> read_metadata(const Source& source, const Json& json) {
  std::map<std::string, std::string> out;
  if (!json.is_object()) source.fail(kLengthBytes, "__metadata__ is no JSON object");
  for (const auto& item : json.items()) {
    if (!item.value().is_string())
      source.fail(kLengthBytes,
                  "__metadata__ has something else than text under '" + item.key() + "'");
    out[item.key()] = item.value().get<std::string>();
  }
  return out;
}

}  // namespace

SafetensorsHeader read_safetensors_header(const Source& source) {
  const auto length = source.number<uint64_t>(0, "the length of the header");
  if (length > kMostHeaderBytes)
    source.fail(0, "the header would have " + std::to_string(length) +
                       " bytes; this is no .safetensors file, or a damaged one");
  const std::vector<uint8_t> text = source.bytes(kLengthBytes, length, "the header");
  const Parsed parsed = parse(source, text);
  const uint64_t data = kLengthBytes + length;
  SafetensorsHeader header;
  for (const std::string& name : parsed.order) {
    const Json& value = parsed.json.at(name);
    if (name == "__metadata__")
      header.metadata = read_metadata(source, value);
    else
      header.entries.push_back(read_entry(source, name, value, data, source.size() - data));
  }
  check_cover(source, header.entries, data);
  return header;
}

NamedArrays read_safetensors_arrays(const Source& source, const SafetensorsHeader& header) {
  check_header(source, header);
  NamedArrays arrays;
  for (const SafetensorsEntry& entry : header.entries) {
    Array array = read_array(source, entry.begin, entry.aval);
    check_data(source, header, entry, array);
    arrays.insert(entry.name, std::move(array));
  }
  return arrays;
}

const char* safetensors_dtype(Dtype dtype) { return kNames[static_cast<int>(dtype)]; }

}  // namespace spruce::io::internal
