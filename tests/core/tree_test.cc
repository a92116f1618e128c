// SPDX-License-Identifier: Apache-2.0
// Trees by reflection: what is a leaf, what is static, paths, and the functions over them.
#include "spruce/core/tree/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spruce/spruce.h>

namespace spruce {
namespace tree_test {

enum class Mode { kA, kB };

struct Leafy {
  Array weight;
  std::optional<Array> bias;
};
template <class T>
struct Pair {
  T left, right;
};
struct Deep {
  std::vector<Leafy> blocks;
  std::map<std::string, Array> heads;
  std::array<Array, 2> two;
  std::tuple<Array, int> mixed;
  std::variant<Leafy, float> either;
  Pair<Array> pair;
  Buffer statistics;
  Key key;
  float rate = 0.5f;
  Mode mode = Mode::kA;
  std::string name = "deep";
  const Array constant = array({1.0f});
};
struct Wide {
  Array f00, f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15;
  Array f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31;
};
struct Same {
  Array weight;
  std::optional<Array> bias;
};

struct Tag {};
template <class T>
struct Named {
  const T& self() const { return static_cast<const T&>(*this); }
};
struct Derived : Tag, Named<Derived> {  // fields of its own, empty bases
  Key key{7};
  Array scale;
};
struct Alias : Leafy {  // the fields of one base
  Array sum() const { return weight + *bias; }
};
struct Renamed : Tag, Alias {};
struct Wider : Tag, Wide {};

class Hidden {
 public:
  explicit Hidden(Array a) : value_(std::move(a)) {}
  const Array& value() const { return value_; }

 private:
  friend struct TreeTraits<tree_test::Hidden>;
  Array value_;
};

Array one(float x) { return array({x}); }

Deep deep() {
  return {.blocks = {{one(1), one(2)}, {one(3), std::nullopt}},
          .heads = {{"cls", one(4)}, {"box", one(5)}},
          .two = {one(6), one(7)},
          .mixed = {one(8), 3},
          .either = Leafy{one(9), std::nullopt},
          .pair = {one(10), one(11)},
          .statistics = {one(12)},
          .key = Key(3)};
}

}  // namespace tree_test

template <>
struct TreeTraits<tree_test::Hidden> {
  static constexpr bool kDefined = true;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("value", self.value_);
  }
};

