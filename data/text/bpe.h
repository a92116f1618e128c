// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding (Sennrich et al. 2016, https://arxiv.org/abs/1508.07909) over bytes, as GPT-2
// has it (Radford et al. 2019).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::data {

/// Text as numbers by the merges of a file. The ids are those of GPT-2's vocabulary without its
/// special tokens: the 256 bytes in its order ('!' is 0), then one for each merge, in order.
///
/// Text is first cut into pieces as GPT-2 cuts it: the endings 's 't 're 've 'm 'll 'd, and runs of
/// letters, of digits, or of anything else, each with one blank in front. Bytes above 127 count as
/// letters here: in text beyond ASCII, pieces around other digits and punctuation may differ from
/// GPT-2's. What is decoded is always the text again.
class BytePairs {
 public:
  /// Reads a merges.txt: a line "#version ..." that is left out, then two tokens a line with a
  /// blank between them, bytes written as GPT-2 writes them. Throws IoError, with the line, for a
  /// line of another form or with a token that no line before it makes.
  static BytePairs load(const std::string& path, Loc loc = Loc::current());

  /// How many ids there are: 256 and one for each merge.
  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  /// The bytes of each id.
  const std::vector<std::string>& tokens() const { return tokens_; }
  /// i32[tokens].
  Array encode(std::string_view text) const;
  /// The bytes of the tokens, one after the other. Throws IndexError for an id that is not there,
  /// DtypeError unless ids are integers.
  std::string decode(const Array& ids, Loc loc = Loc::current()) const;

 private:
  BytePairs();
  void encode_piece(std::string_view piece, std::vector<int32_t>& out) const;

  std::vector<std::string> tokens_;
  std::vector<int32_t> of_byte_;                  // the id of each byte
  std::unordered_map<uint64_t, int32_t> merges_;  // of two ids: what they become
};

}  // namespace spruce::data
