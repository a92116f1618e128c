// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/files/image.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "spruce/core/ops/ops.h"
#include "spruce/data/batches.h"
#include "spruce/data/files/image_folder.h"
#include "tests/core/io/scratch.h"

namespace spruce::data {
namespace image_test {

using io::io_error;
using io::Scratch;
using testing::ElementsAre;
using testing::HasSubstr;

struct Case {
  const char* name;
  std::vector<uint8_t> file;
  Shape shape;
  std::vector<uint8_t> pixels;  // as Pillow reads them
  std::vector<uint8_t> luma;    // its grey; empty where there is transparency

  std::string bytes() const { return {file.begin(), file.end()}; }
  bool exact() const { return std::string(name).starts_with("png"); }
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
#include "image_cases.inc"
  };
  return all;
}

const Case& case_of(const std::string& name) {
  for (const Case& c : cases()) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no case " + name);
}

// The largest difference; JPEG may be decoded with other roundings.
int difference(const Array& a, const std::vector<uint8_t>& b) {
  int out = 0;
  const std::vector<uint8_t> x = a.to_vector<uint8_t>();
  EXPECT_EQ(x.size(), b.size());
  for (size_t i = 0; i < std::min(x.size(), b.size()); ++i)
    out = std::max(out, std::abs(x[i] - b[i]));
  return out;
}

TEST(Image, PixelsAreThoseOfPillow) {
  const Scratch s;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Array x = load_image(s.file("picture", c.bytes()));
    EXPECT_EQ(x.shape(), c.shape);
    EXPECT_LE(difference(x, c.pixels), c.exact() ? 0 : 2);
  }
}

TEST(Image, ChannelsAreConverted) {
  const Scratch s;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const std::string path = s.file("picture", c.bytes());
    const Array grey = load_image(path, {.channels = 1}), rgb = load_image(path, {.channels = 3}),
                rgba = load_image(path, {.channels = 4});
    EXPECT_EQ(grey.shape()[2], 1);
    EXPECT_EQ(rgb.shape()[2], 3);
    EXPECT_EQ(rgba.shape()[2], 4);
    if (!c.luma.empty()) {
      EXPECT_LE(difference(grey, c.luma), c.exact() ? 0 : 2);
      EXPECT_EQ(min(rgba[{ellipsis, 3}]).item<uint8_t>(), 255);
    }
    EXPECT_TRUE(array_equal(rgba[{ellipsis, slice(0, 3)}], rgb));
    if (c.shape[2] <= 2) {
      EXPECT_TRUE(array_equal(rgb[{ellipsis, 2}], grey[{ellipsis, 0}]));
    }
  }
  const Case& alpha = case_of("png_grey_alpha");
  const Array rgba = load_image(s.file("picture", alpha.bytes()), {.channels = 4});
  const Array as_read = array(alpha.pixels, alpha.shape);
  EXPECT_TRUE(array_equal(rgba[{ellipsis, 3}], as_read[{ellipsis, 1}]));
}

TEST(Image, WhatIsSavedIsReadAgain) {
  const Scratch s;
  for (const Shape& shape : {Shape{3, 5}, {3, 5, 1}, {4, 2, 2}, {1, 9, 3}, {2, 2, 4}}) {
    const Array x = random::randint(Key(1), shape, 0, 256, {.dtype = uint8});
    save_png(s.path("x.png"), x);
    const Array y = load_image(s.path("x.png"));
    EXPECT_TRUE(array_equal(y.reshape(shape), x)) << to_string(shape);
  }
  EXPECT_THAT(s.names(), ElementsAre("x.png"));  // nothing temporary is left
  EXPECT_THROW(save_png(s.path("x.png"), ones({2, 2})), DtypeError);
  EXPECT_THROW(save_png(s.path("x.png"), ones({2}, uint8)), ShapeError);
  EXPECT_THROW(save_png(s.path("x.png"), ones({2, 2, 5}, uint8)), ShapeError);
  EXPECT_THROW(save_png(s.path("x.png"), ones({0, 2}, uint8)), ShapeError);
  EXPECT_THROW(save_png(s.path("no/x.png"), ones({2, 2}, uint8)), IoError);
}

TEST(Image, DamageIsFoundOrHarmless) {
  for (const char* name : {"png_rgb", "png_palette", "jpeg_rgb", "jpeg_progressive"}) {
    const std::string good = case_of(name).bytes();
    const io::MemoryFile file;
    for (size_t n = 0; n < good.size(); ++n) {
      // A JPEG whose pixels are complete may lack its last two bytes.
      if (n + 2 >= good.size() && name[0] == 'j') break;
      EXPECT_THROW(load_image(file.with(good.substr(0, n))), IoError) << name << " cut to " << n;
    }
    for (size_t i = 0; i < good.size(); ++i) {
      for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
        std::string bytes = good;
        bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ flip);
        try {
          load_image(file.with(bytes), {.max_pixels = 100'000});
        } catch (const IoError&) {
        }
      }
    }
  }
}

TEST(Image, MessagesNameTheFile) {
  const Scratch s;
  EXPECT_THAT(io_error([&] { load_image(s.path("none.png")); }), HasSubstr("cannot be opened"));
  EXPECT_THAT(io_error([&] { load_image(s.file("a.png", "GIF89a")); }),
              HasSubstr("neither PNG nor JPEG"));
  EXPECT_THAT(io_error([&] { load_image(s.file("empty", "")); }),
              HasSubstr("neither PNG nor JPEG"));
  const std::string png = s.file("x.png", case_of("png_rgb").bytes());
  EXPECT_THAT(io_error([&] { load_image(png, {.max_pixels = 34}); }),
              HasSubstr("the picture has 5 x 7 pixels, and at most 34 are read"));
  EXPECT_NO_THROW(load_image(png, {.max_pixels = 35}));
  EXPECT_THROW(load_image(png, {.channels = 2}), ValueError);
}

