// SPDX-License-Identifier: Apache-2.0
// Text as numbers: bytes, characters or words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::data {

/// The whole of a file as text. Throws IoError.
std::string load_text(const std::string& path, Loc loc = Loc::current());

/// i32[bytes]: each byte as its number, 0 .. 255.
Array encode_bytes(std::string_view text);
/// The text of those bytes. Throws DtypeError unless the ids are integers, IndexError for one that
/// is no byte.
std::string decode_bytes(const Array& ids, Loc loc = Loc::current());

/// Characters (Unicode code points, the text being UTF-8) as the numbers 0 .. size()-1, in the
/// order of their code points.
class Characters {
 public:
  /// Those that occur in `text`. Throws ValueError, with the byte, where it is no UTF-8.
  explicit Characters(std::string_view text, Loc loc = Loc::current());

  /// How many there are.
  int64_t size() const { return static_cast<int64_t>(names_.size()); }
  /// The characters in order, in UTF-8.
  const std::vector<std::string>& names() const { return names_; }
  /// i32[characters]. Throws ValueError for a character that is not there, and as the constructor.
  Array encode(std::string_view text, Loc loc = Loc::current()) const;
  /// The text. Throws IndexError for an id that is not there, DtypeError unless ids are integers.
  std::string decode(const Array& ids, Loc loc = Loc::current()) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> ids_;
};

/// Options of Words.
struct WordsOptions {
  int64_t max_size = 0;   ///< the most ids, that of unknown words among them; 0: no limit
  int64_t min_count = 1;  ///< words that are rarer get no id
};

/// Text cut into words: runs of letters, digits, underscores and bytes above 127 (so that words of
/// all languages hold together), and each other character but blanks by itself.
std::vector<std::string> split_words(std::string_view text);

/// Words as the numbers 1, 2, ..., the most frequent first; 0 is every other word, "<unk>".
class Words {
 public:
  /// The words of `text`, cut by split_words(); of equal counts, the one that occurs first comes
  /// first. Throws ValueError for options out of range.
  explicit Words(std::string_view text, const WordsOptions& options = {}, Loc loc = Loc::current());

  /// How many ids there are.
  int64_t size() const { return static_cast<int64_t>(names_.size()); }
  /// The words by their ids.
  const std::vector<std::string>& names() const { return names_; }
  /// i32[words]; 0 for words without an id.
  Array encode(std::string_view text) const;
  /// The words with blanks between them. Throws IndexError for an id that is not there, DtypeError
  /// unless ids are integers.
  std::string decode(const Array& ids, Loc loc = Loc::current()) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> ids_;
};

namespace internal {
/// The ids as places below `size`. Throws DtypeError, IndexError.
std::vector<size_t> places(const char* op, const Array& ids, size_t size);
/// Whether ASCII has the character as blank: a space, or what moves on a line or a page.
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
}  // namespace internal

}  // namespace spruce::data