namespace tree_test {

std::vector<std::string> paths(const auto& x) {
  std::vector<std::string> out;
  for (const tree::Entry& e : tree::entries(x)) out.push_back(e.path);
  return out;
}

TEST(Tree, LeavesHavePathsInTheOrderOfTheFields) {
  const std::vector<std::string> expected = {"blocks.0.weight",
                                             "blocks.0.bias",
                                             "blocks.1.weight",
                                             "heads.box",
                                             "heads.cls",
                                             "two.0",
                                             "two.1",
                                             "mixed.0",
                                             "either.weight",
                                             "pair.left",
                                             "pair.right",
                                             "statistics",
                                             "key",
                                             "constant"};
  EXPECT_EQ(paths(deep()), expected);
}

TEST(Tree, ThirtyTwoFieldsAreVisited) {
  EXPECT_EQ(fields::kCount<Wide>, 32u);
  EXPECT_EQ((fields::name<Wide, 31>()), "f31");
  EXPECT_EQ(tree::leaves(Wide{}).size(), 32u);
}

TEST(Tree, FieldsStandInAStructOrInOneOfItsBases) {
  Derived derived;
  derived.scale = one(2);
  EXPECT_EQ(paths(derived), (std::vector<std::string>{"key", "scale"}));
  EXPECT_EQ(tree::map([](const Array& a) { return a + 1.0f; }, derived).scale.item<float>(), 3.0f);
  const Renamed renamed{{}, {{one(3), one(4)}}};
  EXPECT_EQ(paths(renamed), (std::vector<std::string>{"weight", "bias"}));
  const Renamed twice = tree::map([](const Array& a) { return a * 2.0f; }, renamed);
  EXPECT_EQ(twice.sum().item<float>(), 14.0f);
  const auto loss = [](const Renamed& x) { return sum(x.sum() * x.weight); };
  EXPECT_EQ(grad(loss)(renamed).weight.item<float>(), 10.0f);  // 2 weight + bias
  EXPECT_EQ(fields::kCount<Wider>, 32u);
  EXPECT_EQ((fields::name<Wider, 31>()), "f31");
}

TEST(Tree, MapChangesArraysAndKeepsStaticFieldsAndKeys) {
  const Deep x = deep();
  const Leafy y = tree::map([](const Array& a) { return a + 1.0f; }, x.blocks[0]);
  EXPECT_EQ(y.weight.item<float>(), 2.0f);
  EXPECT_EQ(y.bias->item<float>(), 3.0f);
  const Pair<Key> keys{Key(1), Key(2)};
  const Pair<Key> same = tree::map([](const Array& a) { return a + 1; }, keys);
  EXPECT_TRUE(tree::equal(keys, same));
}

TEST(Tree, MapOverSeveralTreesTakesOtherTypesOfOneForm) {
  const Leafy a{one(1), one(2)};
  const Same b{one(10), one(20)};
  const Leafy c = tree::map([](const Array& x, const Array& y) { return x + y; }, a, b);
  EXPECT_EQ(c.bias->item<float>(), 22.0f);
}

TEST(Tree, MapNamesTheFirstDifference) {
  const Leafy a{one(1), one(2)}, b{one(1), std::nullopt};
  try {
    tree::map([](const Array& x, const Array&) { return x; }, a, b);
    FAIL() << "no error";
  } catch (const TreeError& e) {
    EXPECT_THAT(e.what(), testing::StartsWith(
                              "tree::map: the trees have different forms: at bias: 1 entries in "
                              "the first, 0 entries in the second\n  at "));
  }
}

TEST(Tree, MapDoesNotPairEntriesOfOtherNames) {
  const std::map<std::string, Array> x{{"x", one(1)}}, y{{"y", one(1)}};
  EXPECT_THROW(tree::map([](const Array& a, const Array&) { return a; }, x, y), TreeError);
}

TEST(Tree, UnflattenPutsLeavesBackAndChecksTheirNumber) {
  const Leafy a{one(1), one(2)};
  const std::vector<Array> leaves = {one(5), one(6)};
  EXPECT_EQ(tree::unflatten(a, leaves).bias->item<float>(), 6.0f);
  EXPECT_THROW(tree::unflatten(a, std::vector<Array>{one(1)}), TreeError);
}

TEST(Tree, StructureKnowsStaticFieldsAndForms) {
  struct Static {
    Array a;
    float rate;
    Mode mode;
  };
  const Static x{one(1), 0.5f, Mode::kA}, same{one(2), 0.5f, Mode::kA},
      rate{one(1), 0.25f, Mode::kA}, mode{one(1), 0.5f, Mode::kB};
  EXPECT_EQ(tree::structure(x), tree::structure(same));
  EXPECT_FALSE(tree::structure(x) == tree::structure(rate));
  EXPECT_FALSE(tree::structure(x) == tree::structure(mode));
  EXPECT_EQ(tree::structure(x).difference(tree::structure(rate)),
            "at rate: 0.5 in the first, 0.25 in the second");
  EXPECT_EQ(tree::structure(x).leaf_count(), 1u);
}

TEST(Tree, PartitionAndCombineAreInverse) {
  const Leafy a{one(1), one(2)};
  const auto [weights, rest] =
      tree::partition([](const std::string& path, const Array&) { return path == "weight"; }, a);
  EXPECT_TRUE(weights.weight.defined());
  EXPECT_FALSE(weights.bias->defined());
  EXPECT_TRUE(tree::equal(tree::combine(weights, rest), a));
}

TEST(Tree, AtReplacesOnePartInACopy) {
  const Deep x = deep();
  const Leafy a{one(1), one(2)};
  EXPECT_EQ(tree::at(
                a, [](auto& m) -> auto& { return m.weight; })
                .set(one(7))
                .weight.item<float>(),
            7.0f);
  EXPECT_EQ(tree::at(a, "bias").apply([](const Array& b) { return 2.0f * b; }).bias->item<float>(),
            4.0f);
  EXPECT_EQ(a.weight.item<float>(), 1.0f);
  try {
    tree::at(a, "wait").set(one(1));
    FAIL() << "no error";
  } catch (const TreeError& e) {
    EXPECT_THAT(e.what(), testing::StartsWith("tree::at: no leaf has the path 'wait'; there are "
                                              "weight, bias\n  at "));
  }
}

TEST(Tree, ReduceZipAndPathsSeeEveryLeaf) {
  const Leafy a{one(1), one(2)};
  EXPECT_EQ(
      tree::reduce([](const Array& s, const Array& x) { return s + x; }, one(0), a).item<float>(),
      3.0f);
  const auto both = tree::zip(a, a);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1][0].item<float>(), 2.0f);
  std::vector<std::string> seen;
  tree::map_with_path(
      [&](const std::string& path, const Array& x) { return seen.push_back(path), x; }, a);
  EXPECT_EQ(seen, (std::vector<std::string>{"weight", "bias"}));
}

