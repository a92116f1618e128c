// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/tree_io.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "spruce/core/empty_array_error.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/io/checksums.h"
#include "spruce/core/io/npy.h"
#include "spruce/core/io/safetensors_header.h"
#include "spruce/core/rules/shape.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/core/tree/path_finder.h"

namespace spruce::io::internal {
namespace {

// Beginnings of keys of the metadata of .safetensors.
constexpr std::string_view kPrefix = "static.", kWeak = "weak.";
constexpr const char* kStatic = "__static__";  // the array in .npz
constexpr const char* kAlone = "value";        // the name of a leaf that is the whole tree

std::string name_of(const tree::Entry& e) { return e.path.empty() ? kAlone : e.path; }

std::vector<std::string> weak_names(const NamedArrays& arrays) {
  std::vector<std::string> out;
  for (const auto& [name, value] : arrays) {
    if (value.weak()) out.push_back(name);
  }
  return out;
}

// The formats know strong arrays only.
void make_weak(NamedArrays& arrays, std::string_view name) {
  const InterpreterScope now(nullptr);
  if (Array* a = arrays.find(name)) *a = rules::convert(*a, a->dtype(), true);
}

// JSON text of the static fields, and of weak arrays, whose value is `true`; as bytes.
Array json_bytes(const StaticTexts& statics, const std::vector<std::string>& weak) {
  try {
    auto json = nlohmann::json(statics);
    for (const std::string& name : weak) json[name] = true;
    const std::string text = json.dump();
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    return array(bytes);
  } catch (const nlohmann::json::exception&) {
    throw ValueError("save_tree: a static field holds text that is no UTF-8");
  }
}

void parse_json(const std::string& path, const Array& bytes, TreeFile& out) {
  if (bytes.dtype() == uint8) {
    const std::vector<uint8_t> text = bytes.to_vector<uint8_t>();
    const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    bool good = json.is_object();
    if (good) {
      for (const auto& item : json.items()) {
        if (item.value() == true) {
          make_weak(out.arrays, item.key());
          continue;
        }
        good = good && item.value().is_string();
        if (!good) break;
        if (!out.statics) out.statics.emplace();
        (*out.statics)[item.key()] = item.value().get<std::string>();
      }
    }
    if (good) return;
  }
  throw IoError("load_tree: " + path + ": the array '" + kStatic +
                "' is no JSON text of static fields; the file is damaged");
}

// Whether an array of the file stands for the leaf: it has its dtype, or one of them is weak and
// gives way to the other.
bool fits(const Aval& got, const Aval& want) {
  return got.dtype == want.dtype ||
         (want.weak && promote(got.dtype, false, want.dtype, true) == got.dtype) ||
         (got.weak && promote(want.dtype, false, got.dtype, true) == want.dtype);
}

bool is_zip(const Source& source) {
  char mark[2] = {};
  if (source.size() >= sizeof mark) source.read(0, mark, sizeof mark, "the mark of the format");
  return mark[0] == 'P' && mark[1] == 'K';
}

}  // namespace

void StaticWriter::static_value(const tree::internal::StaticValue& value) {
  if (value.has_text()) texts.emplace(path(), value.exact_text());
}

void throw_not_restored(const std::string& path, const std::string& text, const char* why) {
  throw TreeError("load_tree: the static field " + path + " cannot become " + text + ": " + why);
}

void check_given(const char* op, const std::vector<tree::Entry>& entries) {
  const auto defined = [](const tree::Entry& e) { return e.value.defined(); };
  if (entries.empty() || std::any_of(entries.begin(), entries.end(), defined)) return;
  throw ValueError(std::string(op) + ": all arrays of the tree (" + std::to_string(entries.size()) +
                   ", the first is " + name_of(entries[0]) +
                   ") are undefined: " + spruce::internal::kMovedFrom);
}

void check_texts(const char* op, const std::vector<tree::Entry>& entries,
                 const StaticTexts& statics) {
  const auto check = [&](const std::string& what, const std::string& text) {
    try {
      (void)nlohmann::json(text).dump();
    } catch (const nlohmann::json::exception&) {
      throw ValueError(std::string(op) + ": " + what + " '" + text +
                       "' is no UTF-8; names and static fields must be");
    }
  };
  for (const tree::Entry& e : entries) check("the name", e.path);
  for (const auto& [place, text] : statics) {
    check("the name", place);
    check("the static field " + place + " that is", text);
  }
}

void save_leaves(const std::string& path, const std::vector<tree::Entry>& entries,
                 const StaticTexts& statics) {
  NamedArrays arrays;
  for (const tree::Entry& e : entries) {
    if (e.value.defined()) arrays.insert(name_of(e), e.value);
  }
  const std::vector<std::string> weak = weak_names(arrays);
  if (path.ends_with(".npz")) {
    if (arrays.find(kStatic) != nullptr) {
      throw ValueError(std::string("save_tree: an array of the tree is named '") + kStatic +
                       "', under which .npz files have the static fields; rename it, or save as "
                       ".safetensors");
    }
    if (!statics.empty() || !weak.empty()) arrays.insert(kStatic, json_bytes(statics, weak));
    save_npz(path, arrays);
    return;
  }
  SafetensorsOptions options;
  for (const auto& [place, text] : statics) options.metadata[std::string(kPrefix) + place] = text;
  for (const std::string& name : weak) options.metadata[std::string(kWeak) + name] = "true";
  add_checksums("save_tree", arrays, options.metadata);
  save_safetensors(path, arrays, options);
}

TreeFile load_leaves(const std::string& path) {
  TreeFile out;
  const FileSource source("load_tree", path);
  if (is_zip(source)) {
    out.arrays = load_npz(path);
    if (const Array* found = out.arrays.find(kStatic)) {
      const Array text = *found;
      out.arrays.erase(kStatic);
      parse_json(path, text, out);
    }
    return out;
  }
  const SafetensorsHeader header = read_safetensors_header(source);
  out.arrays = read_safetensors_arrays(source, header);
  for (const auto& [key, text] : header.metadata) {
    const std::string_view name = key;
    if (name.starts_with(kWeak)) make_weak(out.arrays, name.substr(kWeak.size()));
    if (!name.starts_with(kPrefix)) continue;
    if (!out.statics) out.statics.emplace();
    out.statics->emplace(key.substr(kPrefix.size()), text);
  }
  return out;
}

std::vector<Array> matched_leaves(const std::string& path, const NamedArrays& file,
                                  const std::vector<tree::Entry>& entries,
                                  const LoadTreeOptions& options) {
  std::vector<Array> out;
  std::string problems;
  std::unordered_set<const Array*> used;
  tree::internal::PathFinder finder(file);
  for (const tree::Entry& e : entries) {
    const Array* found = nullptr;
    if (e.value.defined()) {
      const std::string name = options.rename ? options.rename(name_of(e)) : name_of(e);
      found = finder.find(name);
      if (found == nullptr) {
        problems += "\n  missing: " + name_of(e);
        if (name != name_of(e)) problems += ", looked for as '" + name + "'";
      }
    }
    used.insert(found);
    out.push_back(found == nullptr ? Array() : *found);
  }
  for (const auto& [name, value] : file) {
    if (used.count(&value) == 0) problems += "\n  unexpected: " + name;
  }
  if (!problems.empty())
    throw TreeError("load_tree: '" + path + "' has other names than the tree:" + problems);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].defined()) continue;
    const Aval &got = out[i].aval(), &want = entries[i].value.aval();
    const std::string both = "load_tree: " + name_of(entries[i]) + " is " + to_string(got) +
                             " in '" + path + "' and " + to_string(want) + " in the tree";
    if (!(got.shape == want.shape)) throw ShapeError(both);
    if (!fits(got, want))
      throw DtypeError(both + "; load the file with load_safetensors and convert with astype");
    out[i] = rules::to_device(out[i], want.device);
  }
  return out;
}

void check_statics(const std::string& path, const StaticTexts& file, const StaticTexts& tree,
                   const LoadTreeOptions& options) {
  std::string problems;
  for (const auto& [place, text] : tree) {
    const auto other = file.find(place);
    if (other == file.end())
      problems += "\n  missing: " + place;
    else if (options.static_fields == StaticFields::kCheck && other->second != text)
      problems +=
          "\n  " + place + " is " + other->second + " in the file and " + text + " in the tree";
  }
  for (const auto& [place, text] : file) {
    if (tree.count(place) == 0) problems += "\n  unexpected: " + place + ", which is " + text;
  }
  if (problems.empty()) return;
  const bool checked = options.static_fields == StaticFields::kCheck;
  throw TreeError("load_tree: '" + path + "' has other static fields than the tree:" + problems +
                  "\n  load with .static_fields = StaticFields::" +
                  (checked ? "kRestore to take those of the file, or ::kKeep" : "kKeep") +
                  " to keep those of the tree");
}

}  // namespace spruce::io::internal