// Two classes with pictures of 5 x 7 and what is none.
struct Folder {
  Scratch s;
  Folder() {
    for (const char* name : {"dog", "cat", "empty"})
      std::filesystem::create_directory(s.path(name));
    s.file("cat/b.PNG", case_of("png_rgb").bytes());
    s.file("cat/a.png", case_of("png_grey").bytes());
    s.file("cat/readme.txt", "no picture");
    s.file("dog/1.jpg", case_of("jpeg_rgb").bytes());
    s.file("top.png", case_of("png_rgb").bytes());
  }
};

TEST(ImageFolder, ClassesAreFolders) {
  const Folder f;
  const ImageFolder set = image_folder(f.s.path(""));
  EXPECT_THAT(set.classes, ElementsAre("cat", "dog", "empty"));
  EXPECT_THAT(set.labels, ElementsAre(0, 0, 1));
  EXPECT_THAT(set.paths[0], HasSubstr("cat/a.png"));
  EXPECT_EQ(set.load(std::vector<int64_t>{0, 1}).images.shape(), (Shape{2, 5, 7, 3}));
}

TEST(ImageFolder, MakesBatches) {
  const Folder f;
  const auto corner = [](const Array& image) { return image[{slice(0, 4), slice(0, 4)}]; };
  const ImageFolder set = image_folder(f.s.path(""), {.transform = corner});
  const auto load = [&](std::span<const int64_t> i) { return set.load(i); };
  std::vector<int32_t> seen;
  for (const auto& b : batches_by(load, in_order(set.size()), {.batch_size = 2, .prefetch = 1})) {
    EXPECT_EQ(b.examples.images.shape(), (Shape{b.count, 4, 4, 3}));
    for (const int32_t label : b.examples.labels.data<int32_t>()) seen.push_back(label);
  }
  EXPECT_THAT(seen, ElementsAre(0, 0, 1));
}

TEST(ImageFolder, WhatIsWrongIsNamed) {
  const Folder f;
  const ImageFolder set = image_folder(f.s.path(""));
  EXPECT_THROW(set.load(std::vector<int64_t>{3}), IndexError);
  EXPECT_THROW(set.load(std::vector<int64_t>{}), ValueError);
  try {
    set.load(std::vector<int64_t>{1, 2});
    ADD_FAILURE();
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("dog/1.jpg is u8[16,16,3]"));
    EXPECT_THAT(e.what(), HasSubstr("cat/b.PNG is u8[5,7,3]; give them one size by .transform"));
  }
  const Scratch empty;
  EXPECT_THAT(io_error([&] { image_folder(empty.path("")); }), HasSubstr("no pictures"));
  EXPECT_THAT(io_error([&] { image_folder(empty.path("none")); }), HasSubstr("cannot be read"));
}

// The picture i of CIFAR: red i, green 100 + i, blue the number of the pixel.
std::string record(const std::string& labels, int i) {
  std::string out = labels + std::string(1024, static_cast<char>(i)) +
                    std::string(1024, static_cast<char>(100 + i));
  for (int p = 0; p < 1024; ++p) out += static_cast<char>(p);
  return out;
}

TEST(Cifar, PlanesBecomeChannels) {
  const Scratch s;
  const std::string first = s.file("1.bin", record("\x03", 1) + record("\x09", 2)),
                    second = s.file("2.bin", record(std::string(1, '\0'), 3));
  const LabelledImages set = load_cifar10({first, second});
  EXPECT_EQ(set.images.shape(), (Shape{3, 32, 32, 3}));
  EXPECT_THAT(set.labels.to_vector<int32_t>(), ElementsAre(3, 9, 0));
  EXPECT_THAT((set.images[{1, 2, 5}].to_vector<uint8_t>()), ElementsAre(2, 102, 2 * 32 + 5));
  const Cifar100 fine = load_cifar100(s.file("3.bin", record("\x13\x63", 1)));
  EXPECT_THAT(fine.labels.to_vector<int32_t>(), ElementsAre(99));
  EXPECT_THAT(fine.coarse.to_vector<int32_t>(), ElementsAre(19));
  EXPECT_THAT((fine.images[{0, 31, 31}].to_vector<uint8_t>()), ElementsAre(1, 101, 255));
}

TEST(Cifar, WhatIsWrongIsNamed) {
  const Scratch s;
  const std::string good = record("\x03", 1);
  EXPECT_THAT(io_error([&] { load_cifar10({s.file("x", good.substr(1))}); }),
              HasSubstr("the file has 3072 bytes, no multiple of 3073"));
  EXPECT_THAT(io_error([&] { load_cifar10({s.file("x", good + record("\x0a", 1))}); }),
              HasSubstr("at byte 3073: the label is 10 and there are 10 classes"));
  EXPECT_THAT(io_error([&] { load_cifar10({s.file("x", "")}); }), HasSubstr("0 bytes"));
  EXPECT_THROW(load_cifar10({}), ValueError);
  EXPECT_THAT(io_error([&] { load_cifar100(s.file("x", record("\x14\x01", 1))); }),
              HasSubstr("the label is 20 and there are 20 classes"));
}

}  // namespace image_test
}  // namespace spruce::data