TEST(Tree, TypesWithTraitsAreTrees) {
  const Hidden h(one(2));
  EXPECT_EQ(tree::map([](const Array& a) { return a * 3.0f; }, h).value().item<float>(), 6.0f);
  EXPECT_EQ(paths(h), std::vector<std::string>{"value"});
}

TEST(Tree, PrintsPathsTypesAndTotals) {
  EXPECT_EQ(tree::to_string(Leafy{zeros({2, 3}), zeros({2})}),
            "weight  f32[2,3]\nbias    f32[2]\n2 leaves, 8 elements, 32 bytes\n");
}

TEST(Tree, SavesAndLoadsByPath) {
  const std::string file = ::testing::TempDir() + "/tree.safetensors";
  const Leafy a{one(1), one(2)};
  io::save_tree(file, a);
  EXPECT_TRUE(tree::equal(io::load_tree(file, Leafy{one(0), one(0)}), a));
  EXPECT_EQ(io::load_safetensors(file).name(0), "weight");
  EXPECT_THROW(io::load_tree(file, Leafy{one(0), std::nullopt}), TreeError);
  EXPECT_THROW(io::load_tree(file, Leafy{zeros({2}), one(0)}), ShapeError);
}

TEST(Tree, SavesNumbersInTheirOwnDtypes) {
  const std::string path = testing::TempDir() + "numbers.safetensors";
  io::save_tree(path, Pair<Array>{0.5, 3});
  const auto arrays = io::load_safetensors(path);
  EXPECT_EQ(arrays.at("left").dtype(), float64);
  EXPECT_EQ(arrays.at("right").dtype(), int32);
  EXPECT_EQ(io::load_tree(path, Pair<Array>{0.25, 1}).left.item<double>(), 0.5);
  EXPECT_TRUE(io::load_tree(path, Pair<Array>{zeros({}), zeros({}, int32)}).left.weak());
}

TEST(Tree, RavelAndUnravelAreInverse) {
  const Leafy a{array({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}), one(5)};
  const auto r = tree::ravel(a);
  EXPECT_EQ(r.flat.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(tree::equal(r.unravel(r.flat), a));
  EXPECT_THROW(r.unravel(zeros({4})), ShapeError);
}

TEST(TreeAt, KeepsATemporaryTree) {
  struct Net {
    Array w;
  };
  const auto place = tree::at(
      Net{ones({2})}, [](auto& m) -> auto& { return m.w; });
  EXPECT_TRUE(array_equal(place.set(zeros({2})).w, zeros({2})));
  const auto by_path = tree::at(Net{ones({2})}, "w");
  EXPECT_TRUE(array_equal(by_path.apply([](const Array& a) { return a + a; }).w, full({2}, 2.0f)));
}

}  // namespace tree_test
}  // namespace spruce
