// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/npy.h"

#include <gmock/gmock.h>

#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/shape.h"
#include "tests/core/io/numpy_files.h"
#include "tests/core/io/scratch.h"

namespace spruce::io {
namespace npy_test {

using testing::ElementsAre;
using testing::HasSubstr;

Array expected() { return array({-1.0f, -0.5f, 0.0f, 0.5f, 1.0f, 1.5f}, {2, 3}); }

bool same(const Array& a, const Array& b) { return a.aval() == b.aval() && array_equal(a, b); }

std::string npy(const std::string& header, const std::string& data) {
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(header.size() & 0xff);
  head += static_cast<char>(header.size() >> 8);
  return head + header + data;
}

TEST(Npy, LoadsWhatNumpyWrites) {
  const Scratch s;
  const Array fortran = load_npy(s.file("a", kFortranBigEndian));
  EXPECT_TRUE(same(fortran, (1000 * arange(24, int32) - 7).reshape({2, 3, 4})));
  EXPECT_TRUE(same(load_npy(s.file("b", kVersion2)), expected()));
  EXPECT_TRUE(same(load_npy(s.file("c", kVersion3)), astype(expected(), float64)));
  EXPECT_TRUE(same(load_npy(s.file("d", kBrainFloat)), astype(expected(), bfloat16)));
  EXPECT_TRUE(same(load_npy(s.file("e", kScalarBool)), array(true)));
  EXPECT_EQ(load_npy(s.file("f", kEmpty)).aval(), (Aval{float16, false, {0, 3}}));
}

TEST(Npy, KeepsEveryDtypeAndShape) {
  const Scratch s;
  for (int d = 0; d < kDtypeCount; ++d) {
    for (const Shape& shape :
         {Shape{}, Shape{5}, Shape{2, 3}, Shape{0}, Shape{3, 0, 2}, Shape{1, 1, 1, 1}}) {
      const Array x =
          astype(reshape(arange(shape.numel(), int32), shape) % 2, static_cast<Dtype>(d));
      save_npy(s.path("x.npy"), x);
      EXPECT_TRUE(same(load_npy(s.path("x.npy")), x)) << to_string(x.aval());
    }
  }
}

TEST(Npy, WritesWhatNumpyWrites) {
  const Scratch s;
  save_npy(s.path("a"), astype(expected(), bfloat16));
  EXPECT_EQ(s.read("a"), kBrainFloat);
  save_npy(s.path("a"), array(true));
  EXPECT_EQ(s.read("a"), kScalarBool);
  save_npy(s.path("a"), zeros({0, 3}, float16));
  EXPECT_EQ(s.read("a"), kEmpty);
}

TEST(Npy, ReadsHeadersThatOthersWrite) {
  const Scratch s;
  const std::string data("\x01\x02\x03\x04", 4);
  const auto load = [&](const std::string& header, const std::string& data) {
    return load_npy(s.file("x", npy(header, data)));
  };
  EXPECT_THAT(
      load("{\"shape\":(2L,),'descr':'<i2','fortran_order':True}\n", data).to_vector<int16_t>(),
      ElementsAre(0x201, 0x403));
  EXPECT_THAT(load("{ 'fortran_order' :\tFalse, 'descr': '=u2', 'shape': ( 2 , 1 ) , }", data)
                  .to_vector<uint16_t>(),
              ElementsAre(0x201, 0x403));
}

TEST(Npy, SaysWhatIsWrongAndWhere) {
  const Scratch s;
  const auto load = [&](const std::string& bytes) {
    const std::string path = s.file("x.npy", bytes);
    return io_error([&] { (void)load_npy(path); });
  };
  const auto header = [&](const std::string& text, const std::string& data = "") {
    return load(npy(text, data));
  };
  EXPECT_THAT(io_error([&] { (void)load_npy(s.path("none.npy")); }),
              HasSubstr("none.npy: cannot be opened: No such file"));
  EXPECT_THAT(io_error([&] { (void)load_npy(s.path("")); }), HasSubstr("it is a folder"));
  EXPECT_THAT(load("PK"), HasSubstr("x.npy: at byte 0: the mark of a .npy file takes 6 bytes"));
  EXPECT_THAT(load("not a npy file"), HasSubstr("at byte 0: this is no .npy file"));
  EXPECT_THAT(load(std::string("\x93NUMPY\x09\x00\x02\x00{}", 12)),
              HasSubstr("at byte 6: version 9"));
  EXPECT_THAT(load(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12)),
              HasSubstr("the header takes 65535 bytes from byte 10 on"));
  EXPECT_THAT(load(kComplex), HasSubstr("no dtype for elements of the type '<c8'"));
  EXPECT_THAT(load(kRecords), HasSubstr("made of records"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False}"), HasSubstr("lacks one of"));
  EXPECT_THAT(header("{'descr': '<f4', 'descr': '<f4'}"),
              HasSubstr("at byte 27: the header has the key 'descr' twice"));
  EXPECT_THAT(header("{'color': 3}"), HasSubstr("'color'"));
  EXPECT_THAT(header("{'fortran_order': Perhaps}"), HasSubstr("neither True nor False"));
  EXPECT_THAT(header("{'shape': (3, x)}"), HasSubstr("at byte 24: the shape has no size"));
  EXPECT_THAT(header("{'shape': (-3,)}"), HasSubstr("the shape has no size"));
  EXPECT_THAT(header("{'shape': (99999999999999999999,)}"), HasSubstr("too large"));
  EXPECT_THAT(header("{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}"),
              HasSubstr("more than 16 axes"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"),
              HasSubstr("after its closing brace"));
  EXPECT_THAT(header("{'descr': '<f4"), HasSubstr("a quote that does not end"));
  const std::string huge =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}";
  EXPECT_THAT(header(huge), HasSubstr("the shape [4611686018427387904,4] is impossible"));
  const std::string four = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}";
  EXPECT_THAT(
      header(four, "12345"),
      HasSubstr(
          "the data of the array takes 16 bytes from byte 65 on and there are only 70 bytes"));
  EXPECT_THAT(header(four, std::string(18, 'x')),
              HasSubstr("at byte 81: the array ends here and 2 more bytes follow"));
  EXPECT_THAT(header("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\x01\x07"),
              HasSubstr("at byte 66: a bool is stored as 7"));
}

TEST(Npy, DamagedFilesAreRefused) {
  EXPECT_GT(damage(kVersion2, [](const std::string& path) { (void)load_npy(path); }), 250);
  EXPECT_GT(damage(kFortranBigEndian, [](const std::string& path) { (void)load_npy(path); }), 250);
}

TEST(Npz, LoadsWhatNumpyWrites) {
  const Scratch s;
  const NamedArrays stored = load_npz(s.file("a.npz", kStoredNpz)),
                    compressed = load_npz(s.file("b.npz", kCompressedNpz));
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored.name(0), "w");
  EXPECT_TRUE(same(stored.at("w"), expected()));
  EXPECT_TRUE(same(stored.at("b"), array({int64_t{1}, int64_t{2}, int64_t{3}})));
  ASSERT_EQ(compressed.size(), 2u);
  EXPECT_TRUE(same(compressed.at("w"), expected()));
  EXPECT_TRUE(same(compressed.at("zeros"), zeros({40, 50}, uint8)));
}

