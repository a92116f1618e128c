// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/text/tokens.h"

#include <algorithm>
#include <unordered_map>

#include "spruce/core/io/source.h"
#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace {

// How many bytes the character takes that begins at `at`. Throws ValueError where there is none.
size_t character_bytes(const char* op, std::string_view text, size_t at) {
  const auto byte = [&](size_t k) {
    return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0u;
  };
  const unsigned first = byte(0);
  const size_t n = first < 0x80                     ? 1
                   : first >= 0xc2 && first <= 0xdf ? 2
                   : first >= 0xe0 && first <= 0xef ? 3
                   : first >= 0xf0 && first <= 0xf4 ? 4
                                                    : 0;
  bool good = n > 0;
  for (size_t k = 1; k < n; ++k) good = good && (byte(k) & 0xc0) == 0x80;
  // Longer than need be, halves of pairs, beyond the last code point.
  good = good && !(first == 0xe0 && byte(1) < 0xa0) && !(first == 0xed && byte(1) > 0x9f) &&
         !(first == 0xf0 && byte(1) < 0x90) && !(first == 0xf4 && byte(1) > 0x8f);
  if (good) return n;
  throw ValueError(std::string(op) + ": the text is no UTF-8 at byte " + std::to_string(at) +
                   "; encode_bytes() takes any bytes");
}

bool in_word(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') || u == '_' ||
         u > 127;
}
using internal::is_blank;

}  // namespace

namespace internal {

std::vector<size_t> places(const char* op, const Array& ids, size_t size) {
  if (!is_integer(ids.dtype())) {
    throw DtypeError(std::string(op) + ": the ids are " + to_string(ids.aval()) +
                     "; give integers");
  }
  std::vector<size_t> out;
  visit_dtype(ids.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      for (const T id : ids.data<T>()) {
        if (std::cmp_less(static_cast<std::conditional_t<std::is_same_v<T, bool>, int, T>>(id),
                          0) ||
            static_cast<uint64_t>(id) >= size) {
          throw IndexError(std::string(op) + ": there is no id " + std::to_string(id) +
                           "; ids are below " + std::to_string(size));
        }
        out.push_back(static_cast<size_t>(id));
      }
    }
  });
  return out;
}

}  // namespace internal

std::string load_text(const std::string& path, Loc loc) {
  const OpScope at("load_text", loc);
  const io::internal::FileSource source("load_text", path);
  std::string out(source.size(), '\0');
  source.read(0, out.data(), out.size(), "the text");
  return out;
}

Array encode_bytes(std::string_view text) {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return array(ids);
}

std::string decode_bytes(const Array& ids, Loc loc) {
  const OpScope at("decode_bytes", loc);
  std::string out;
  for (const size_t place : internal::places("decode_bytes", ids, 256))
    out += static_cast<char>(place);
  return out;
}

Characters::Characters(std::string_view text, Loc loc) {
  const OpScope at("Characters", loc);
  for (size_t i = 0; i < text.size();) {
    const size_t n = character_bytes("Characters", text, i);
    const std::string_view name = text.substr(i, n);
    if (ids_.find(name) == ids_.end()) ids_.emplace(name, 0);
    i += n;
  }
  // The order of bytes of UTF-8 is that of code points.
  for (auto& [name, id] : ids_) {
    id = static_cast<int32_t>(names_.size());
    names_.push_back(name);
  }
}

Array Characters::encode(std::string_view text, Loc loc) const {
  const OpScope at("Characters::encode", loc);
  std::vector<int32_t> out;
  for (size_t i = 0; i < text.size();) {
    const size_t n = character_bytes("Characters::encode", text, i);
    const auto found = ids_.find(text.substr(i, n));
    if (found == ids_.end()) {
      throw ValueError("Characters::encode: the character '" + std::string(text.substr(i, n)) +
                       "' at byte " + std::to_string(i) + " is none of the " +
                       std::to_string(size()) + " that are known");
    }
    out.push_back(found->second);
    i += n;
  }
  return array(out);
}

std::string Characters::decode(const Array& ids, Loc loc) const {
  const OpScope at("Characters::decode", loc);
  std::string out;
  for (const size_t place : internal::places("Characters::decode", ids, names_.size()))
    out += names_[place];
  return out;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (in_word(text[i])) {
      while (end < text.size() && in_word(text[end])) ++end;
    }
    if (!is_blank(text[i])) out.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

Words::Words(std::string_view text, const WordsOptions& options, Loc loc) {
  const OpScope at("Words", loc);
  if (options.max_size < 0 || options.min_count < 1) {
    throw ValueError("Words: max_size is " + std::to_string(options.max_size) +
                     " and min_count is " + std::to_string(options.min_count) +
                     "; the first has to be 0 or more, the second 1 or more");
  }
  std::vector<std::pair<std::string, int64_t>> counts;  // in the order of the text
  std::unordered_map<std::string, size_t> known;
  for (std::string& word : split_words(text)) {
    const auto [entry, fresh] = known.emplace(std::move(word), counts.size());
    if (fresh) counts.emplace_back(entry->first, 0);
    ++counts[entry->second].second;
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  names_.push_back("<unk>");
  for (const auto& [word, count] : counts) {
    if (count < options.min_count || (options.max_size > 0 && size() >= options.max_size)) break;
    ids_.emplace(word, static_cast<int32_t>(names_.size()));
    names_.push_back(word);
  }
}

Array Words::encode(std::string_view text) const {
  std::vector<int32_t> out;
  for (const std::string& word : split_words(text)) {
    const auto found = ids_.find(word);
    out.push_back(found == ids_.end() ? 0 : found->second);
  }
  return array(out);
}

std::string Words::decode(const Array& ids, Loc loc) const {
  const OpScope at("Words::decode", loc);
  std::string out;
  for (const size_t place : internal::places("Words::decode", ids, names_.size()))
    out += (out.empty() ? "" : " ") + names_[place];
  return out;
}

}  // namespace spruce::data
