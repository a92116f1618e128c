// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/ctc_loss.h"

#include <cmath>

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace ctc_loss_test {

const Array& targets() {
  static const Array t = sp::array({{1, 1, 2}, {2, 1, 3}, {3, 3, 3}, {1, 2, 3}});
  return t;
}

TEST(CtcLoss, AsPyTorch) {
  check("ctc_loss", 6, [](const Inputs& in, const Options& o) {
    const int64_t blank = o.integer("blank");
    return nn::ctc_loss(
        nn::log_softmax(in[0]), blank == 3 ? (targets() - 1) % 3 : targets(),
        sp::array({6, 5, 6, 4}), sp::array({3, 2, 3, 0}),
        {.blank = blank, .reduction = o.reduction(), .zero_infinity = o.flag("zero")});
  });
  check("ctc_loss_single", 3, [](const Inputs& in, const Options& o) {
    return nn::ctc_loss(nn::log_softmax(in[0]), targets()[0], sp::array(5), sp::array(2),
                        {.reduction = o.reduction()});
  });
  check("ctc_loss_infinite", 3, [](const Inputs& in, const Options& o) {
    return nn::ctc_loss(nn::log_softmax(in[0]), targets()[sp::slice(2)], sp::array({3, 3}),
                        sp::array({3, 2}), {.reduction = o.reduction(), .zero_infinity = true});
  });
}

// PyTorch's other form of targets, whose values it gives for either.
TEST(CtcLoss, TargetsOneBehindTheOtherAsPyTorch) {
  check("ctc_loss", 6, [](const Inputs& in, const Options& o) {
    const int64_t blank = o.integer("blank");
    const Array joined = sp::array({1, 1, 2, 2, 1, 3, 3, 3});
    return nn::ctc_loss(
        nn::log_softmax(in[0]), blank == 3 ? (joined - 1) % 3 : joined, sp::array({6, 5, 6, 4}),
        sp::array({3, 2, 3, 0}),
        {.blank = blank, .reduction = o.reduction(), .zero_infinity = o.flag("zero")});
  });
}

TEST(CtcLoss, TargetsOneBehindTheOtherCompiledOverLengths) {
  const Array x = nn::log_softmax(torch_cases::wave({6, 3, 4}, 0.7)), steps = sp::array({6, 5, 6});
  const Array joined = sp::array({1, 1, 2, 2, 1});
  const auto f = [&](const Array& t, const Array& labels) {
    return nn::ctc_loss(x, t, steps, labels, {.reduction = nn::Reduction::kNone});
  };
  const auto compiled = sp::jit(f);
  for (const Array& labels : {sp::array({3, 2, 0}), sp::array({0, 1, 4}), sp::array({5, 0, 0})})
    EXPECT_TRUE(sp::allclose(compiled(joined, labels), f(joined, labels)));
  EXPECT_EQ(compiled.trace_count(), 1);
  EXPECT_TRUE(bool(sp::all(sp::isnan(compiled(joined, sp::array({3, 1, 0}))))));
  const Array none = f(sp::zeros({0}, sp::int32), sp::array({0, 0, 0}));
  EXPECT_TRUE(sp::allclose(none, f(sp::zeros({3, 0}, sp::int32), sp::array({0, 0, 0}))));
}

TEST(CtcLoss, BadInputOneBehindTheOther) {
  const Array x = nn::log_softmax(torch_cases::wave({6, 3, 4}, 0.7)), steps = sp::array({6, 5, 6});
  const Array joined = sp::array({1, 1, 2, 2, 1});
  const auto f = [&](const Array& t, const Array& labels) {
    return nn::ctc_loss(x, t, steps, labels);
  };
  EXPECT_THROW(f(joined, sp::array({3, 1, 0})), sp::ValueError);
  EXPECT_THROW(f(joined, sp::array({6, -1, 0})), sp::ValueError);
  EXPECT_THROW(f(joined, sp::array({3, 2})), sp::ShapeError);
  EXPECT_THROW(f(joined.astype(sp::float32), sp::array({3, 2, 0})), sp::DtypeError);
}

TEST(CtcLoss, AnInputThatIsTooShortIsInfiniteAndHasNoGradient) {
  const Array x = torch_cases::wave({3, 2, 4}, 0.7);
  const auto loss = [&](const Array& x) {
    return nn::ctc_loss(nn::log_softmax(x), targets()[sp::slice(2)], sp::array({3, 3}),
                        sp::array({3, 2}), {.reduction = nn::Reduction::kNone});
  };
  EXPECT_TRUE(std::isinf(loss(x)[0].item<double>()));
  EXPECT_TRUE(std::isfinite(loss(x)[1].item<double>()));
  const Array g = sp::grad([&](const Array& x) { return sp::sum(loss(x)); })(x);
  EXPECT_TRUE(bool(sp::all(g[{sp::slice(), 0}] == 0)));
  EXPECT_TRUE(bool(sp::all(sp::isfinite(g))));
}

// Lengths may be unknown, and what stands behind them does not count.
TEST(CtcLoss, CompiledOverLengths) {
  const Array x = nn::log_softmax(torch_cases::wave({6, 4, 4}, 0.7));
  const auto f = [&](const Array& t, const Array& steps, const Array& labels) {
    return nn::ctc_loss(x, t, steps, labels, {.reduction = nn::Reduction::kNone});
  };
  const Array steps = sp::array({6, 5, 6, 4}), labels = sp::array({3, 2, 3, 0});
  EXPECT_TRUE(sp::allclose(sp::jit(f)(targets(), steps, labels), f(targets(), steps, labels)));
  const Array other = targets().at(1, 2).set(0).at(3).set(2);
  EXPECT_TRUE(sp::array_equal(f(other, steps, labels), f(targets(), steps, labels)));
}

TEST(CtcLoss, HalfPrecisionIsComputedInF32) {
  const Array x = sp::random::normal(sp::Key(0), {300, 2, 20}).astype(sp::bfloat16);
  const Array labels = sp::random::randint(sp::Key(1), {2, 30}, 1, 20);
  const auto f = [&](const Array& x) {
    return nn::ctc_loss(x, labels, sp::array({300, 290}), sp::array({30, 29}));
  };
  const Array logs = nn::log_softmax(x), wide = logs.astype(sp::float32);
  EXPECT_TRUE(sp::array_equal(f(logs), f(wide).astype(sp::bfloat16)));
  EXPECT_TRUE(sp::array_equal(sp::grad(f)(logs), sp::grad(f)(wide).astype(sp::bfloat16)));
}

TEST(CtcLoss, BadInput) {
  const Array x = sp::zeros({6, 4, 4}), n = sp::array({6, 5, 6, 4}), s = sp::array({3, 2, 3, 0});
  EXPECT_THROW(nn::ctc_loss(x, targets(), n, s, {.blank = 4}), sp::ValueError);
  EXPECT_THROW(nn::ctc_loss(x, targets(), n + 1, s), sp::ValueError);
  EXPECT_THROW(nn::ctc_loss(x, targets(), n, s - 1), sp::ValueError);
  EXPECT_THROW(nn::ctc_loss(x, targets(), n, s[0]), sp::ShapeError);
  EXPECT_THROW(nn::ctc_loss(x[0], targets(), n, s), sp::ShapeError);
  EXPECT_THROW(nn::ctc_loss(x, sp::ones({4, 3}), n, s), sp::DtypeError);
  EXPECT_THROW(nn::ctc_loss(x, targets(), n, s, {.reduction = nn::Reduction::kBatchMean}),
               sp::ValueError);
}

}  // namespace ctc_loss_test
}  // namespace functional_cases
