// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/text/bpe.h"

#include <queue>

#include "spruce/core/op_scope.h"
#include "spruce/data/text/tokens.h"

namespace spruce::data {
namespace {

// Bytes that GPT-2's files show as the character of that code point; the others, in order, are
// shown as the code points from 256 on.
bool is_shown(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) ||
         (byte >= 0xae && byte <= 0xff);
}

std::string utf8(int code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

uint64_t pair_of(int32_t a, int32_t b) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
}

bool is_letter(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u > 127;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
using internal::is_blank;
int kind(char c) { return is_letter(c) ? 0 : is_digit(c) ? 1 : is_blank(c) ? 2 : 3; }

// Where the piece ends that begins at `at`, by GPT-2's expression
//   's|'t|'re|'ve|'m|'ll|'d| ?letters| ?digits| ?others|blanks(?!not blank)|blanks
size_t piece_end(std::string_view text, size_t at) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.substr(at, ending.size()) == ending) return at + ending.size();
  }
  size_t from = at;
  if (text[at] == ' ' && at + 1 < text.size() && !is_blank(text[at + 1])) ++from;
  const int k = kind(text[from]);
  size_t end = from + 1;
  while (end < text.size() && kind(text[end]) == k) ++end;
  // The last blank of several belongs to what follows.
  if (k == 2 && end < text.size() && end - from > 1) --end;
  return end;
}

}  // namespace

BytePairs::BytePairs() : of_byte_(256) {
  for (const bool shown : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      if (is_shown(byte) != shown) continue;
      of_byte_[static_cast<size_t>(byte)] = static_cast<int32_t>(tokens_.size());
      tokens_.push_back(std::string(1, static_cast<char>(byte)));
    }
  }
}

BytePairs BytePairs::load(const std::string& path, Loc loc) {
  const OpScope at("BytePairs::load", loc);
  const std::string text = load_text(path);
  BytePairs out;
  std::unordered_map<std::string, int32_t> ids;  // of tokens as the file writes them
  std::vector<std::string> written(256);
  for (int byte = 0, hidden = 256; byte < 256; ++byte) {
    const int32_t id = out.of_byte_[static_cast<size_t>(byte)];
    written[static_cast<size_t>(id)] = utf8(is_shown(byte) ? byte : hidden++);
  }
  for (size_t id = 0; id < written.size(); ++id) ids.emplace(written[id], static_cast<int32_t>(id));

  int64_t line = 0;
  const auto fail = [&](const std::string& problem) {
    throw IoError("BytePairs::load: " + path + ": line " + std::to_string(line) + ": " + problem);
  };
  for (size_t from = 0; from < text.size();) {
    ++line;
    const size_t end = std::min(text.find('\n', from), text.size());
    std::string_view row = std::string_view(text).substr(from, end - from);
    from = end + 1;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty() || (line == 1 && row.starts_with("#version"))) continue;
    const size_t blank = row.find(' ');
    if (blank == 0 || blank == row.npos || row.find(' ', blank + 1) != row.npos ||
        blank + 1 == row.size()) {
      fail("it is not two tokens with a blank between them");
    }
    const std::string left(row.substr(0, blank)), right(row.substr(blank + 1));
    for (const std::string& token : {left, right}) {
      if (ids.count(token) == 0)
        fail("the token '" + token + "' is no byte and no line before it makes it");
    }
    const int32_t a = ids.at(left), b = ids.at(right);
    const auto id = static_cast<int32_t>(out.tokens_.size());
    if (!out.merges_.emplace(pair_of(a, b), id).second) fail("this merge stands there twice");
    ids.emplace(left + right, id);
    out.tokens_.push_back(out.tokens_[static_cast<size_t>(a)] +
                          out.tokens_[static_cast<size_t>(b)]);
  }
  return out;
}

void BytePairs::encode_piece(std::string_view piece, std::vector<int32_t>& out) const {
  // A list of tokens by their first bytes; the merge of the lowest id is made first, of equal ones
  // the leftmost.
  constexpr size_t kNone = static_cast<size_t>(-1);
  const size_t n = piece.size();
  std::vector<int32_t> id(n);
  std::vector<size_t> before(n), after(n);
  for (size_t i = 0; i < n; ++i) {
    id[i] = of_byte_[static_cast<unsigned char>(piece[i])];
    before[i] = i == 0 ? kNone : i - 1;
    after[i] = i + 1 == n ? kNone : i + 1;
  }
  struct Merge {
    int32_t made;
    size_t at;
    int32_t left, right;  // what stood there when it was found
    bool operator<(const Merge& o) const { return made != o.made ? made > o.made : at > o.at; }
  };
  std::priority_queue<Merge> waiting;
  const auto consider = [&](size_t i) {
    if (i == kNone || after[i] == kNone) return;
    const auto found = merges_.find(pair_of(id[i], id[after[i]]));
    if (found != merges_.end()) waiting.push({found->second, i, id[i], id[after[i]]});
  };
  for (size_t i = 0; i < n; ++i) consider(i);
  while (!waiting.empty()) {
    const Merge m = waiting.top();
    waiting.pop();
    const size_t next = after[m.at];
    if (id[m.at] != m.left || next == kNone || id[next] != m.right) continue;
    id[m.at] = m.made;
    id[next] = -1;
    after[m.at] = after[next];
    if (after[next] != kNone) before[after[next]] = m.at;
    after[next] = kNone;
    consider(before[m.at]);
    consider(m.at);
  }
  for (size_t i = 0; i < n; ++i) {
    if (id[i] >= 0) out.push_back(id[i]);
  }
}

Array BytePairs::encode(std::string_view text) const {
  std::vector<int32_t> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = piece_end(text, at);
    encode_piece(text.substr(at, end - at), out);
    at = end;
  }
  return array(out);
}

std::string BytePairs::decode(const Array& ids, Loc loc) const {
  const OpScope at("BytePairs::decode", loc);
  std::string out;
  for (const size_t place : internal::places("BytePairs::decode", ids, tokens_.size()))
    out += tokens_[place];
  return out;
}

}  // namespace spruce::data
