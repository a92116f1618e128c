// SPDX-License-Identifier: Apache-2.0
// Letters of 5 x 7 pixels for drawings. A row is a digit of base 32, whose bits are the pixels.
#include <array>

#include "spruce/data/plot/drawing.h"

namespace spruce::data::internal {
namespace {

// From the blank to the tilde, in the order of ASCII.
constexpr const char* kLetters[] = {
    "0000000", "4444404", "aa00000", "aavavaa", "4fke5u4", "op248j3", "cik8lid", "4480000",
    "2488842", "8422248", "04lel40", "044v440", "0000c48", "000v000", "00000cc", "01248g0",
    "ehjlphe", "4c4444e", "eh1248v", "v2421he", "26aiv22", "vgu11he", "68guhhe", "v124888",
    "ehhehhe", "ehhf12c", "0cc0cc0", "0cc0c48", "248g842", "00v0v00", "8421248", "eh12404",
    "eh1dlle", "ehhvhhh", "uhhuhhu", "ehggghe", "sihhhis", "vgguggv", "vgguggg", "ehgnhhf",
    "hhhvhhh", "e44444e", "72222ic", "hikokih", "ggggggv", "hrllhhh", "hhpljhh", "ehhhhhe",
    "uhhuggg", "ehhhlid", "uhhukih", "fgge11u", "v444444", "hhhhhhe", "hhhhha4", "hhhllla",
    "hha4ahh", "hha4444", "v1248gv", "e88888e", "0g84210", "e22222e", "4ah0000", "000000v",
    "8420000", "00e1fhf", "ggmphhu", "00egghe", "11djhhf", "00ehvge", "698s888", "0fhhf1e",
    "ggmphhh", "40c444e", "20622ic", "ggikoki", "c44444e", "00qllhh", "00mphhh", "00ehhhe",
    "00uhugg", "00djf11", "00mpggg", "00ege1u", "88s8896", "00hhhjd", "00hhha4", "00hhlla",
    "00ha4ah", "00hhf1e", "00v248v", "2448442", "4444444", "8442448", "008l200",
};
constexpr const char* kBox = "vhhhhhv";

constexpr size_t kRows = 7;
using Letter = std::array<uint8_t, kRows>;

constexpr Letter rows_of(const char* digits) {
  Letter out{};
  for (size_t row = 0; row < kRows; ++row) {
    const char c = digits[row];
    out[row] = static_cast<uint8_t>(c >= 'a' ? c - 'a' + 10 : c - '0');
  }
  return out;
}

constexpr auto kRowsOf = [] {
  std::array<Letter, std::size(kLetters) + 1> out{};
  for (size_t i = 0; i < std::size(kLetters); ++i) out[i] = rows_of(kLetters[i]);
  out.back() = rows_of(kBox);
  return out;
}();

}  // namespace

const uint8_t* letter_of(unsigned char c) {
  const bool known = c >= ' ' && c <= '~';
  return kRowsOf[known ? static_cast<size_t>(c - ' ') : std::size(kLetters)].data();
}

}  // namespace spruce::data::internal
