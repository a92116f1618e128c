// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "spruce/core/io/npy.h"
#include "spruce/core/ops/ops.h"
#include "spruce/data/batches.h"
#include "spruce/data/files/csv.h"
#include "spruce/data/files/mapped.h"
#include "spruce/data/files/wav.h"
#include "tests/core/io/scratch.h"
#include "tests/core/message.h"

namespace spruce::data {
namespace files_test {

using io::io_error;
using io::Scratch;
using testing::ElementsAre;
using testing::HasSubstr;

CsvTable csv(const std::string& text, const CsvOptions& options = {}) {
  const Scratch s;
  return load_csv(s.file("t.csv", text), options);
}

TEST(Csv, ColumnsByName) {
  const CsvTable t =
      csv("\xef\xbb\xbfx,name,\"a, b\"\r\n1,one,-2.5e1\r\n\r\n 2 ,\"tw\"\"o\",\r\n+3,"
          "\"l1\nl2\",7");
  EXPECT_THAT(t.names(), ElementsAre("x", "name", "a, b"));
  EXPECT_EQ(t.rows(), 3);
  EXPECT_THAT(t.numbers("x").to_vector<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(t.numbers("x", int64).to_vector<int64_t>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(t.text("name"), ElementsAre("one", "tw\"o", "l1\nl2"));
  const auto b = t.numbers("a, b", float64).to_vector<double>();
  EXPECT_EQ(b[0], -25);
  EXPECT_TRUE(std::isnan(b[1]));
  EXPECT_EQ(t.matrix({"a, b", "x"}).shape(), (Shape{3, 2}));
  EXPECT_EQ((t.matrix({"a, b", "x"})[{2, 0}].item<float>()), 7);
}

TEST(Csv, WithoutHeaderAndWithTabs) {
  const CsvTable t = csv("1\t2\n3\t4\n", {.delimiter = '\t', .header = false});
  EXPECT_THAT(t.names(), ElementsAre("0", "1"));
  EXPECT_THAT(t.matrix({}, int32).to_vector<int32_t>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(csv("").rows(), 0);
  EXPECT_EQ(csv("a,b\n").rows(), 0);
  EXPECT_EQ(csv("a,b\n").matrix().shape(), (Shape{0, 2}));
}

TEST(Csv, Categories) {
  const Categories c = csv("k\nred\nblue\nred\n\"\"\n").categories("k");
  EXPECT_THAT(c.names, ElementsAre("", "blue", "red"));
  EXPECT_THAT(c.ids.to_vector<int32_t>(), ElementsAre(2, 1, 2, 0));
}

TEST(Csv, ReadsTheDigitsOfTheProject) {
  const CsvTable t = load_csv(SPRUCE_SOURCE_DIR "/data/digits.csv", {.header = false});
  EXPECT_EQ(t.rows(), 1797);
  ASSERT_EQ(t.names().size(), 65u);
  const Array labels = t.numbers("64", int32);
  EXPECT_EQ(min(labels).item<int32_t>(), 0);
  EXPECT_EQ(max(labels).item<int32_t>(), 9);
}

TEST(Csv, LinesMayEndInCr) {
  const CsvTable t = csv("a,b\r1,\"x\ry\"\r\r3,z\r");
  EXPECT_THAT(t.names(), ElementsAre("a", "b"));
  EXPECT_THAT(t.numbers("a").to_vector<float>(), ElementsAre(1, 3));
  EXPECT_THAT(t.text("b"), ElementsAre("x\ry", "z"));
  EXPECT_THAT(io_error([] { csv("a,b\r\"1\r\",2\r3\r"); }),
              HasSubstr("line 4: 1 fields, and line 2"));
}

TEST(Csv, ColumnsOfOneName) {
  const CsvTable t = csv("a,a,b\n1,2,3\n");
  EXPECT_THAT(t.matrix().to_vector<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(t.numbers("b").to_vector<float>(), ElementsAre(3));
  EXPECT_THAT(message<ValueError>([&] { t.numbers("a"); }), HasSubstr("has several columns 'a'"));
}

TEST(Csv, NumbersAreTheNearestOfTheirDtype) {
  const CsvTable t = csv("a\n1e-60\n-1e-400\n1e-40\n1.000488281250001\n0.1\n");
  const auto f = t.numbers("a").to_vector<float>();
  EXPECT_EQ(f[0], 0);
  EXPECT_TRUE(f[1] == 0 && std::signbit(f[1]));
  EXPECT_EQ(f[2], 1e-40f);
  EXPECT_EQ(t.numbers("a", float64).to_vector<double>()[0], 1e-60);
  EXPECT_EQ(t.numbers("a", float64).to_vector<double>()[1], 0);
  // By way of f32, which rounds to the tie, it would be 1.
  const auto h = t.numbers("a", float16).to_vector<Float16>();
  EXPECT_EQ(h[2], 0);
  EXPECT_EQ(h[3], 1.0009765625f);
  EXPECT_EQ(t.numbers("a", bfloat16).to_vector<Bfloat16>()[4], 0.10009765625f);
  for (const auto& [text, dtype] :
       {std::pair{"70000", float16}, std::pair{"-65520", float16}, std::pair{"3.4e38", bfloat16},
        std::pair{"1e39", float32}, std::pair{"-1e400", float64}}) {
    const CsvTable large = csv("a\n" + std::string(text) + "\n");
    EXPECT_THAT(message<ValueError>([&, d = dtype] { large.numbers("a", d); }),
                HasSubstr("which is no " + std::string(short_name(dtype))));
  }
  EXPECT_EQ(csv("a\n65519\n").numbers("a", float16).to_vector<Float16>()[0], 65504);
  EXPECT_TRUE(std::isinf(csv("a\ninf\n").numbers("a", float16).to_vector<Float16>()[0]));
}

TEST(Csv, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(io_error([] { csv("a,b\n1,2\n\n3\n"); }),
              HasSubstr("line 4: 1 fields, and line 2 has 2"));
  EXPECT_THAT(io_error([] { csv("a,b\n1\n"); }), HasSubstr("line 2: 1 fields, and line 1 has 2"));
  EXPECT_THAT(io_error([] { csv("a\n\"x\ny\n"); }),
              HasSubstr("line 2: a quotation mark is not cl"));
  EXPECT_THAT(io_error([] { csv("a\nx\"y\n"); }), HasSubstr("line 2: a quotation mark stands in"));
  EXPECT_THAT(io_error([] { csv("a\n\"x\"y\n"); }), HasSubstr("line 2: text follows the closing"));
  EXPECT_THAT(message<ValueError>([] { csv("a\n\"1\n\"\nzwei\n").numbers("a"); }),
              HasSubstr("line 2: column 'a' is '1\n', which is no f32"));
  EXPECT_THAT(message<ValueError>([] { csv("a\n1.5\n").numbers("a", int32); }),
              HasSubstr("'1.5', which is no i32"));
  EXPECT_THAT(message<ValueError>([] { csv("a\n300\n").numbers("a", uint8); }),
              HasSubstr("'300', which is no u8"));
  EXPECT_THAT(message<ValueError>([] { csv("a,b\n,1\n").numbers("a", int32); }),
              HasSubstr("take a floating dtype, where it is NaN"));
  EXPECT_THAT(message<ValueError>([] { csv("a,b\n1,2\n").numbers("c"); }),
              HasSubstr("has no column 'c'; it has 'a', 'b'"));
  EXPECT_THROW(csv("a\n1\n").numbers("a", bool_), DtypeError);
  EXPECT_THROW(csv("a", {.delimiter = '"'}), ValueError);
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

std::string wav(uint16_t coding, uint16_t channels, uint16_t bits, const std::string& data,
                const std::string& between = "") {
  const auto frame = static_cast<uint16_t>(channels * bits / 8);
  std::string format = bytes_of<uint16_t>({coding, channels}) +
                       bytes_of<uint32_t>({8000, 8000u * frame}) +
                       bytes_of<uint16_t>({frame, bits});
  const auto chunk = [](const char* name, const std::string& d) {
    return name + bytes_of({static_cast<uint32_t>(d.size())}) + d;
  };
  const std::string rest = "WAVE" + chunk("fmt ", format) + between + chunk("data", data);
  return "RIFF" + bytes_of({static_cast<uint32_t>(rest.size())}) + rest;
}

TEST(Wav, EveryCoding) {
  const Scratch s;
  const auto load = [&](const std::string& b) { return load_wav(s.file("x.wav", b)); };
  const Sound two = load(wav(1, 2, 16, bytes_of<int16_t>({0, 16384, -32768, 32767})));
  EXPECT_EQ(two.rate, 8000);
  EXPECT_EQ(two.samples.shape(), (Shape{2, 2}));
  EXPECT_THAT(two.samples.to_vector<float>(), ElementsAre(0, 0.5f, -1, 32767.0f / 32768));
  EXPECT_THAT(load(wav(1, 1, 8, bytes_of<uint8_t>({0, 128, 192}))).samples.to_vector<float>(),
              ElementsAre(-1, 0, 0.5f));
  EXPECT_THAT(
      load(wav(1, 1, 24, std::string("\0\0\x80\0\0\x40\0\0\xc0", 9))).samples.to_vector<float>(),
      ElementsAre(-1, 0.5f, -0.5f));
  EXPECT_THAT(load(wav(1, 1, 32, bytes_of<int32_t>({1 << 30}))).samples.to_vector<float>(),
              ElementsAre(0.5f));
  EXPECT_THAT(load(wav(3, 1, 32, bytes_of<float>({0.3f, 2}))).samples.to_vector<float>(),
              ElementsAre(0.3f, 2));
  EXPECT_THAT(load(wav(3, 1, 64, bytes_of<double>({0.25}))).samples.to_vector<float>(),
              ElementsAre(0.25f));
  // Chunks that are not known are passed over, with the byte that fills up an odd one.
  const std::string list("LIST\x03\0\0\0abc\0", 12);
  EXPECT_EQ(load(wav(1, 1, 8, "\x80", list)).samples.size(), 1);
}

TEST(Wav, OfAPipeIsReadToTheEnd) {
  const Scratch s;
  const std::string good = wav(1, 1, 16, bytes_of<int16_t>({0, 16384, -32768}));
  for (const uint32_t unknown : {0u, UINT32_MAX, 0x7ffff000u}) {
    std::string bytes = good;
    bytes.replace(4, 4, bytes_of({unknown}));
    bytes.replace(40, 4, bytes_of({unknown}));
    EXPECT_THAT(load_wav(s.file("x.wav", bytes)).samples.to_vector<float>(),
                ElementsAre(0, 0.5f, -1));
  }
  // A sound without samples, and a chunk behind it.
  const std::string none = wav(1, 1, 16, "") + "LIST" + bytes_of<uint32_t>({2, 0});
  std::string whole = none.substr(0, none.size() - 2);
  whole.replace(4, 4, bytes_of({static_cast<uint32_t>(whole.size() - 8)}));
  EXPECT_EQ(load_wav(s.file("x.wav", whole)).samples.size(), 0);
}

TEST(Wav, FramesThatAreFilledUpAreRefused) {
  const Scratch s;
  std::string bytes = wav(1, 1, 24, std::string(12, '\0'));
  bytes.replace(32, 2, bytes_of<uint16_t>({4}));
  EXPECT_THAT(io_error([&] { load_wav(s.file("x.wav", bytes)); }),
              HasSubstr("at byte 32: a frame has 4 bytes and 1 channels of 24 bits take 3"));
}

TEST(Wav, WhatIsSavedIsReadAgain) {
  const Scratch s;
  const Array x = array({0.0f, 0.5f, -1.0f, 2.0f, NAN, -7.0f}).reshape({3, 2});
  save_wav(s.path("x.wav"), {x, 44100});
  const Sound y = load_wav(s.path("x.wav"));
  EXPECT_EQ(y.rate, 44100);
  EXPECT_THAT(y.samples.to_vector<float>(), ElementsAre(0, 0.5f, -1, 32767.0f / 32768, 0, -1));
  EXPECT_THROW(save_wav(s.path("x.wav"), {ones({3}), 8000}), ShapeError);
  EXPECT_THROW(save_wav(s.path("x.wav"), {ones({3, 1}, int32), 8000}), DtypeError);
  EXPECT_THROW(save_wav(s.path("x.wav"), {ones({3, 1}), 0}), ValueError);
}

TEST(Wav, DamageIsFoundOrHarmless) {
  const std::string good = wav(1, 1, 16, bytes_of<int16_t>({1, 2, 3}));
  const io::MemoryFile file;
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_THROW(load_wav(file.with(good.substr(0, n))), IoError) << n;
  for (size_t i = 0; i < good.size(); ++i) {
    for (int v = 0; v < 256; ++v) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(v);
      try {
        load_wav(file.with(bytes));
      } catch (const IoError&) {
      }
    }
  }
  EXPECT_THAT(io_error([&] { load_wav(file.with(wav(2, 1, 4, ""))); }),
              HasSubstr("the coding 2 and 4 bits"));
}

TEST(Mapped, RowsOfNpy) {
  const Scratch s;
  const Array x = random::normal(Key(0), {50, 3, 2});
  io::save_npy(s.path("x.npy"), x);
  const MappedArray m = MappedArray::npy(s.path("x.npy"));
  EXPECT_EQ(m.shape(), x.shape());
  EXPECT_EQ(m.dtype(), float32);
  EXPECT_TRUE(array_equal(m.take({49, 0, 7, 7}), take(x, array({49, 0, 7, 7}), 0)));
  EXPECT_TRUE(array_equal(m.slice(3, 4), x[slice(3, 7)]));
  EXPECT_EQ(m.slice(50, 0).shape(), (Shape{0, 3, 2}));
  EXPECT_THAT(message<IndexError>([&] { m.take({50}); }), HasSubstr("there is no entry 50"));
  EXPECT_THROW(m.take({-1}), IndexError);
  EXPECT_THROW(m.slice(49, 2), IndexError);
  EXPECT_THROW(m.slice(0, INT64_MAX), IndexError);
}

TEST(Mapped, MakesBatches) {
  const Scratch s;
  const Array x = random::normal(Key(0), {10, 3});
  io::save_npy(s.path("x.npy"), x);
  const auto load = [m = MappedArray::npy(s.path("x.npy"))](std::span<const int64_t> i) {
    return m.take(i);
  };
  const auto mapped = batches_by(load, shuffled(10, Key(1)), {.batch_size = 4, .prefetch = 2});
  const auto plain = batches(x, {.batch_size = 4, .key = Key(1)});
  auto other = plain.begin();
  for (const auto& b : mapped) {
    EXPECT_TRUE(array_equal(b.examples, other->examples));
    ++other;
  }
  EXPECT_TRUE(other == plain.end());
}

TEST(Mapped, RawElements) {
  const Scratch s;
  const std::string path = s.file("x.bin", "head" + bytes_of<int32_t>({1, 2, 3, 4, 5, 6}));
  const MappedArray m = MappedArray::raw(path, int32, {3, 2}, 4);
  EXPECT_THAT(m.take({2, 0}).to_vector<int32_t>(), ElementsAre(5, 6, 1, 2));
  EXPECT_THAT(io_error([&] {
                MappedArray::raw(path, int32, {4, 2}, 4);
              }),
              HasSubstr("takes 32 bytes from byte 4 on and there are only 28"));
  EXPECT_THROW(MappedArray::raw(path, int32, {-1}), ShapeError);
  EXPECT_THROW(MappedArray::raw(path, int32, {}), ShapeError);
  EXPECT_THROW(MappedArray::raw(path, int32, {1}, -1), ValueError);
  const MappedArray bools = MappedArray::raw(path, bool_, {28});
  EXPECT_THROW(bools.take({0}), IoError);
  EXPECT_NO_THROW(bools.take({4}));
  const MappedArray empty = MappedArray::raw(s.file("empty", ""), float32, {0, 4});
  EXPECT_EQ(empty.slice(0, 0).shape(), (Shape{0, 4}));
}

TEST(Mapped, WhatCannotBeMapped) {
  const Scratch s;
  EXPECT_THAT(io_error([&] { MappedArray::npy(s.path("none")); }), HasSubstr("cannot be opened"));
  EXPECT_THAT(io_error([&] { MappedArray::npy(s.file("x", "PK\x03\x04....")); }),
              HasSubstr("this is no .npy file"));
  io::save_npy(s.path("good.npy"), arange(6.0f));
  const std::string good = s.read("good.npy");
  EXPECT_GT(io::damage(good, [](const std::string& path) { MappedArray::npy(path); }), 100);
  std::string big = good;
  big.replace(big.find("<f4"), 3, ">f4");
  EXPECT_THAT(io_error([&] { MappedArray::npy(s.file("big", big)); }), HasSubstr("'>f4'"));
}

}  // namespace files_test
}  // namespace spruce::data
