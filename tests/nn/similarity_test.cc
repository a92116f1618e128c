// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/similarity.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace similarity_test {

TEST(Similarity, AsPyTorch) {
  check("normalize", 13, [](const Inputs& in, const Options& o) {
    return nn::normalize(in[0],
                         {.p = o.number("p"), .dim = o.integer("dim"), .eps = o.number("eps")});
  });
  check("cosine_similarity", 3, [](const Inputs& in, const Options& o) {
    return nn::cosine_similarity(in[0], in[1], {.dim = o.integer("dim")});
  });
  check("pairwise_distance", 8, [](const Inputs& in, const Options& o) {
    return nn::pairwise_distance(
        in[0], in[1], {.p = o.number("p"), .eps = o.number("eps"), .keepdim = o.flag("keep")});
  });
  check("pdist", 4,
        [](const Inputs& in, const Options& o) { return nn::pdist(in[0], {.p = o.number("p")}); });
}

TEST(Similarity, OfZeroVectorsIsFinite) {
  const Array zero = sp::zeros({2, 3}), x = sp::ones({2, 3});
  EXPECT_EQ(nn::normalize(zero).to_vector<float>(), std::vector<float>(6, 0.0f));
  EXPECT_EQ(nn::cosine_similarity(zero, x).to_vector<float>(), std::vector<float>(2, 0.0f));
  const Array g =
      sp::grad([&](const Array& z) { return sp::sum(nn::normalize(z, {.eps = 0.5})); })(zero);
  EXPECT_EQ(g.to_vector<float>(), std::vector<float>(6, 2.0f));
}

TEST(Similarity, LayersAndBadInput) {
  const Array x = torch_cases::wave({2, 3}, 0.7), y = torch_cases::wave({2, 3}, 0.4);
  EXPECT_TRUE(
      sp::array_equal(nn::CosineSimilarity{0}(x, y), nn::cosine_similarity(x, y, {.dim = 0})));
  EXPECT_TRUE(sp::array_equal(nn::PairwiseDistance{1, 0.5, true}(x, y),
                              nn::pairwise_distance(x, y, {.p = 1, .eps = 0.5, .keepdim = true})));
  EXPECT_THROW(nn::normalize(sp::ones({3})), sp::ShapeError);
  EXPECT_THROW(nn::normalize(sp::array({{1, 2}})), sp::DtypeError);
  EXPECT_THROW(nn::normalize(x, {.eps = -1}), sp::ValueError);
  EXPECT_THROW(nn::cosine_similarity(x, sp::ones({2, 4})), sp::ShapeError);
  EXPECT_THROW(nn::pairwise_distance(x, sp::ones({2, 4})), sp::ShapeError);
  EXPECT_THROW(nn::pdist(sp::ones({3})), sp::ShapeError);
}

}  // namespace similarity_test
}  // namespace functional_cases
