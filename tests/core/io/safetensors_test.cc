// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/safetensors.h"

#include <gmock/gmock.h>

#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/shape.h"
#include "tests/core/io/scratch.h"

namespace spruce::io {
namespace safetensors_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

bool same(const Array& a, const Array& b) { return a.aval() == b.aval() && array_equal(a, b); }

std::string file_of(const std::string& header, const std::string& data) {
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return length + header + data;
}

TEST(Safetensors, KeepsEveryDtypeShapeNameAndOrder) {
  const Scratch s;
  NamedArrays arrays;
  for (int d = 0; d < kDtypeCount; ++d) {
    const auto dtype = static_cast<Dtype>(d);
    arrays.insert("layer." + std::string(name(dtype)) + ".w\"eight\n\xc3\xa4",
                  astype(arange(6, int32).reshape({2, 3}) % 2, dtype));
    arrays.insert("scalar " + std::string(name(dtype)), astype(array(1), dtype));
    arrays.insert("empty " + std::string(name(dtype)), zeros({2, 0}, dtype));
  }
  save_safetensors(s.path("x.safetensors"), arrays,
                   {.metadata = {{"format", "pt"}, {"note", "\"two\"\nlines"}}});
  const NamedArrays back = load_safetensors(s.path("x.safetensors"));
  ASSERT_TRUE(back.same_names(arrays));
  for (size_t i = 0; i < arrays.size(); ++i)
    EXPECT_TRUE(same(back.value(i), arrays.value(i))) << arrays.name(i);
  EXPECT_THAT(load_safetensors_metadata(s.path("x.safetensors")),
              ElementsAre(Pair("format", "pt"), Pair("note", "\"two\"\nlines")));
}

TEST(Safetensors, TheFormatByteForByte) {
  const Scratch s;
  save_safetensors(s.path("x"), {{"b", array({true, false})}, {"w", array({1.0f, -2.0f}, {1, 2})}});
  const std::string header =
      R"({"b":{"dtype":"BOOL","shape":[2],"data_offsets":[8,10]},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(s.read("x"),
            file_of(padded, std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0\x01\x00", 10)));
  save_safetensors(s.path("empty"), {});
  EXPECT_EQ(s.read("empty"), file_of("{}      ", ""));
  EXPECT_TRUE(load_safetensors(s.path("empty")).empty());
}

TEST(Safetensors, SaysWhatIsWrongAndWhere) {
  const Scratch s;
  const auto load = [&](const std::string& bytes) {
    const std::string path = s.file("x", bytes);
    return io_error([&] { (void)load_safetensors(path); });
  };
  const auto header = [&](const std::string& text, const std::string& data = "") {
    return load(file_of(text, data));
  };
  const auto entry = [&](const std::string& dtype, const std::string& shape,
                         const std::string& offsets, const std::string& data = "12345678") {
    return header("{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
                      ",\"data_offsets\":" + offsets + "}}",
                  data);
  };
  EXPECT_EQ(entry("F32", "[2]", "[0,8]"), "nothing was thrown");
  EXPECT_THAT(load("1234"), HasSubstr("at byte 0: the length of the header takes 8 bytes"));
  EXPECT_THAT(load("PK\x03\x04 0123456789"), HasSubstr("this is no .safetensors file"));
  EXPECT_THAT(load(std::string("\x20\x00\x00\x00\x00\x00\x00\x00{}", 10)),
              HasSubstr("the header takes 32 bytes from byte 8 on"));
  EXPECT_THAT(header("{\"a\":"), HasSubstr("the header is no JSON text"));
  EXPECT_THAT(header("{\"a\": nope}"), HasSubstr("at byte 15: the header is no JSON text"));
  EXPECT_THAT(header("[]"), HasSubstr("the header is no JSON object"));
  EXPECT_THAT(header(std::string(100000, '[')), HasSubstr("nests deeper"));
  EXPECT_THAT(header("{\"a\":3}"), HasSubstr("the array 'a' is no JSON object"));
  EXPECT_THAT(header(R"({"a":{"shape":[2],"data_offsets":[0,8]}})"),
              HasSubstr("has no text as dtype"));
  EXPECT_THAT(header(R"({"a":{"dtype":"F32","shape":[2]}})"),
              HasSubstr("has no list of numbers as data_offsets"));
  EXPECT_THAT(entry("F8_E4M3", "[2]", "[0,8]"),
              HasSubstr("has the dtype F8_E4M3, which Spruce does not have"));
  EXPECT_THAT(entry("F32", "[2.5]", "[0,8]"), HasSubstr("something else than whole numbers"));
  EXPECT_THAT(entry("F32", "[-2]", "[0,8]"), HasSubstr("something else than whole numbers"));
  EXPECT_THAT(entry("F32", "[9223372036854775808]", "[0,8]"), HasSubstr("up to 2^63 - 1 in shape"));
  EXPECT_THAT(entry("F32", "[4611686018427387904,4]", "[0,8]"), HasSubstr("is impossible"));
  EXPECT_THAT(entry("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]", "[0,8]"),
              HasSubstr("has 17 axes"));
  EXPECT_THAT(entry("F32", "[2]", "[8,0]"),
              HasSubstr("not two, in rising order and within the 8 bytes"));
  EXPECT_THAT(entry("F32", "[2]", "[0,8,9]"), HasSubstr("not two"));
  EXPECT_THAT(entry("F32", "[3]", "[0,12]"), HasSubstr("within the 8 bytes of data"));
  EXPECT_THAT(entry("F32", "[3]", "[0,8]"),
              HasSubstr("is f32[3], which takes 12 bytes, and its data_offsets span 8"));
  EXPECT_THAT(entry("F32", "[1]", "[0,4]"), HasSubstr("and 4 more bytes follow"));
  EXPECT_THAT(entry("F32", "[1]", "[4,8]"), HasSubstr("leaves a gap"));
  EXPECT_THAT(entry("BOOL", "[2]", "[0,2]", "\x01\x02"), HasSubstr("a bool is stored as 2"));
  const std::string twice =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  EXPECT_THAT(header(twice, "12"), HasSubstr("has the key 'a' twice"));
  const std::string overlap =
      R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})";
  EXPECT_THAT(header(overlap, "123"),
              HasSubstr("the array 'b' begins here and overlaps the one that ends at byte"));
  EXPECT_THAT(header(R"({"__metadata__":{"a":1}})"),
              HasSubstr("something else than text under 'a'"));
  EXPECT_THAT(header(R"({"__metadata__":[]})"), HasSubstr("__metadata__ is no JSON object"));
}

TEST(Safetensors, DamagedFilesAreRefused) {
  const Scratch s;
  save_safetensors(s.path("x"),
                   {{"weight", array({1.0f, 2.0f})}, {"mask", array({true, false, true})}},
                   {.metadata = {{"a", "b"}}});
  EXPECT_GT(damage(s.read("x"), [](const std::string& path) { (void)load_safetensors(path); }),
            500);
}

TEST(Safetensors, RefusesToSaveWhatTheFormatCannotHold) {
  const Scratch s;
  EXPECT_THROW(save_safetensors(s.path("x"), {{"a", Array()}}), ValueError);
  EXPECT_THROW(save_safetensors(s.path("x"), {{"__metadata__", array(1)}}), ValueError);
  EXPECT_THROW(save_safetensors(s.path("x"), {{"\xff\xfe", array(1)}}), ValueError);
  EXPECT_THROW(save_safetensors(s.path("x"), {{"a", array(1)}}, {.metadata = {{"k", "\xff"}}}),
               ValueError);
  EXPECT_TRUE(s.names().empty());
}

}  // namespace safetensors_test
}  // namespace spruce::io
