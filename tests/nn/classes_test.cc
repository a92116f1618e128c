// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/classes.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace classes_test {

const Array& x() {
  static const Array x = torch_cases::wave({4, 6}, 0.7);
  return x;
}

template <class L, class F>
void expect_function(const L& layer, const F& f) {
  EXPECT_TRUE(sp::array_equal(layer(x()), f(x())));
  EXPECT_TRUE(sp::allclose(sp::jit(layer)(x()), f(x())));
  const auto net = nn::sequential(nn::dense(6, {.dtype = sp::float64}), layer);
  const auto parameters = net.init(sp::Key(0), x());
  EXPECT_TRUE(sp::array_equal(net(parameters)(x()), f(std::get<0>(parameters)(x()))));
}

TEST(Classes, Activations) {
  expect_function(nn::ReLU{}, nn::relu);
  expect_function(nn::ReLU6{}, nn::relu6);
  expect_function(nn::SELU{}, nn::selu);
  expect_function(nn::SiLU{}, nn::silu);
  expect_function(nn::Mish{}, nn::mish);
  expect_function(nn::Sigmoid{}, sp::sigmoid);
  expect_function(nn::Tanh{}, sp::tanh);
  expect_function(nn::Tanhshrink{}, nn::tanhshrink);
  expect_function(nn::Softsign{}, nn::softsign);
  expect_function(nn::LogSigmoid{}, nn::logsigmoid);
  expect_function(nn::Hardsigmoid{}, nn::hardsigmoid);
  expect_function(nn::Hardswish{}, nn::hardswish);
  expect_function(nn::GELU{}, nn::gelu);
  expect_function(nn::GELU{{nn::GeluApproximation::kTanh}}, [](const Array& x) {
    return nn::gelu(x, {.approximate = nn::GeluApproximation::kTanh});
  });
  expect_function(nn::ELU{{.alpha = 0.5f}},
                  [](const Array& x) { return nn::elu(x, {.alpha = 0.5f}); });
  expect_function(nn::CELU{{.alpha = 0.5f}},
                  [](const Array& x) { return nn::celu(x, {.alpha = 0.5f}); });
  expect_function(nn::LeakyReLU{{.negative_slope = 0.2f}},
                  [](const Array& x) { return nn::leaky_relu(x, {.negative_slope = 0.2f}); });
  expect_function(nn::GLU{0}, [](const Array& x) { return nn::glu(x, {.dim = 0}); });
  const Array picture = torch_cases::wave({2, 3, 2, 2}, 0.7);
  EXPECT_TRUE(sp::allclose(sp::sum(nn::Softmax2d{}(picture), 1), sp::ones({2, 2, 2})));
  expect_error<sp::ShapeError>([] { nn::Softmax2d{}(x()); },
                               "Softmax2d: takes f[n, c, h, w] or f[c, h, w], got f64[4,6]");
}

struct Net {
  nn::Linear line;
  nn::LeakyReLU act{{.negative_slope = 0.3f}};
  nn::GLU glu{};
  nn::BatchNorm1d norm;
  Array operator()(const Array& x) const { return norm(glu(act(line(x)))); }
};

TEST(Classes, InAModel) {
  const Net net{nn::Linear::init(sp::Key(0), 6, 4, {.dtype = sp::float64}),
                {},
                {},
                nn::BatchNorm1d::init(2, {.dtype = sp::float64})};
  const auto g = sp::jit(sp::grad([](const Net& n) { return sp::sum(n(x())); }))(net);
  EXPECT_EQ(g.line.weight.shape(), net.line.weight.shape());
  EXPECT_NE(sp::tree::structure(net).text().find("act.options.negative_slope"), std::string::npos);
}

TEST(Classes, Losses) {
  const Array a = x(), b = torch_cases::wave({4, 6}, 0.4), c = torch_cases::wave({4, 6}, 0.9);
  const Array one = sp::ones({4, 6}, sp::float64), signs = sp::sign(b), i = sp::array({0, 5, 2, 1});
  const Array p = sp::sigmoid(a), q = sp::sigmoid(b);
  const auto same = [](const Array& got, const Array& want) {
    EXPECT_TRUE(sp::array_equal(got, want)) << got << want;
  };
  same(nn::BCELoss{}(p, q), nn::binary_cross_entropy(p, q));
  same(nn::BCEWithLogitsLoss{}(a, q), nn::binary_cross_entropy_with_logits(a, q));
  same(nn::CrossEntropyLoss{{.label_smoothing = 0.1f}}(a, i),
       nn::cross_entropy(a, i, {.label_smoothing = 0.1f}));
  same(nn::NLLLoss{{.reduction = nn::Reduction::kSum}}(a, i),
       nn::nll_loss(a, i, {.reduction = nn::Reduction::kSum}));
  same(nn::MSELoss{{nn::Reduction::kNone}}(a, b), nn::mse_loss(a, b, {nn::Reduction::kNone}));
  same(nn::L1Loss{}(a, b), nn::l1_loss(a, b));
  same(nn::HuberLoss{}(a, b), nn::huber_loss(a, b));
  same(nn::SmoothL1Loss{}(a, b), nn::smooth_l1_loss(a, b));
  same(nn::KLDivLoss{}(a, p), nn::kl_div(a, p));
  same(nn::PoissonNLLLoss{}(a, p), nn::poisson_nll_loss(a, p));
  same(nn::GaussianNLLLoss{}(a, b, p), nn::gaussian_nll_loss(a, b, p));
  same(nn::HingeEmbeddingLoss{}(a, signs), nn::hinge_embedding_loss(a, signs));
  same(nn::MarginRankingLoss{{.margin = 0.5}}(a, b, signs),
       nn::margin_ranking_loss(a, b, signs, {.margin = 0.5}));
  same(nn::CosineEmbeddingLoss{}(a, b, signs[{sp::slice(), 0}]),
       nn::cosine_embedding_loss(a, b, signs[{sp::slice(), 0}]));
  same(nn::SoftMarginLoss{}(a, signs), nn::soft_margin_loss(a, signs));
  same(nn::MultiMarginLoss{}(a, i), nn::multi_margin_loss(a, i));
  const Array classes = sp::broadcast_to(sp::array({3, 0, -1, 1, 2, 2}), {4, 6});
  same(nn::MultiLabelMarginLoss{}(a, classes), nn::multilabel_margin_loss(a, classes));
  same(nn::MultiLabelSoftMarginLoss{}(a, one), nn::multilabel_soft_margin_loss(a, one));
  same(nn::TripletMarginLoss{}(a, b, c), nn::triplet_margin_loss(a, b, c));
  same(nn::TripletMarginWithDistanceLoss{}(a, b, c),
       nn::triplet_margin_with_distance_loss(a, b, c));
  const Array log_probs = nn::log_softmax(torch_cases::wave({5, 2, 4}, 0.7));
  const Array targets = sp::array({{1, 2}, {3, 1}}), five = sp::array({5, 5}),
              two = sp::array({2, 1});
  same(nn::CTCLoss{}(log_probs, targets, five, two), nn::ctc_loss(log_probs, targets, five, two));
}

}  // namespace classes_test
}  // namespace functional_cases
