// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce {
namespace promotion_test {

using Row = std::vector<std::string>;

Row cells(const std::string& line) {
  Row row;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');) {
    std::erase_if(cell, [](char c) { return c == ' ' || c == '*'; });
    row.push_back(cell);
  }
  if (!row.empty()) row.erase(row.begin());  // what stands before the first bar
  return row;
}

// The tables of docs/promotion.md below a heading: the head first.
std::vector<Row> table(const std::string& heading) {
  std::ifstream in(SPRUCE_SOURCE_DIR "/docs/promotion.md");
  std::vector<Row> rows;
  bool here = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) here = line == "## " + heading;
    if (here && line.starts_with("|") && line.find("----") == std::string::npos)
      rows.push_back(cells(line));
  }
  return rows;
}

std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> all;
  for (int i = 0; i < kDtypeCount; ++i) all.push_back(static_cast<Dtype>(i));
  return all;
}

TEST(Promotion, TwoArraysAsInTheDocs) {
  const std::vector<Row> rows = table("Two arrays");
  ASSERT_EQ(rows.size(), 1u + kDtypeCount);
  for (const Dtype a : all_dtypes()) {
    const Row& row = rows[1 + static_cast<size_t>(a)];
    ASSERT_EQ(row.size(), 1u + kDtypeCount);
    EXPECT_EQ(row[0], short_name(a));
    for (const Dtype b : all_dtypes()) {
      const size_t column = 1 + static_cast<size_t>(b);
      EXPECT_EQ(rows[0][column], short_name(b));
      SCOPED_TRACE(row[0] + " and " + rows[0][column]);
      EXPECT_EQ(row[column], short_name(promote(a, b)));
      const Array x = ones({2}, a), y = ones({3, 1}, b);
      const Array z = x * y;
      EXPECT_EQ(short_name(z.dtype()), row[column]);
      EXPECT_FALSE(z.weak());
      EXPECT_EQ(where(array({true, false}), x, y).dtype(), z.dtype());
      EXPECT_EQ((x == y).dtype(), bool_);
    }
  }
}

TEST(Promotion, NumbersAsInTheDocs) {
  const std::vector<Row> rows = table("An array and a C++ number");
  ASSERT_EQ(rows.size(), 4u);
  for (const Dtype d : all_dtypes()) {
    SCOPED_TRACE(name(d));
    const Array x = ones({2}, d);
    const size_t column = 1 + static_cast<size_t>(d);
    EXPECT_EQ(short_name((x * true).dtype()), rows[1][column]);
    EXPECT_EQ(short_name((x * 1).dtype()), rows[2][column]);
    EXPECT_EQ(short_name((x * int64_t{1}).dtype()), rows[2][column]);
    EXPECT_EQ(short_name((uint8_t{1} * x).dtype()), rows[2][column]);
    EXPECT_EQ(short_name((x * 1.0f).dtype()), rows[3][column]);
    EXPECT_EQ(short_name((1.0 * x).dtype()), rows[3][column]);
  }
}

TEST(Promotion, NumbersStayWeakAmongThemselves) {
  const Array x = Array(1) + Array(2.5);
  EXPECT_EQ(x.dtype(), float64);
  EXPECT_TRUE(x.weak());
  EXPECT_EQ(x.item<double>(), 3.5);
  EXPECT_EQ((x * ones({2}, float16)).dtype(), float16);
  EXPECT_EQ((array(2.5, float64) * ones({2}, float16)).dtype(), float64) << "array() is strong";
  EXPECT_EQ(exp(Array(1)).dtype(), float32);
  EXPECT_TRUE(exp(Array(1)).weak());
}

TEST(Promotion, NumbersThatDoNotFit) {
  const Array x = array({uint8_t{1}});
  EXPECT_EQ((x + 255).to_vector<uint8_t>(), std::vector<uint8_t>{0});
  EXPECT_THROW((void)(x + 256), ValueError);
  EXPECT_THROW((void)(x * -1), ValueError);
  EXPECT_THROW((void)where(array({true}), x, -1), ValueError);
  EXPECT_THROW((void)(array({int32_t{1}}) < int64_t{1} << 40), ValueError);
  try {
    (void)add(x, 300);
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("add: the number 300 does not fit in uint8"));
    EXPECT_THAT(e.what(), testing::HasSubstr("promotion_test.cc:"));
  }
  EXPECT_EQ((ones({1}, float16) * 1e6).to_vector<Float16>()[0].bits, 0x7c00);
}

TEST(Promotion, FunctionsOfFloatingValues) {
  for (const Dtype d : all_dtypes()) {
    SCOPED_TRACE(name(d));
    const Array x = ones({2}, d);
    const Dtype expected = is_floating(d) ? d : float32;
    EXPECT_EQ(exp(x).dtype(), expected);
    EXPECT_EQ(reciprocal(x).dtype(), expected);
    EXPECT_EQ(divide(x, x).dtype(), expected);
    EXPECT_EQ((x / x).dtype(), expected);
    EXPECT_EQ(atan2(x, x).dtype(), expected);
    EXPECT_EQ(floor(x).dtype(), d);
    EXPECT_EQ(abs(x).dtype(), d);
    EXPECT_EQ(isnan(x).dtype(), bool_);
    if (is_bool(d)) continue;
    EXPECT_EQ(power(x, 3).dtype(), d);
    EXPECT_EQ(power(x, 3.0).dtype(), expected);
    EXPECT_EQ((x % x).dtype(), d);
    EXPECT_EQ(floor_divide(x, x).dtype(), d);
    EXPECT_EQ(square(x).dtype(), d);
  }
}

}  // namespace promotion_test
}  // namespace spruce
