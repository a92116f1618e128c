// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/idx.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/shape.h"
#include "tests/core/io/gzip.h"
#include "tests/core/io/scratch.h"

namespace spruce::io {
namespace idx_test {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBytes("\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03\x01\x02\x03\xff\xfe\xfd",
                         18);
const std::string kShorts("\x00\x00\x0b\x01\x00\x00\x00\x02\x01\x02\xff\xfe", 12);
const std::string kDoubles("\x00\x00\x0e\x00\x3f\xf8\x00\x00\x00\x00\x00\x00", 12);

TEST(Idx, LoadsPlainAndCompressed) {
  const Scratch s;
  for (const bool compressed : {false, true}) {
    const auto load = [&](const std::string& bytes) {
      return load_idx(s.file("x", compressed ? gzip(bytes) : bytes));
    };
    const Array x = load(kBytes);
    EXPECT_EQ(x.shape(), (Shape{2, 3}));
    EXPECT_THAT(x.to_vector<uint8_t>(), ElementsAre(1, 2, 3, 255, 254, 253));
    EXPECT_THAT(load(kShorts).to_vector<int16_t>(), ElementsAre(0x102, -2));
    EXPECT_EQ(load(kDoubles).item<double>(), 1.5);
  }
}

TEST(Idx, EveryCodeIsItsElementType) {
  const Scratch s;
  struct Code {
    char code;
    Dtype dtype;
    std::string bytes;  // of -2 or, unsigned, of 254; of -1.5
    double value;
  };
  const std::vector<Code> codes = {
      {0x08, Dtype::kUint8, "\xfe", 254},
      {0x09, Dtype::kInt8, "\xfe", -2},
      {0x0b, Dtype::kInt16, "\xff\xfe", -2},
      {0x0c, Dtype::kInt32, "\xff\xff\xff\xfe", -2},
      {0x0d, Dtype::kFloat32, std::string("\xbf\xc0\0\0", 4), -1.5},
      {0x0e, Dtype::kFloat64, std::string("\xbf\xf8\0\0\0\0\0\0", 8), -1.5}};
  for (int code = 0; code < 256; ++code) {
    const auto known =
        std::find_if(codes.begin(), codes.end(), [&](const Code& c) { return c.code == code; });
    const std::string head = std::string(2, '\0') + static_cast<char>(code) + '\0';
    if (known == codes.end()) {
      const std::string path = s.file("x", head + std::string(8, '\0'));
      EXPECT_THAT(io_error([&] { (void)load_idx(path); }), HasSubstr("which means nothing"));
      continue;
    }
    const Array x = load_idx(s.file("x", head + known->bytes));
    EXPECT_EQ(x.dtype(), known->dtype) << code;
    EXPECT_EQ(astype(x, float64).item<double>(), known->value) << code;
  }
}

TEST(Idx, LoadsLargeCompressedFilesAndSeveralMembers) {
  const Scratch s;
  std::string bytes("\x00\x00\x08\x01\x00\x10\x00\x00", 8);
  for (int64_t i = 0; i < 1 << 20; ++i) bytes += static_cast<char>(i * i >> 7);
  const Array x = load_idx(s.file("x", gzip(bytes)));
  EXPECT_EQ(x.size(), 1 << 20);
  EXPECT_EQ(x.data<uint8_t>()[1000], static_cast<uint8_t>(1000 * 1000 >> 7));
  EXPECT_TRUE(array_equal(
      load_idx(s.file("y", gzip(bytes.substr(0, 5000)) + gzip(bytes.substr(5000)))), x));
}

TEST(Idx, SaysWhatIsWrongAndWhere) {
  const Scratch s;
  const auto load = [&](const std::string& bytes) {
    const std::string path = s.file("x", bytes);
    return io_error([&] { (void)load_idx(path); });
  };
  EXPECT_THAT(load(""), HasSubstr("x: at byte 0: the mark of an IDX file takes 2 bytes"));
  EXPECT_THAT(load("hello"), HasSubstr("this is no IDX file"));
  EXPECT_THAT(load(std::string("\x00\x00\x0a\x01\x00\x00\x00\x00", 8)),
              HasSubstr("at byte 2: the code of the element type is 10"));
  EXPECT_THAT(load(std::string("\x00\x00\x08\xff", 4)), HasSubstr("the rank is 255"));
  EXPECT_THAT(load(std::string("\x00\x00\x08\x02\x00\x00\x00\x02", 8)),
              HasSubstr("a size takes 4 bytes"));
  EXPECT_THAT(load(kBytes.substr(0, 17)),
              HasSubstr("the data of the array takes 6 bytes from byte 12 on"));
  EXPECT_THAT(load(kBytes + "x"),
              HasSubstr("at byte 18: the array u8[2,3] ends here and 1 more bytes follow"));
  EXPECT_THAT(load(gzip(kBytes.substr(0, 17))),
              HasSubstr("stands for 17 bytes, not for the 18 due"));
  EXPECT_THAT(load(gzip(kBytes + "x")), HasSubstr("stands for more than the 18 bytes due"));
  EXPECT_THAT(load(gzip("hello")), HasSubstr("(uncompressed): at byte 0: this is no IDX file"));
  EXPECT_THAT(load(gzip(std::string(
                  "\x00\x00\x0e\x03\x7f\xff\xff\xff\x7f\xff\xff\xff\x00\x00\x00\x7f", 16))),
              HasSubstr("is impossible"));
  EXPECT_THAT(load(gzip(std::string("\x00\x00\x08\x01\x7f\xff\xff\xff", 8))),
              HasSubstr("cannot stand for 2147483655"));
  std::string bytes = gzip(kBytes);
  bytes[bytes.size() - 6] ^= 1;
  EXPECT_THAT(load(bytes), HasSubstr("the compressed data is damaged"));
}

TEST(Idx, DamagedFilesAreRefused) {
  EXPECT_GT(damage(kBytes, [](const std::string& path) { (void)load_idx(path); }), 40);
  EXPECT_GT(damage(gzip(kBytes), [](const std::string& path) { (void)load_idx(path); }), 100);
}

}  // namespace idx_test
}  // namespace spruce::io
