// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/metrics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/nn/loss.h"
#include "spruce/transforms/transforms.h"

namespace spruce::nn {
namespace metrics_test {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

const Array& logits() {
  static const Array x = array({{0.1f, 0.9f, 0.5f},     // 1, then 2
                                {2.0f, 1.0f, 0.0f},     // 0, then 1
                                {0.0f, 0.0f, 0.0f},     // equal ones: 0, 1, 2
                                {-1.0f, 3.0f, 4.0f}});  // 2, then 1
  return x;
}

TEST(Metrics, Accuracy) {
  EXPECT_EQ(accuracy(logits(), array({1, 0, 0, 2})).item<float>(), 1);
  EXPECT_EQ(accuracy(logits(), array({1, 1, 1, 1})).item<float>(), 0.25f);
  EXPECT_EQ(accuracy(logits(), array({1, 1, 1, 1}), {.mask = array({true, true, false, false})})
                .item<float>(),
            0.5f);
  EXPECT_EQ(accuracy(logits(), array({-1, 3, 7, -5})).item<float>(), 0);
  EXPECT_EQ(accuracy(logits()[0], array(1)).item<float>(), 1);
  EXPECT_TRUE(std::isnan(accuracy(zeros({0, 3}), zeros({0}, int32)).item<float>()));
}

TEST(Metrics, TopK) {
  const Array labels = array({2, 2, 1, 1});
  EXPECT_EQ(top_k_accuracy(logits(), labels, 1).item<float>(), 0);
  EXPECT_EQ(top_k_accuracy(logits(), labels, 2).item<float>(), 0.75f);
  EXPECT_EQ(top_k_accuracy(logits(), labels, 3).item<float>(), 1);
  EXPECT_EQ(top_k_accuracy(logits(), array({9, -1, 3, 3}), 3).item<float>(), 0);
  EXPECT_THROW(top_k_accuracy(logits(), labels, 0), ValueError);
  EXPECT_THROW(top_k_accuracy(logits(), labels, 4), ValueError);
}

// Labels and predictions of three classes, counted by hand:
//   label 0: 2 taken for 0, 1 for 1;  label 1: 3 for 1;  label 2: 1 for 0, 1 for 1, none for 2.
const Array& matrix() {
  static const Array m =
      confusion_matrix(array({0, 1, 0, 1, 1, 1, 0, 1}), array({0, 0, 0, 1, 1, 1, 2, 2}), 3);
  return m;
}

TEST(Metrics, ConfusionMatrix) {
  EXPECT_THAT(matrix().to_vector<int32_t>(), ElementsAre(2, 1, 0, 0, 3, 0, 1, 1, 0));
  const Array mask = array({true, true, true, false, false, false, true, true});
  EXPECT_THAT(confusion_matrix(array({0, 1, 0, 1, 1, 1, 0, 1}), array({0, 0, 0, 1, 1, 1, 2, 2}), 3,
                               {.mask = mask})
                  .to_vector<int32_t>(),
              ElementsAre(2, 1, 0, 0, 0, 0, 1, 1, 0));
  // What is no class counts nowhere.
  EXPECT_EQ(sum(confusion_matrix(array({3, 0, -1, 1}), array({0, 5, 1, 1}), 3)).item<int32_t>(), 1);
}

TEST(Metrics, PrecisionRecallF1) {
  EXPECT_THAT(precision_score(matrix(), Average::kNone).to_vector<float>(),
              ElementsAre(FloatEq(2 / 3.0f), FloatEq(3 / 5.0f), 0));
  EXPECT_THAT(recall_score(matrix(), Average::kNone).to_vector<float>(),
              ElementsAre(FloatEq(2 / 3.0f), 1, 0));
  EXPECT_THAT(f1_score(matrix(), Average::kNone).to_vector<float>(),
              ElementsAre(FloatEq(2 / 3.0f), FloatEq(0.75f), 0));
  EXPECT_FLOAT_EQ(precision_score(matrix()).item<float>(), (2 / 3.0f + 0.6f) / 3);
  EXPECT_FLOAT_EQ(recall_score(matrix(), Average::kMicro).item<float>(), 5 / 8.0f);
  EXPECT_FLOAT_EQ(precision_score(matrix(), Average::kMicro).item<float>(), 5 / 8.0f);
  EXPECT_FLOAT_EQ(f1_score(matrix(), Average::kMicro).item<float>(), 5 / 8.0f);
  EXPECT_FLOAT_EQ(recall_score(matrix(), Average::kWeighted).item<float>(), 5 / 8.0f);
  EXPECT_FLOAT_EQ(f1_score(matrix(), Average::kWeighted).item<float>(),
                  (3 * 2 / 3.0f + 3 * 0.75f) / 8);
  EXPECT_EQ(f1_score(zeros({2, 2}, int32)).item<float>(), 0);
}

// The share of pairs in which the positive example is ahead.
double pairs_ahead(const std::vector<float>& scores, const std::vector<int32_t>& labels) {
  double ahead = 0, all = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] == 0 || labels[j] != 0) continue;
      ++all;
      ahead += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
    }
  }
  return ahead / all;
}