TEST(Npz, KeepsNamesOrderAndArrays) {
  const Scratch s;
  const NamedArrays arrays{{"z", expected()},
                           {"a/b", array({true, false})},
                           {"\xc3\xa4", zeros({0}, bfloat16)},
                           {"", array(3)}};
  save_npz(s.path("x.npz"), arrays);
  const NamedArrays back = load_npz(s.path("x.npz"));
  ASSERT_TRUE(back.same_names(arrays));
  for (size_t i = 0; i < arrays.size(); ++i) EXPECT_TRUE(same(back.value(i), arrays.value(i)));
  const std::string once = s.read("x.npz");
  save_npz(s.path("x.npz"), arrays);
  EXPECT_EQ(s.read("x.npz"), once);
  save_npz(s.path("empty.npz"), {});
  EXPECT_TRUE(load_npz(s.path("empty.npz")).empty());
}

TEST(Npz, SaysWhatIsWrongAndWhere) {
  const Scratch s;
  const auto load = [&](std::string bytes) {
    const std::string path = s.file("x.npz", bytes);
    return io_error([&] { (void)load_npz(path); });
  };
  EXPECT_THAT(load(""), HasSubstr("this is no zip archive"));
  EXPECT_THAT(load(std::string(300, 'x')), HasSubstr("or its end is missing"));
  std::string bytes = kStoredNpz;
  bytes[bytes.find("\x93NUMPY") + 130] ^= 1;
  EXPECT_THAT(load(bytes), HasSubstr("the data of 'w.npy' is damaged: its checksum differs"));
  bytes = kStoredNpz;
  bytes[bytes.rfind("b.npy")] = 'c';
  EXPECT_THAT(load(bytes), HasSubstr("has another name than 'c.npy'"));
  bytes = kStoredNpz;
  bytes[bytes.find("b.npy")] = 'w';
  bytes[bytes.rfind("b.npy")] = 'w';
  EXPECT_THAT(load(bytes), HasSubstr("two arrays with the name 'w'"));
  bytes = kStoredNpz;
  bytes[bytes.find("w.npy") + 1] = '_';
  bytes[bytes.rfind("w.npy") + 1] = '_';
  EXPECT_THAT(load(bytes), HasSubstr("'w_npy' is no array"));
  bytes = kStoredNpz;
  bytes[bytes.find("PK\x01\x02") + 8] |= 1;
  EXPECT_THAT(load(bytes), HasSubstr("encrypted"));
  bytes = kStoredNpz;
  bytes[bytes.find("PK\x01\x02") + 10] = 12;
  EXPECT_THAT(load(bytes), HasSubstr("compressed by method 12"));
  bytes = kCompressedNpz;
  bytes.replace(bytes.rfind("PK\x01\x02") + 24, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(load(bytes), HasSubstr("cannot stand for 2147483647"));
}

TEST(Npz, DamagedFilesAreRefused) {
  const Scratch s;
  EXPECT_GT(damage(kStoredNpz, [](const std::string& path) { (void)load_npz(path); }), 500);
  EXPECT_GT(damage(kCompressedNpz, [](const std::string& path) { (void)load_npz(path); }), 500);
  save_npz(s.path("own.npz"), {{"w", expected()}, {"v", array({1, 2})}});
  EXPECT_GT(damage(s.read("own.npz"), [](const std::string& path) { (void)load_npz(path); }), 500);
}

TEST(Npz, RefusesToSaveWhatIsNoArray) {
  const Scratch s;
  EXPECT_THROW(save_npz(s.path("x"), {{"a", Array()}}), ValueError);
  EXPECT_THROW(save_npy(s.path("x"), Array()), ValueError);
  EXPECT_THROW(save_npz(s.path("x"), {{std::string(70000, 'n'), array(1)}}), ValueError);
  EXPECT_TRUE(s.names().empty());
}

}  // namespace npy_test
}  // namespace spruce::io
