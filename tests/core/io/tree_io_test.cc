// SPDX-License-Identifier: Apache-2.0
// Trees as files: leaves by path, static fields beside them.
#include "spruce/core/io/tree_io.h"

#include <gmock/gmock.h>
#include <spruce/spruce.h>

#include <ctime>

#include "tests/core/io/scratch.h"

namespace spruce::io {
namespace tree_io_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

enum class Mode : uint8_t { kFast, kSlow };

struct Checkpoint {
  std::vector<nn::Linear> layers;
  int64_t epoch = 0;
  double rate = 0.1;
  std::string name = "a";
  Mode mode = Mode::kFast;
  bool done = false;
  Shape shape{2, 3};
  std::vector<bool> mask{true, false};
  std::array<int, 2> stride{1, 2};
  float (*act)(float) = nullptr;
};

Checkpoint trained() {
  Checkpoint c{.layers = {nn::Linear::init(Key(0), 2, 3), nn::Linear::init(Key(1), 3, 1)}};
  c.epoch = 7;
  c.rate = 1.0 / 3;
  c.name = "b\n\"c";
  c.mode = Mode::kSlow;
  c.done = true;
  c.shape = {};
  c.mask = {false, true, true};
  c.stride = {3, 4};
  return c;
}

Checkpoint fresh() {
  return {.layers = {nn::Linear::init(Key(2), 2, 3), nn::Linear::init(Key(3), 3, 1)}};
}

std::string tree_error(const std::function<void()>& f) {
  try {
    f();
  } catch (const TreeError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

const LoadTreeOptions kRestored{.static_fields = StaticFields::kRestore};

TEST(TreeIo, StaticFieldsThatDifferAreAnError) {
  const Scratch s;
  for (const char* name : {"x.safetensors", "x.npz"}) {
    const std::string path = s.path(name);
    save_tree(path, trained());
    EXPECT_TRUE(tree::equal(load_tree(path, trained()), trained()));
    Checkpoint other = trained();
    other.epoch = 0;
    other.layers[0] = nn::Linear::init(Key(5), 2, 3);
    EXPECT_THAT(tree_error([&] { (void)load_tree(path, other); }),
                HasSubstr("load_tree: '" + path +
                          "' has other static fields than the tree:\n  epoch is 7 in the file and "
                          "0 in the tree\n  load with .static_fields = StaticFields::kRestore to "
                          "take those of the file, or ::kKeep to keep those of the tree"));
    const std::string all = tree_error([&] { (void)load_tree(path, fresh()); });
    for (const char* field : {"epoch", "rate", "name", "mode", "done", "shape", "mask.1"})
      EXPECT_THAT(all, HasSubstr(std::string("\n  ") + std::string(field).substr(0, 4)));
  }
}

TEST(TreeIo, StaticFieldsAreRestoredOrKeptOnRequest) {
  const Scratch s;
  for (const char* name : {"x.safetensors", "x.npz"}) {
    const std::string path = s.path(name);
    save_tree(path, trained());
    EXPECT_TRUE(tree::equal(load_tree(path, fresh(), kRestored), trained()));
    const Checkpoint kept = load_tree(path, fresh(), {.static_fields = StaticFields::kKeep});
    EXPECT_EQ(kept.epoch, 0);
    EXPECT_EQ(kept.name, "a");
    EXPECT_TRUE(array_equal(kept.layers[1].weight, trained().layers[1].weight));
  }
}

TEST(TreeIo, NumbersAreRestoredToTheBit) {
  struct Numbers {
    Array w = ones({1});
    float a = 0;
    double b = 0, c = 0, d = 0;
    uint64_t e = 0;
    int8_t f = 0;
  };
  const Scratch s;
  Numbers x;
  x.a = 0.1f;
  x.b = -0.0;
  x.c = std::numeric_limits<double>::denorm_min();
  x.d = -std::numeric_limits<double>::infinity();
  x.e = UINT64_MAX;
  x.f = -128;
  save_tree(s.path("x"), x);
  EXPECT_TRUE(tree::equal(load_tree(s.path("x"), Numbers{}, kRestored), x));
}

TEST(TreeIo, NumbersThatAnEnumCannotBeAreErrors) {
  enum class Small : int8_t { kOne = 1 };
  struct Number {
    Array w = ones({1});
    int mode = 0;
  };
  struct Choice {
    Array w = ones({1});
    Small mode{};
  };
  const Scratch s;
  Number x;
  for (x.mode = -129; x.mode < 300; x.mode += 86) {
    save_tree(s.path("x"), x);
    const auto load = [&] { return load_tree(s.path("x"), Choice{}, kRestored).mode; };
    if (x.mode >= -128 && x.mode <= 127)
      EXPECT_EQ(static_cast<int>(load()), x.mode);
    else
      EXPECT_THAT(tree_error([&] { (void)load(); }), HasSubstr("the static field mode"));
  }
}

TEST(TreeIo, StaticFieldsStandInTheMetadataByPath) {
  struct Inner {
    double p = 0.5;
  };
  struct Model {
    Array w = ones({1});
    std::vector<Inner> drop{{}, {}};
  };
  const Scratch s;
  save_tree(s.path("x"), Model{});
  // The checksum of 1.0f is that of zlib.crc32(struct.pack("<f", 1)) in Python.
  EXPECT_THAT(load_safetensors_metadata(s.path("x")),
              ElementsAre(Pair("crc32", testing::_), Pair("crc32.w", "aca16a6a"),
                          Pair("static.drop.0.p", "0.5"), Pair("static.drop.1.p", "0.5")));
  save_tree(s.path("x.npz"), Model{});
  EXPECT_EQ(load_npz(s.path("x.npz")).name(1), "__static__");
}

struct Decay {
  Array w, rate;
};

TEST(TreeIo, NumbersStayWeakToTheBit) {
  const Scratch s;
  for (const char* name : {"x.safetensors", "x.npz"}) {
    const std::string path = s.path(name);
    const Decay run{ones({2}, bfloat16), 0.1};
    save_tree(path, run);
    // Whatever stands there in the tree that it is loaded into.
    for (const Array& rate : {Array(0.5), Array(0.5f), array(0.5f), array(0.5), Array(1)}) {
      const Decay loaded = load_tree(path, Decay{run.w, rate});
      EXPECT_EQ(to_string(loaded.rate.aval()), "f64*[]");
      EXPECT_EQ(loaded.rate.item<double>(), 0.1);
      EXPECT_EQ((loaded.w * loaded.rate).dtype(), bfloat16);
    }
    EXPECT_THROW(load_tree(path, Decay{run.w, array(1)}), DtypeError);
    // What was an array when it was saved is one, also where the tree has a number still.
    save_tree(path, Decay{run.w, array(0.1f)});
    EXPECT_EQ(to_string(load_tree(path, Decay{run.w, 0.5}).rate.aval()), "f32[]");
    save_tree(path, Array(3));
    EXPECT_EQ(to_string(load_tree(path, Array(1)).aval()), "i32*[]");
  }
}

TEST(TreeIo, WeakArraysOfFilesWithoutMarksAreStrong) {
  const Scratch s;
  // The first version had a weak f64 as f32.
  save_safetensors(s.path("x"), {{"w", ones({2})}, {"rate", array(0.1f)}});
  save_npz(s.path("x.npz"), {{"w", ones({2})}, {"rate", array(0.1f)}});
  for (const char* name : {"x", "x.npz"})
    EXPECT_EQ(to_string(load_tree(s.path(name), Decay{ones({2}), 0.5}).rate.aval()), "f32[]");
  save_tree(s.path("y"), Decay{ones({2}), 0.1});
  EXPECT_EQ(to_string(load_safetensors(s.path("y")).at("rate").aval()), "f64[]");
  EXPECT_EQ(load_safetensors_metadata(s.path("y")).at("weak.rate"), "true");
}

TEST(TreeIo, EveryFlippedBitIsSeen) {
  struct Small {
    Array weight = arange(6.0f).reshape({2, 3});
    Array mask = array({true, false});
    Array weak = 0.5;
    double rate = 0.1;
    std::string name = "a b";
  };
  const Scratch s;
  save_tree(s.path("x.safetensors"), Small{});
  const std::string good = s.read("x.safetensors");
  const int seen =
      damage(good, [](const std::string& path) { (void)load_tree(path, Small{}, kRestored); });
  EXPECT_EQ(seen, static_cast<int>(5 * good.size() + 1));  // cut, four flips, and one byte more
}

TEST(TreeIo, DamageIsNamedWithFileAndArray) {
  const Scratch s;
  save_tree(s.path("x"), std::map<std::string, Array>{{"a", ones({2})}, {"b", zeros({3})}});
  std::string bytes = s.read("x");
  bytes.back() ^= 1;
  const std::string path = s.file("flipped", bytes);
  const std::string expected = path + ": at byte " + std::to_string(bytes.size() - 12) +
                               ": the data of 'b' is damaged: its checksum differs";
  EXPECT_THAT(io_error([&] { (void)load_safetensors(path); }),
              HasSubstr("load_safetensors: " + expected));
  EXPECT_THAT(io_error([&] { (void)load_tree(path, std::map<std::string, Array>{}); }),
              HasSubstr("load_tree: " + expected));
}

TEST(TreeIo, FilesWithoutChecksumsAreRead) {
  const Scratch s;
  save_safetensors(s.path("x"), {{"0", ones({2})}}, {.metadata = {{"static.note", "old"}}});
  EXPECT_TRUE(array_equal(
      load_tree(s.path("x"), std::vector{zeros({2})}, {.static_fields = StaticFields::kKeep})[0],
      ones({2})));
}

TEST(TreeIo, FilesOfOtherProgramsHaveNoStaticFields) {
  const Scratch s;
  const Checkpoint x = trained();
  NamedArrays arrays;
  for (const tree::Entry& e : tree::entries(x)) arrays.insert(e.path, e.value);
  save_safetensors(s.path("x"), arrays, {.metadata = {{"format", "pt"}}});
  save_npz(s.path("x.npz"), arrays);
  for (const char* name : {"x", "x.npz"}) {
    EXPECT_EQ(load_tree(s.path(name), fresh()).epoch, 0);
    EXPECT_EQ(load_tree(s.path(name), fresh(), kRestored).epoch, 0);
  }
}

TEST(TreeIo, StaticFieldsThatOnlyOneSideHasAreNamed) {
  struct Sizes {
    Array w = ones({1});
    std::vector<int> sizes;
  };
  const Scratch s;
  const std::string path = s.path("x");
  save_tree(path, Sizes{.sizes = {64, 32}});
  for (const LoadTreeOptions& options : {LoadTreeOptions{}, kRestored}) {
    EXPECT_THAT(tree_error([&] {
                  (void)load_tree(path, Sizes{.sizes = {64, 32, 16}}, options);
                }),
                HasSubstr("\n  missing: sizes.2\n"));
    EXPECT_THAT(tree_error([&] { (void)load_tree(path, Sizes{.sizes = {64}}, options); }),
                HasSubstr("\n  unexpected: sizes.1, which is 32\n"));
  }
}

TEST(TreeIo, WhatCannotBeRestoredIsAnError) {
  struct Fixed {
    Array w = ones({1});
    const int version = 2;
  };
  struct Old {
    Array w = ones({1});
    int version = 1;
  };
  struct Label {
    Array w = ones({1});
    const char* version = "1.0";
  };
  struct Small {
    Array w = ones({1});
    int8_t version = 0;
  };
  const Scratch s;
  const std::string path = s.path("x");
  save_tree(path, Old{});
  EXPECT_THAT(tree_error([&] { (void)load_tree(path, Fixed{}, kRestored); }),
              HasSubstr("the static field version cannot become 1: it is const"));
  EXPECT_THAT(tree_error([&] { (void)load_tree(path, Label{}, kRestored); }),
              HasSubstr("cannot become 1: it points to its text; use std::string"));
  save_tree(path, Old{.version = 300});
  EXPECT_THAT(tree_error([&] { (void)load_tree(path, Small{}, kRestored); }),
              HasSubstr("cannot become 300: its type does not have that value"));
}

TEST(TreeIo, DamagedStaticFieldsOfNpzAreRefused) {
  const Scratch s;
  const std::string path = s.path("x.npz");
  for (const Array& bytes : {array(std::vector<uint8_t>{'{', '1'}), ones({2}),
                             array(std::vector<uint8_t>{'{', '"', 'a', '"', ':', '1', '}'})}) {
    save_npz(path, {{"value", ones({1})}, {"__static__", bytes}});
    EXPECT_THAT(io_error([&] { (void)load_tree(path, ones({1})); }),
                HasSubstr("'__static__' is no JSON text of static fields"));
  }
}

TEST(TreeIo, TheNameOfTheStaticFieldsIsNoArrayOfNpz) {
  const Scratch s;
  const std::map<std::string, Array> tree{{"__static__", ones({1})}};
  EXPECT_THROW(save_tree(s.path("x.npz"), tree), ValueError);
  save_tree(s.path("x"), tree);
  EXPECT_EQ(load_tree(s.path("x"), tree).at("__static__").item<float>(), 1);
}

TEST(TreeIo, FilesOfTheFirstVersionHaveBracketsInTheirNames) {
  const Scratch s;
  const Checkpoint x = trained();
  save_safetensors(s.path("x"), {{"layers[0].weight", x.layers[0].weight},
                                 {"layers[0].bias", *x.layers[0].bias},
                                 {"layers[1].weight", x.layers[1].weight},
                                 {"layers[1].bias", *x.layers[1].bias}});
  EXPECT_TRUE(array_equal(load_tree(s.path("x"), fresh()).layers[1].weight, x.layers[1].weight));
  using Map = std::map<std::string, Checkpoint>;
  save_safetensors(s.path("y"), {{"a.b.layers[0].weight", x.layers[0].weight},
                                 {"a.b.layers[0].bias", *x.layers[0].bias}});
  Checkpoint one = fresh();
  one.layers.pop_back();
  EXPECT_TRUE(array_equal(load_tree(s.path("y"), Map{{"a.b", one}}).at("a.b").layers[0].weight,
                          x.layers[0].weight));
}

TEST(TreeIo, NamesThatMayMeanTwoThingsAreNotGuessed) {
  const Scratch s;
  save_safetensors(s.path("x"), {{"[0].b", ones({1})}, {"0\\.b", zeros({1})}});
  struct B {
    Array b = ones({1});
  };
  EXPECT_THAT(tree_error([&] { (void)load_tree(s.path("x"), std::vector<B>(1)); }),
              HasSubstr("\n  missing: 0.b\n  unexpected: [0].b"));
}

TEST(TreeIo, ArraysAreFoundUnderOtherNames) {
  struct Net {
    nn::Linear hidden, out;
  };
  const Scratch s;
  const nn::Linear a = nn::Linear::init(Key(0), 2, 3), b = nn::Linear::init(Key(1), 3, 1);
  save_safetensors(
      s.path("torch"),
      {{"0.weight", a.weight}, {"0.bias", *a.bias}, {"2.weight", b.weight}, {"2.bias", *b.bias}});
  const auto torch_name = [](const std::string& path) {
    return (path.starts_with("hidden") ? "0" : "2") + path.substr(path.find('.'));
  };
  const Net like{nn::Linear::init(Key(2), 2, 3), nn::Linear::init(Key(3), 3, 1)};
  const Net net = load_tree(s.path("torch"), like, {.rename = torch_name});
  EXPECT_TRUE(tree::equal(net, Net{a, b}));
  EXPECT_THAT(tree_error([&] {
                (void)load_tree(s.path("torch"), like,
                                {.rename = [](const std::string& path) { return "net." + path; }});
              }),
              HasSubstr("\n  missing: hidden.weight, looked for as 'net.hidden.weight'\n"));
  // Tied arrays: two places of the tree read one of the file.
  save_safetensors(s.path("tied"), {{"w", ones({2})}});
  const auto both = load_tree(s.path("tied"), std::pair{zeros({2}), zeros({2})},
                              {.rename = [](const std::string&) { return "w"; }});
  EXPECT_EQ(both.second.to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(TreeIo, ErrorsNameTheUsersLine) {
  const Scratch s;
  const std::string missing = io_error([&] { (void)load_tree(s.path("no"), ones({1})); });
  EXPECT_THAT(missing, HasSubstr("load_tree: " + s.path("no") + ": cannot be opened"));
  EXPECT_THAT(missing, HasSubstr("tree_io_test.cc:" + std::to_string(__LINE__ - 2)));
  const std::string folder = io_error([&] { save_tree(s.path("no/x"), ones({1})); });
  EXPECT_THAT(folder, HasSubstr("save_tree: " + s.path("no/x")));
  EXPECT_THAT(folder, HasSubstr("tree_io_test.cc:" + std::to_string(__LINE__ - 2)));
  EXPECT_THAT(folder, testing::Not(HasSubstr("tree_io.h")));
}

// It takes 1.5 s of a core; a time that grew with the square of the number was 50 s.
TEST(TreeIo, ManyArraysAreLoadedInATimeInLineWithTheirNumber) {
  std::map<int, Array> many;
  for (int i = 0; i < 40000; ++i) many.emplace(i, ones({1}));
  const Scratch s;
  save_tree(s.path("x"), many);
  const std::clock_t start = std::clock();
  EXPECT_EQ(load_tree(s.path("x"), many).size(), many.size());
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 15);
}

}  // namespace tree_io_test
}  // namespace spruce::io
