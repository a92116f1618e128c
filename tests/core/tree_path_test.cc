// SPDX-License-Identifier: Apache-2.0
// How paths are written, and that no two leaves have one path.
#include <gmock/gmock.h>
#include <spruce/spruce.h>

#include "spruce/core/tree/path.h"

namespace spruce {
namespace tree_path_test {

using testing::ElementsAre;

struct Layer {
  Array weight;
};

std::vector<std::string> paths(const auto& x) {
  std::vector<std::string> out;
  for (const tree::Entry& e : tree::entries(x)) out.push_back(e.path);
  return out;
}

const Array kOne = ones({1});

TEST(TreePath, PlacesAreWrittenAsInPyTorch) {
  const std::vector<std::vector<Layer>> layers{{{kOne}}, {{kOne}, {kOne}}};
  EXPECT_THAT(paths(layers), ElementsAre("0.0.weight", "1.0.weight", "1.1.weight"));
  EXPECT_THAT(paths(std::tuple{kOne, Layer{kOne}}), ElementsAre("0", "1.weight"));
  EXPECT_THAT(paths(kOne), ElementsAre(""));
}

TEST(TreePath, DotsInTheKeysOfMapsAreMarkedWhereMoreFollows) {
  using Inner = std::map<std::string, Array>;
  const std::map<std::string, Inner> maps{{"a", {{"b.c", kOne}}}, {"a.b", {{"c", kOne}}}};
  EXPECT_THAT(paths(maps), ElementsAre("a.b.c", "a\\.b.c"));
  const std::map<std::string, Layer> backslash{{"a\\", {kOne}}, {"a\\.", {kOne}}};
  EXPECT_THAT(paths(backslash), ElementsAre("a\\\\.weight", "a\\\\\\..weight"));
  const Inner plain{{"layers.0.weight", kOne}};
  EXPECT_THAT(paths(plain), ElementsAre("layers.0.weight"));
  EXPECT_THAT(paths(std::map<std::string, std::optional<Array>>{{"a.b", kOne}}),
              ElementsAre("a.b"));
  EXPECT_THAT(paths(NamedArrays{{"out.weight", kOne}}), ElementsAre("out.weight"));
}

TEST(TreePath, EntriesOfMapsAreNamedByAllOfTheirKey) {
  enum class Part { kFirst, kSecond };
  const std::map<double, Array> numbers{{1e-9, 1.0f}, {2e-9, 2.0f}};
  EXPECT_EQ(tree::entries(numbers)[0].path, "1e-09");
  EXPECT_EQ(tree::entries(numbers)[1].path, "2e-09");
  EXPECT_FALSE(tree::structure(std::map<double, Array>{{1e-9, 1.0f}}) ==
               tree::structure(std::map<double, Array>{{2e-9, 1.0f}}));
  EXPECT_EQ(tree::entries(std::map<Part, Array>{{Part::kSecond, 1.0f}})[0].path, "1");
  EXPECT_EQ(tree::entries(std::map<std::string_view, Array>{{"head", 1.0f}})[0].path, "head");
}

TEST(TreePath, EmptyKeysHaveTheirPlace) {
  const std::map<std::string, Layer> maps{{"", {kOne}}, {"weight", {kOne}}};
  EXPECT_THAT(paths(maps), ElementsAre(".weight", "weight.weight"));
}

TEST(TreePath, ComponentsAreCutOff) {
  std::vector<std::string> parts;
  for (std::string_view path = R"(a\.b.c\\..d)"; !path.empty();)
    parts.emplace_back(tree::internal::take_component(path));
  EXPECT_THAT(parts, ElementsAre(R"(a\.b)", R"(c\\)", "", "d"));
  std::string_view torn = R"(a\)";
  EXPECT_EQ(tree::internal::take_component(torn), R"(a\)");
  EXPECT_EQ(tree::internal::take_component(torn), "");
}

TEST(TreePath, OtherWaysOfWritingAPathAreRead) {
  using tree::internal::loose_path;
  EXPECT_EQ(loose_path("[0].layers[12].weight"), "0.layers.12.weight");
  EXPECT_EQ(loose_path("carry[1][0]"), "carry.1.0");
  EXPECT_EQ(loose_path("a\\.b.c\\\\"), "a.b.c\\");
  EXPECT_EQ(loose_path("a[b].c[].d[1"), "a[b].c[].d[1");
  const std::vector<Layer> layers{{kOne}, {kOne}};
  const auto next = tree::at(layers, "[1].weight").set(zeros({1}));
  EXPECT_EQ(next[1].weight.item<float>(), 0.0f);
  EXPECT_EQ(next[0].weight.item<float>(), 1.0f);
}

}  // namespace tree_path_test
}  // namespace spruce
