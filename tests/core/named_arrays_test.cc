// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/named_arrays.h"

#include <gmock/gmock.h>

namespace spruce {
namespace named_arrays_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const NamedArrays& arrays) {
  std::vector<std::string> out;
  for (const auto& [name, array] : arrays) out.push_back(name);
  return out;
}

std::string error_of(const NamedArrays& arrays, const std::string& name) {
  try {
    (void)arrays.at(name);
  } catch (const TreeError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(NamedArrays, KeepsTheOrderOfInsertion) {
  NamedArrays a{{"weight", array(1)}, {"bias", array(2)}};
  a.insert("alpha", array(3));
  a["zeta"] = array(4);
  a["bias"] = array(5);
  EXPECT_THAT(names(a), ElementsAre("weight", "bias", "alpha", "zeta"));
  EXPECT_EQ(a.size(), 4u);
  EXPECT_EQ(a.at("bias").item<int>(), 5);
  EXPECT_EQ(a.value(2).item<int>(), 3);
  EXPECT_EQ(a.name(3), "zeta");
  EXPECT_TRUE(a.contains("alpha"));
  EXPECT_FALSE(a.contains("alph"));
  EXPECT_EQ(a.find("nothing"), nullptr);
  EXPECT_FALSE(a["new"].defined());
  EXPECT_THROW(a.insert("bias", array(1)), ValueError);
  EXPECT_THROW((NamedArrays{{"a", array(1)}, {"a", array(2)}}), ValueError);
}

TEST(NamedArrays, Erases) {
  NamedArrays a;
  for (int i = 0; i < 20; ++i) a.insert("n" + std::to_string(i * 7 % 20), array(i * 7 % 20));
  EXPECT_TRUE(a.erase("n14"));
  EXPECT_FALSE(a.erase("n14"));
  EXPECT_TRUE(a.erase("n0"));
  EXPECT_EQ(a.size(), 18u);
  for (int i = 1; i < 20; ++i) {
    const Array* found = a.find("n" + std::to_string(i));
    EXPECT_EQ(found == nullptr ? -1 : found->item<int>(), i == 14 ? -1 : i);
  }
  EXPECT_EQ(a.name(0), "n7");
}

TEST(NamedArrays, FindsEachOfManyNamesInEveryCopy) {
  NamedArrays a;
  for (int i = 0; i < 3000; ++i) {
    a.insert("n" + std::to_string(i), array(i));
    const NamedArrays copy = a;
    ASSERT_EQ(copy.at("n" + std::to_string(i / 2)).item<int>(), i / 2);
    ASSERT_EQ(copy.find("n" + std::to_string(i + 1)), nullptr);
  }
  for (int i = 2999; i > 4; --i) {
    ASSERT_TRUE(a.erase("n" + std::to_string(i)));
    ASSERT_EQ(a.find("n" + std::to_string(i)), nullptr);
    ASSERT_EQ(a.at("n" + std::to_string(i / 2)).item<int>(), i / 2);
  }
  a.insert("n5", array(50));
  EXPECT_EQ(a.at("n5").item<int>(), 50);
  EXPECT_EQ(a.size(), 6u);
}

TEST(NamedArrays, ComparesNames) {
  const NamedArrays a{{"x", array(1)}, {"y", array(2)}}, b{{"x", array(3)}, {"y", array(4)}},
      c{{"y", array(1)}, {"x", array(2)}};
  EXPECT_TRUE(a.same_names(b));
  EXPECT_FALSE(a.same_names(c));
  EXPECT_FALSE(a.same_names(NamedArrays{{"x", array(1)}}));
}

TEST(NamedArrays, AMissingNameIsAnErrorWithThoseCloseToIt) {
  const NamedArrays a{
      {"conv1.weight", array(1)}, {"conv1.bias", array(2)}, {"norm.weight", array(3)}};
  EXPECT_THAT(error_of(a, "conv1.wieght"),
              HasSubstr("no array is named 'conv1.wieght'; close to it are 'conv1.weight'"));
  EXPECT_THAT(error_of(a, "bias"), HasSubstr("close to it are 'conv1.bias'"));
  EXPECT_THAT(error_of(a, "q"),
              HasSubstr("the names are 'conv1.weight', 'conv1.bias', 'norm.weight'"));
  EXPECT_THAT(error_of(NamedArrays(), "q"), HasSubstr("there are no arrays at all"));
}

}  // namespace named_arrays_test
}  // namespace spruce
