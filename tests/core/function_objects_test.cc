// SPDX-License-Identifier: Apache-2.0
// What users hand on, write down and print: functions by name, numbers with a point, shapes.
#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>

#include "spruce/spruce.h"

namespace sp = spruce;
using sp::Array;
using sp::Shape;

static_assert(std::is_nothrow_move_assignable_v<Array>);
static_assert(std::is_nothrow_move_constructible_v<Array>);
static_assert(!std::is_assignable_v<Array, Array>, "x[0] = y would change a copy");
static_assert(!std::is_assignable_v<Array, float>);
static_assert(std::is_assignable_v<Array&, float>);

TEST(PublicFunctions, AreHandedOnByName) {
  const Array x = sp::arange(6.0f).reshape({2, 3});
  EXPECT_EQ(sp::vmap(sp::matmul)(x, x).to_vector<float>(), (std::vector<float>{5, 50}));
  EXPECT_EQ(sp::vmap(sp::sum)(x).to_vector<float>(), (std::vector<float>{3, 12}));
  EXPECT_EQ(sp::jit(sp::sum)(x).item<float>(), 15.0f);
  EXPECT_EQ(sp::grad(sp::sum)(x).shape(), (Shape{2, 3}));
  const std::vector<Array> tree{x, sp::ones({4})};
  EXPECT_EQ(sp::tree::map(sp::zeros_like, tree)[1].to_vector<float>(), (std::vector<float>(4, 0)));
}

TEST(PublicFunctions, OfRandomAreHandedOnByName) {
  const sp::Key key(0);
  const sp::Key keys = sp::random::split(key, 3);
  const Array a = sp::array({1.0f, 2.0f, 3.0f}), words = sp::arange(3);
  for (const Array& draws :
       {sp::vmap(sp::random::gamma)(keys, a), sp::vmap(sp::random::t)(keys, a),
        sp::vmap(sp::random::poisson)(keys, a), sp::vmap(sp::random::bernoulli)(keys, a / 4)})
    EXPECT_EQ(draws.shape(), (Shape{3}));
  EXPECT_EQ(sp::vmap(sp::random::gamma)(keys, a)[1].item<float>(),
            sp::random::gamma(keys[1], a[1]).item<float>());
  EXPECT_TRUE(sp::array_equal(sp::vmap(sp::random::fold_in, {sp::none, 0})(key, words).data(),
                              keys.data()));
  EXPECT_TRUE(
      sp::array_equal(sp::jit(sp::random::permutation)(key, a), sp::random::permutation(key, a)));
}

TEST(PublicFunctions, OfLayersAreHandedOnByName) {
  const Array x = sp::arange(6.0f).reshape({3, 2}), y = sp::ones({3, 2});
  EXPECT_EQ(sp::vmap(sp::nn::mse_loss)(x, y).to_vector<float>(),
            (std::vector<float>{0.5f, 2.5f, 12.5f}));
  EXPECT_EQ(sp::grad(sp::nn::l1_loss)(x, y).shape(), x.shape());
  EXPECT_TRUE(sp::array_equal(sp::jit(sp::nn::linear)(x, y), sp::nn::linear(x, y)));
  EXPECT_EQ(sp::vmap(sp::nn::cross_entropy)(x, sp::array({0, 1, 1})).shape(), (Shape{3}));
}

TEST(PublicFunctions, OfTransformsAndDevicesAreHandedOnByName) {
  const Array x = sp::arange(6.0f).reshape({3, 2});
  const std::vector<Array> tree{x, sp::ones({3})};
  EXPECT_TRUE(sp::array_equal(sp::vmap(sp::stop_gradient)(x), x));
  EXPECT_EQ(sp::tree::map(sp::stop_gradient, tree)[1].shape(), (Shape{3}));
  const sp::VmapOptions over{.in_axes = {0, sp::none}, .axis_name = "i"};
  EXPECT_TRUE(sp::array_equal(sp::vmap(sp::psum, over)(tree[1], std::string("i")),
                              sp::array({3.0f, 3.0f, 3.0f})));
  EXPECT_TRUE(
      sp::array_equal(sp::vmap(sp::pmean, over)(x, std::string("i"))[2], sp::array({2.0f, 3.0f})));
  const auto number = sp::axis_index;
  const auto sum_and_number = [&](const Array& row) { return sp::sum(row) + number("i"); };
  EXPECT_EQ(sp::vmap(sum_and_number, {.axis_name = "i"})(x).to_vector<float>(),
            (std::vector<float>{1, 6, 11}));
  const auto move = sp::to_device;
  sp::Device& here = x.device();
  EXPECT_EQ(move(x, here).impl(), x.impl());
  EXPECT_EQ(move(tree, here)[1].impl(), tree[1].impl());
}