TEST(Metrics, RocAucIsTheShareOfPairs) {
  std::mt19937 draw(1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<float> scores;
    std::vector<int32_t> labels;
    for (int i = 0; i < 40; ++i) {
      scores.push_back(static_cast<float>(draw() % 8) / 8);  // with ties
      labels.push_back(draw() % 3 == 0);
    }
    const double expected = pairs_ahead(scores, labels);
    EXPECT_FLOAT_EQ(roc_auc(array(scores), array(labels)).item<float>(),
                    static_cast<float>(expected));
    // In two batches, in ranges that keep the scores apart.
    const Array s = array(scores), l = array(labels);
    RocCounts counts = RocCounts::zero(8);
    counts = counts.add(s[slice(0, 13)], l[slice(0, 13)]);
    counts = counts.add(s[slice(13, 40)], l[slice(13, 40)]);
    EXPECT_NEAR(counts.value().item<double>(), expected, 1e-12);
  }
  EXPECT_EQ(roc_auc(array({0.1f, 0.9f}), array({false, true})).item<float>(), 1);
  EXPECT_TRUE(std::isnan(roc_auc(array({0.1f, 0.9f}), array({1, 1})).item<float>()));
  for (const Array& labels : {array({0, 1, -1}), array({0, 1, 2})})
    EXPECT_TRUE(std::isnan(roc_auc(array({0.1f, 0.9f, 0.5f}), labels).item<float>()));
  const Array unknown = array({0.1f, std::nanf(""), 0.5f}), labels = array({0, 1, 1});
  EXPECT_TRUE(std::isnan(roc_auc(unknown, labels).item<float>()));
  EXPECT_TRUE(std::isnan(RocCounts::zero(4).add(unknown, labels).value().item<double>()));
}

TEST(Metrics, Perplexity) {
  EXPECT_FLOAT_EQ(perplexity(zeros({5, 7}), zeros({5}, int32)).item<float>(), 7);
  const Array labels = array({1, 0, 0, 2});
  EXPECT_FLOAT_EQ(perplexity(logits(), labels).item<float>(),
                  exp(cross_entropy(logits(), labels)).item<float>());
  // What is masked need not be a class.
  EXPECT_FLOAT_EQ(
      perplexity(logits(), array({1, -100, 0, 9}), {.mask = array({true, false, true, false})})
          .item<float>(),
      perplexity(take(logits(), array({0, 2}), 0), array({1, 0})).item<float>());
  const auto of = [&](const Array& x) { return perplexity(x, labels); };
  const auto by_hand = [&](const Array& x) { return exp(cross_entropy(x, labels)); };
  EXPECT_TRUE(allclose(grad(of)(logits()), grad(by_hand)(logits())));
}

TEST(Metrics, RunningMeans) {
  Mean m = Mean::zero();
  EXPECT_TRUE(std::isnan(m.value().item<double>()));
  m = m.add(array({1.0f, 2.0f, 6.0f})).add(array(7));
  EXPECT_EQ(m.value().item<double>(), 4);
  m = m.add(array({NAN, 9.0f}), {.mask = array({false, true})});
  EXPECT_EQ(m.value().item<double>(), 5);
  EXPECT_EQ(m.merge(m).count.item<double>(), 10);
  // Millions of small numbers are not lost.
  Mean many{array(1e8), array(1.0)};
  many = many.add(full({1000}, 1e-3f));
  EXPECT_NEAR(many.total.item<double>() - static_cast<double>(1e8f), 1, 1e-6);
}

TEST(Metrics, UnderTransforms) {
  const Array many = random::normal(Key(0), {3, 8, 5}),
              labels = random::randint(Key(1), {3, 8}, 0, 5);
  const auto all = [](const Array& x, const Array& y) {
    const Array taken = astype(argmax(x, -1), int32);
    const Array m = confusion_matrix(taken, y, 5);
    return std::tuple{accuracy(x, y),
                      top_k_accuracy(x, y, 2),
                      f1_score(m),
                      perplexity(x, y),
                      roc_auc(x[{ellipsis, 0}], equal(y, 0)),
                      Mean::zero().add(x).value()};
  };
  const auto mapped = jit(vmap(all))(many, labels);
  for (int i = 0; i < 3; ++i) {
    const auto each = tree::leaves(all(many[i], labels[i]));
    const auto got = tree::leaves(mapped);
    for (size_t k = 0; k < each.size(); ++k)
      EXPECT_TRUE(allclose(got[k][i], each[k], {.rtol = 1e-5})) << i << " " << k;
  }
}

TEST(Metrics, WhatDoesNotFitIsNamed) {
  const Array x = zeros({4, 3});
  EXPECT_THAT(message<ShapeError>([&] { accuracy(x, zeros({5}, int32)); }),
              HasSubstr("accuracy: the logits are f32[4,3] and the labels i32[5]"));
  EXPECT_THROW(accuracy(x, zeros({4})), DtypeError);
  EXPECT_THROW(accuracy(zeros({4, 3}, int32), zeros({4}, int32)), DtypeError);
  EXPECT_THROW(accuracy(zeros({4, 0}), zeros({4}, int32)), ShapeError);
  EXPECT_THROW(accuracy(x, zeros({4}, int32), {.mask = ones({4})}), DtypeError);
  EXPECT_THROW(accuracy(x, zeros({4}, int32), {.mask = array({true})}), ShapeError);
  EXPECT_THROW(confusion_matrix(zeros({2}, int32), zeros({3}, int32), 2), ShapeError);
  EXPECT_THROW(confusion_matrix(zeros({2}), zeros({2}, int32), 2), DtypeError);
  EXPECT_THROW(confusion_matrix(zeros({2}, int32), zeros({2}, int32), 0), ValueError);
  EXPECT_THROW(precision_score(zeros({2, 3})), ShapeError);
  EXPECT_THROW(roc_auc(zeros({2}), zeros({3}, int32)), ShapeError);
  EXPECT_THROW(roc_auc(zeros({2}), zeros({2})), DtypeError);
  EXPECT_THROW(RocCounts::zero(0), ValueError);
}

}  // namespace metrics_test
}  // namespace spruce::nn
