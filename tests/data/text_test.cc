// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "spruce/core/ops/ops.h"
#include "spruce/data/text/bpe.h"
#include "spruce/data/text/tokens.h"
#include "tests/core/io/scratch.h"
#include "tests/core/message.h"

namespace spruce::data {
namespace text_test {

using io::io_error;
using io::Scratch;
using testing::ElementsAre;
using testing::HasSubstr;

std::string all_bytes() {
  std::string out;
  for (int b = 0; b < 256; ++b) out += static_cast<char>(b);
  return out;
}

TEST(Bytes, ThereAndBack) {
  EXPECT_THAT(encode_bytes("a\xff").to_vector<int32_t>(), ElementsAre('a', 255));
  EXPECT_EQ(decode_bytes(encode_bytes(all_bytes())), all_bytes());
  EXPECT_EQ(decode_bytes(array(std::vector<uint8_t>{104, 105})), "hi");
  EXPECT_THROW(decode_bytes(array({256})), IndexError);
  EXPECT_THROW(decode_bytes(array({-1})), IndexError);
  EXPECT_THROW(decode_bytes(array({1.0f})), DtypeError);
}

TEST(Characters, InTheOrderOfCodePoints) {
  const Characters c("zébra 🦓é");
  EXPECT_THAT(c.names(), ElementsAre(" ", "a", "b", "r", "z", "é", "🦓"));
  EXPECT_THAT(c.encode("é z").to_vector<int32_t>(), ElementsAre(5, 0, 4));
  EXPECT_EQ(c.decode(c.encode("arba 🦓")), "arba 🦓");
}

TEST(Characters, WhatIsWrongIsNamed) {
  const Characters c("abre");
  EXPECT_THAT(message<ValueError>([&] { c.encode("abé"); }),
              HasSubstr("the character 'é' at byte 2 is none of the 4 that are known"));
  EXPECT_THROW(c.decode(array({4})), IndexError);
  // Cut short, too long, half a pair, beyond the last code point, alone.
  for (const char* bad : {"a\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf0\x80\x80\x80", "\x80", "\xff"}) {
    EXPECT_THAT(message<ValueError>([&] { Characters{bad}; }), HasSubstr("is no UTF-8 at byte"));
  }
}

TEST(Words, TheMostFrequentFirst) {
  EXPECT_THAT(split_words("Don't stop,  x_1 é!\n"),
              ElementsAre("Don", "'", "t", "stop", ",", "x_1", "é", "!"));
  const Words w("b a b c a b d");
  EXPECT_THAT(w.names(), ElementsAre("<unk>", "b", "a", "c", "d"));
  EXPECT_THAT(w.encode("a new b").to_vector<int32_t>(), ElementsAre(2, 0, 1));
  EXPECT_EQ(w.decode(w.encode("a new b")), "a <unk> b");
  EXPECT_THAT(Words("b a b c a b d", {.min_count = 2}).names(), ElementsAre("<unk>", "b", "a"));
  EXPECT_THAT(Words("b a b c a b d", {.max_size = 2}).names(), ElementsAre("<unk>", "b"));
  EXPECT_THROW(Words("a", {.min_count = 0}), ValueError);
}

BytePairs merges(const std::string& text) {
  const Scratch s;
  return BytePairs::load(s.file("merges.txt", text));
}

TEST(BytePairs, IdsAreThoseOfGpt2) {
  // The ids of single bytes in GPT-2's vocab.json: "!" 0, "A" 32, "a" 64, "~" 93, "¡" 94 (byte
  // 161), "Ā" 188 (byte 0), "Ġ" 220 (the blank), "Ċ" 198 (the end of a line); merges begin at 256
  // with "Ġ t" and "Ġ a".
  const BytePairs bpe = merges("#version: 0.2\nĠ t\nĠ a\nh e\ni n\nr e\no n\nĠt he\n");
  EXPECT_EQ(bpe.size(), 263);
  EXPECT_THAT(bpe.encode("!Aa~").to_vector<int32_t>(), ElementsAre(0, 32, 64, 93));
  EXPECT_THAT(bpe.encode("\n").to_vector<int32_t>(), ElementsAre(198));
  EXPECT_THAT(bpe.encode(std::string("\xa1\0", 2)).to_vector<int32_t>(), ElementsAre(94, 188));
  EXPECT_THAT(bpe.encode(" the").to_vector<int32_t>(), ElementsAre(262));
  EXPECT_THAT(bpe.encode(" a then").to_vector<int32_t>(), ElementsAre(257, 262, 77));
  EXPECT_EQ(bpe.decode(bpe.encode("the rain on the plain")), "the rain on the plain");
  EXPECT_EQ(bpe.decode(bpe.encode(all_bytes())), all_bytes());
  EXPECT_EQ(bpe.encode("").size(), 0);
}

TEST(BytePairs, TheEarliestMergeComesFirst) {
  // "a b" is made before "b c" although both could be; then "ab c" stands behind.
  const BytePairs bpe = merges("a b\nb c\nab c\n");
  EXPECT_THAT(bpe.encode("abc").to_vector<int32_t>(), ElementsAre(258));
  EXPECT_THAT(bpe.encode("bc").to_vector<int32_t>(), ElementsAre(257));
  EXPECT_THAT(bpe.encode("aabcb").to_vector<int32_t>(), ElementsAre(64, 258, 65));
  // Three of a kind: the leftmost two.
  EXPECT_THAT(merges("a a\n").encode("aaa").to_vector<int32_t>(), ElementsAre(256, 64));
}

TEST(BytePairs, PiecesAreMergedByThemselves) {
  const BytePairs bpe = merges("o Ġ\na 1\n' s\nĠ Ġ\n");
  EXPECT_EQ(bpe.encode("o o").size(), 3);    // not across the blank
  EXPECT_EQ(bpe.encode("a1").size(), 2);     // letters and digits are two pieces
  EXPECT_EQ(bpe.encode("a's").size(), 2);    // the ending holds together
  EXPECT_EQ(bpe.encode("a   b").size(), 4);  // the last blank goes with the word: "a", "  ", " b"
  EXPECT_EQ(bpe.encode("a  ").size(), 2);    // at the end all of them are one piece
}

TEST(BytePairs, LongPiecesTakeNoSquareOfTime) {
  std::string text = "a a\n", token = "a";
  for (int k = 0; k < 12; ++k) {
    token += token;
    text += token + " " + token + "\n";
  }
  const BytePairs bpe = merges(text);
  EXPECT_EQ(bpe.encode(std::string(1 << 20, 'a')).size(), 1 << (20 - 13));
}

TEST(BytePairs, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(io_error([] { merges("#version: 0.2\nab\n"); }),
              HasSubstr("line 2: it is not two tokens with a blank between them"));
  EXPECT_THAT(io_error([] { merges("a b c\n"); }), HasSubstr("line 1: it is not two tokens"));
  EXPECT_THAT(io_error([] { merges("a b\na bc\n"); }),
              HasSubstr("line 2: the token 'bc' is no byte and no line before it makes it"));
  EXPECT_THAT(io_error([] { merges("a b\na b\n"); }), HasSubstr("line 2: this merge stands there"));
  EXPECT_THROW(merges("").decode(array({256})), IndexError);
}

}  // namespace text_test
}  // namespace spruce::data