TEST(PublicFunctions, HaveTheNamesOfTheirPeers) {
  const Array x = sp::array({3.0f, 1.0f, 2.0f});
  EXPECT_EQ(sp::topk(x, 2).first.to_vector<float>(), (std::vector<float>{3, 2}));
  EXPECT_TRUE(sp::array_equal(sp::logcumsumexp(x, 0), sp::cumlogsumexp(x, 0)));
  EXPECT_TRUE(sp::array_equal(sp::erfinv(x / 4), sp::erf_inv(x / 4)));
  EXPECT_TRUE(sp::array_equal(sp::gammaln(x), sp::lgamma(x)));
  EXPECT_TRUE(sp::array_equal(sp::cat({x, x}), sp::concatenate({x, x})));
}

TEST(DoubleLiterals, AreF32) {
  EXPECT_EQ(sp::full({2}, 0.5).dtype(), sp::float32);
  EXPECT_EQ(sp::linspace(0.0, 1.0, 3).dtype(), sp::float32);
  EXPECT_EQ(sp::logspace(0.0, 1.0, 3).dtype(), sp::float32);
  EXPECT_EQ(sp::array({1.0, 2.0}).dtype(), sp::float32);
  EXPECT_EQ(sp::array({{1.0, 2.0}}).dtype(), sp::float32);
  EXPECT_EQ(sp::array({{{1.0}, {2.0}}}).dtype(), sp::float32);
  EXPECT_EQ(sp::array({1.0, 2.0}, {2, 1}).dtype(), sp::float32);
  EXPECT_EQ(sp::array(0.5).dtype(), sp::float32);
  EXPECT_EQ(sp::arange(3.0).dtype(), sp::float32);
  EXPECT_EQ(sp::arange(0.0, 1.0, 0.25).dtype(), sp::float32);
  EXPECT_EQ(sp::stack({0.5, 1.5}).dtype(), sp::float32);
  EXPECT_EQ(sp::zeros_like(0.5).dtype(), sp::float32);
}

TEST(NumbersOfSeveralTypes, ArePromoted) {
  EXPECT_TRUE(sp::array_equal(sp::array({1, 2.5}), sp::array({1.0f, 2.5f})));
  EXPECT_EQ(sp::array({1, 2.5}).dtype(), sp::float32);
  EXPECT_TRUE(std::isinf(sp::array({1.0, INFINITY})[1].item<float>()));
  EXPECT_EQ(sp::array({true, 2}).dtype(), sp::int32);
  const Array whole = sp::array({1, int64_t{9007199254740993}});
  EXPECT_EQ(whole.dtype(), sp::int64);
  EXPECT_EQ(whole[1].item<int64_t>(), 9007199254740993);
  const Array largest = sp::array({1u, 18446744073709551615u});
  EXPECT_EQ(largest.dtype(), sp::uint64);
  EXPECT_EQ(largest[1].item<uint64_t>(), 18446744073709551615u);
  EXPECT_EQ(sp::array({1, 0.1}, sp::float64)[1].item<double>(), 0.1);
  EXPECT_EQ(sp::array({}).shape(), (sp::Shape{0}));
  EXPECT_EQ(sp::array({{1.0}, {2.0}}).shape(), (sp::Shape{2, 1}));
}

