// SPDX-License-Identifier: Apache-2.0
// Built where Eigen is found (tests/CMakeLists.txt).
#include "spruce/core/eigen.h"

#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/core/message.h"

namespace spruce {
namespace eigen_test {

TEST(Eigen, AnArrayIsAMatrixWithoutACopy) {
  Array x = array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, float64);
  const auto m = eigen::matrix<double>(x);
  EXPECT_EQ(m.data(), x.data<double>().data());
  EXPECT_EQ(m(1, 0), 4.0);
  x = std::move(x).at(1, 0).set(0.0);
  EXPECT_EQ(m(1, 0), 4.0) << "the map keeps what it shows";
  EXPECT_EQ(eigen::array(m * m.transpose()).to_vector<double>(),
            (std::vector<double>{14, 32, 32, 77}));
}

TEST(Eigen, AMapOfATemporaryKeepsItsMemory) {
  const auto v = eigen::vector<float>(ones({5}) * 3.0f);
  EXPECT_EQ(v.sum(), 15.0f);
}

TEST(Eigen, MatricesInEitherOrderBecomeArrays) {
  Eigen::Matrix3f columns;
  columns << 1, 2, 3, 4, 5, 6, 7, 8, 9;
  const Array x = eigen::array(columns);
  EXPECT_EQ(to_string(x.aval()), "f32[3,3]");
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(eigen::array(columns.col(1)).to_vector<float>(), (std::vector<float>{2, 5, 8}));
  EXPECT_EQ(eigen::array(Eigen::RowVector2d(1, 2)).shape(), (Shape{2}));
}

TEST(Eigen, AnArrayOverAMatrixSharesIt) {
  auto m = std::make_shared<const eigen::Matrix<float>>(eigen::Matrix<float>::Constant(2, 3, 4.0f));
  const std::weak_ptr<const eigen::Matrix<float>> alive = m;
  Array x = eigen::array_view(std::move(m));
  EXPECT_EQ(to_string(x.aval()), "f32[2,3]");
  EXPECT_EQ(x.data<float>().data(), alive.lock()->data());
  EXPECT_EQ(sum(x).item<float>(), 24.0f);
  x = Array();
  EXPECT_TRUE(alive.expired());
}

TEST(Eigen, OtherRanksAreNamed) {
  EXPECT_EQ(message([] { return eigen::matrix<float>(ones({3})); }),
            "eigen::matrix: f32[3] has 1 axes; a matrix has two");
  EXPECT_EQ(message([] {
              return eigen::vector<float>(ones({3, 1}));
            }),
            "eigen::vector: f32[3,1] has 2 axes; a vector has one");
  EXPECT_THROW(eigen::matrix<double>(ones({2, 2})), DtypeError);
}

}  // namespace eigen_test
}  // namespace spruce