TEST(DoubleLiterals, AreF64WhereThatIsSaid) {
  const std::vector<double> v{0.1, 0.2};
  EXPECT_EQ(sp::array(v).to_vector<double>(), v);
  EXPECT_EQ(sp::array(std::span<const double>(v), {2}).to_vector<double>(), v);
  EXPECT_EQ(sp::array({0.1, 0.2}, sp::float64).to_vector<double>(), v);
  EXPECT_EQ(sp::array({{0.1}, {0.2}}, sp::float64).to_vector<double>(), v);
  EXPECT_EQ(sp::array(0.1, sp::float64).item<double>(), 0.1);
  EXPECT_EQ(sp::full({1}, 0.1, sp::float64).to_vector<double>(), std::vector<double>{0.1});
  EXPECT_EQ(sp::linspace(0.0, 1.0, 3, {.dtype = sp::float64}).dtype(), sp::float64);
  EXPECT_EQ(sp::arange(0.0, 1.0, 0.1, sp::float64).to_vector<double>()[3], 3 * 0.1);
  EXPECT_EQ(sp::arange(2.5, sp::float64).size(), 3);
  EXPECT_EQ(sp::full({2}, sp::array(0.1, sp::float64)).dtype(), sp::float64);
}

TEST(DoubleLiterals, AreF32AsParametersOfDistributions) {
  namespace random = sp::random;
  const sp::Key key(0);
  for (const Array& x :
       {random::uniform(key, {2}, {.low = 0.5, .high = 1.0}),
        random::truncated_normal(key, -1.0, 1.0, {2}), random::gamma(key, 2.0),
        random::loggamma(key, 2.0), random::beta(key, 2.0, 1.0), random::chisquare(key, 2.0),
        random::t(key, 2.0), random::binomial(key, 10.0, 0.5),
        random::dirichlet(key, sp::array({1.0, 2.0})), sp::nn::init::uniform_fan_in(key, {2, 2}, 2),
        sp::nn::init::he_normal(key, {2, 2}), sp::nn::init::he_uniform(key, {2, 2}),
        sp::nn::init::glorot_normal(key, {2, 2}), sp::nn::init::glorot_uniform(key, {2, 2})})
    EXPECT_EQ(x.dtype(), sp::float32);
  EXPECT_EQ(random::bernoulli(key, 0.5, {2}).dtype(), sp::bool_);
  EXPECT_EQ(random::choice(key, 2, {3}, {.p = sp::array({0.5, 0.5})}).dtype(), sp::int32);
  EXPECT_EQ(random::categorical(key, sp::array({0.5, 0.5})).dtype(), sp::int32);
  EXPECT_EQ(random::gamma(key, sp::array({2.0}, sp::float64)).dtype(), sp::float64);
}

TEST(Shapes, CountFromTheEndAndAreChecked) {
  Shape s{2, 3};
  EXPECT_EQ(s[-1], 3);
  EXPECT_EQ(s[-2], 2);
  EXPECT_THROW((void)s[2], sp::ShapeError);
  EXPECT_THROW((void)s[-3], sp::ShapeError);
  EXPECT_THROW((void)s[std::vector<int>().size() - 1], sp::ShapeError);
  EXPECT_THROW((void)s[int64_t{1} << 32], sp::ShapeError);
  EXPECT_THROW((void)Shape().back(), sp::ShapeError);
  EXPECT_THROW(s.erase(2), sp::ShapeError);
  EXPECT_THROW(s.insert(3, 1), sp::ShapeError);
  s.erase(-1);
  EXPECT_EQ(s, (Shape{2}));
}

TEST(Indices, ThatWrapAroundAreErrors) {
  const std::vector<int> v;
  const Array x = sp::arange(3);
  EXPECT_THROW((void)x[v.size() - 1], sp::IndexError);
  EXPECT_THROW((void)(x[{sp::slice(0, v.size() - 1)}]), sp::IndexError);
  EXPECT_THROW((void)x.at(v.size() - 1).get(), sp::IndexError);
  EXPECT_THROW((void)sp::sum(x, v.size() - 1), sp::ShapeError);
  EXPECT_THROW((void)x.shape(v.size() - 1), sp::ShapeError);
  EXPECT_THROW((void)sp::random::split(sp::Key(0), 2)[v.size() - 1], sp::IndexError);
}

TEST(Axes, ThatWrapAroundAreErrors) {
  const std::vector<int> v;
  const size_t wrapped = v.size() - 1;
  const Array x = sp::ones({2, 2});
  const sp::Key key(0);
  EXPECT_THROW((void)sp::stack({x, x}, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::concatenate({x, x}, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::split(x, 2, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::split(x, {1}, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::array_split(x, 2, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::swapaxes(x, 0, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::dynamic_slice_in_dim(x, 0, 1, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::dynamic_update_slice_in_dim(x, x, 0, wrapped), sp::ShapeError);
  EXPECT_THROW((void)sp::vecdot(x, x, {.axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::cross(sp::ones({2, 3}), sp::ones({2, 3}), {.axis = wrapped}),
               sp::ShapeError);
  EXPECT_THROW((void)sp::diagonal(x, {.axis2 = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::trace(x, {.axis2 = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::diff(x, {.axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::norm(x, {.axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::random::permutation(key, x, {.axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::random::choice(key, x, {1}, {.axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::random::categorical(key, x, {.axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::nn::softmax(x, {.axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::nn::log_softmax(x, {.dim = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::nn::glu(x, {.dim = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::nn::flatten(x, {.end_axis = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::nn::flatten(x, {.end_dim = wrapped}), sp::ShapeError);
  EXPECT_THROW((void)sp::vmap(sp::exp, wrapped)(x), sp::ShapeError);
  EXPECT_THROW((void)sp::vmap(sp::exp, {.out_axes = wrapped})(x), sp::ShapeError);
}

TEST(Printing, OfShapesDtypesAndTypes) {
  std::ostringstream out;
  const Array x = sp::zeros({2, 3});
  out << x.shape() << " " << x.dtype() << " " << x.aval();
  EXPECT_EQ(out.str(), "[2,3] f32 f32[2,3]");
}

TEST(Variates, TakeTheirShapeAsAList) {
  const sp::Key key(0);
  EXPECT_EQ(sp::random::gamma(key, 2.0, {.shape = {5}}).shape(), (Shape{5}));
  EXPECT_EQ(sp::random::gamma(key, 2.0, {.shape = {{5}}}).shape(), (Shape{5}));
  EXPECT_EQ(sp::random::beta(key, 2.0, 1.0, {.shape = {5, 2}}).shape(), (Shape{5, 2}));
  EXPECT_EQ(sp::random::poisson(key, 2.0, {.shape = {5}}).shape(), (Shape{5}));
  EXPECT_EQ(sp::random::t(key, sp::ones({3}), {.shape = {}}).shape(), (Shape{3}));
  EXPECT_EQ(sp::random::categorical(key, sp::ones({3}), {.shape = {4}}).shape(), (Shape{4}));
  EXPECT_EQ(sp::random::split<2>(key)[1].data().to_vector<uint32_t>(),
            sp::random::split(key, 2)[1].data().to_vector<uint32_t>());
}

TEST(Variates, RefuseBoundsWhoseDistanceTheDtypeDoesNotHold) {
  EXPECT_THROW((void)sp::random::uniform(sp::Key(0), {2},
                                         {.low = -70000, .high = -10000, .dtype = sp::float16}),
               sp::ValueError);
  EXPECT_THROW((void)sp::random::uniform(sp::Key(0), {2},
                                         {.low = -60000, .high = 60000, .dtype = sp::float16}),
               sp::ValueError);
}

TEST(Trees, ReduceToWhatTheFunctionGives) {
  const std::vector<Array> tree{sp::array(1.0f), sp::array(2.0f)};
  EXPECT_EQ(sp::item<float>(sp::tree::reduce(sp::add, 0.0f, tree)), 3.0f);
}

namespace both {
using namespace spruce;      // NOLINT: that both can be used is what is tested
using namespace spruce::nn;  // NOLINT
TEST(Namespaces, OfSpruceAndItsLayersGoTogether) {
  const Array x = zeros({2});
  EXPECT_EQ(spruce::tanh(x).shape(), x.shape());
  EXPECT_EQ(sigmoid(x).shape(), x.shape());
}
}  // namespace both
