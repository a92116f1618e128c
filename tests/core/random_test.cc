// SPDX-License-Identifier: Apache-2.0
// Streams against values from JAX 0.10.2, and against Random123.
#include "spruce/core/random/random.h"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>

#include "spruce/core/cpu/random/threefry.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/primitives.h"

namespace spruce {
namespace random_test {

using testing::ElementsAre;
using testing::HasSubstr;

template <class E>
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

std::vector<uint32_t> words(const Key& key) { return key.data().to_vector<uint32_t>(); }

std::vector<float> floats(const Array& x) { return astype(x, float32).to_vector<float>(); }

// Each value within `ulps` units in the last place of f32, or of an absolute distance for those
// close to zero.
void expect_near(const Array& x, const std::vector<float>& expected, int ulps = 8) {
  const std::vector<float> got = x.to_vector<float>();
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const float ulp =
        std::max(std::nextafter(std::abs(expected[i]), 1e30f) - std::abs(expected[i]), 1e-8f);
    EXPECT_NEAR(got[i], expected[i], static_cast<float>(ulps) * ulp) << "at " << i;
  }
}

TEST(Threefry, KnownAnswersOfRandom123) {
  const auto encrypt = [](uint32_t k0, uint32_t k1, uint32_t a, uint32_t b) {
    cpu::threefry2x32(k0, k1, a, b);
    return std::pair(a, b);
  };
  EXPECT_EQ(encrypt(0, 0, 0, 0), std::pair(0x6b200159u, 0x99ba4efeu));
  EXPECT_EQ(encrypt(~0u, ~0u, ~0u, ~0u), std::pair(0x1cb996fcu, 0xbb002be7u));
  EXPECT_EQ(encrypt(0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3),
            std::pair(0xc4923a9cu, 0x483df7a0u));
  EXPECT_EQ(encrypt(0, 0, 1, 0), std::pair(1351547692u, 3235790642u));
}

TEST(Threefry, EveryVariantOfTheLoopGivesTheSame) {
  struct Both {
    SPRUCE_INLINE cpu::Words operator()(uint32_t a, uint32_t b) const { return {a, b}; }
  };
  using Loops = cpu::internal::ThreefryLoop<Both, cpu::Words>;
  const int64_t n = 1000;
  const auto run = [&](Loops::Loop loop) {
    std::vector<cpu::Words> out(n);
    loop(Both(), {3, 4}, {7, 0xffffffffu - 20}, out.data(), n - 979);
    loop(Both(), {3, 4}, {8, 0}, out.data() + 21, n - 21);
    std::vector<uint32_t> flat;
    for (const cpu::Words& w : out) flat.insert(flat.end(), {w.first, w.second});
    return flat;
  };
  const auto base = run(Loops::base);
  uint32_t a = 7, b = 0xffffffffu - 20 + 13;
  cpu::threefry2x32(3, 4, a, b);
  EXPECT_EQ(base[26], a);
  EXPECT_EQ(base[27], b);
  EXPECT_EQ(cpu::isa_level() >= cpu::IsaLevel::kV3 ? run(Loops::v3) : base, base);
  EXPECT_EQ(cpu::isa_level() >= cpu::IsaLevel::kV4 ? run(Loops::v4) : base, base);
}

TEST(Key, SeedsBecomeWords) {
  EXPECT_THAT(words(Key(0)), ElementsAre(0u, 0u));
  EXPECT_THAT(words(Key(42)), ElementsAre(0u, 42u));
  EXPECT_THAT(words(Key(-1)), ElementsAre(0u, 4294967295u));
  EXPECT_THAT(words(Key((int64_t{1} << 40) + 3)), ElementsAre(256u, 3u));
  EXPECT_THAT(words(Key(~uint64_t{0})), ElementsAre(4294967295u, 4294967295u));
  EXPECT_THAT(words(Key(std::numeric_limits<int64_t>::min())), ElementsAre(2147483648u, 0u));
  EXPECT_THAT(words(Key(uint8_t{200})), ElementsAre(0u, 200u));
}

TEST(Key, IsALeafWithNothingButItsData) {
  const Key none;
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE(none.data().defined());
  EXPECT_FALSE(Key::wrap(Array()).defined());
  EXPECT_THAT(message<ValueError>([&] { (void)none.shape(); }), HasSubstr("default-constructed"));
  const Key batch = random::split(Key(1), 3);
  EXPECT_EQ(batch.shape(), Shape{3});
  EXPECT_EQ(batch[1].shape(), Shape{});
  EXPECT_THAT(words(batch[-1]), ElementsAre(2441914641u, 3819641963u));
  EXPECT_EQ(words(Key::wrap(batch.data())[1]), words(batch[1]));
  EXPECT_THROW((void)batch[3], IndexError);
  EXPECT_THAT(message<ShapeError>([&] { (void)Key(1)[0]; }), HasSubstr("split(key, n)"));
  EXPECT_THAT(message<DtypeError>([] { Key::wrap(array({1.0f, 2.0f})); }), HasSubstr("f32[2]"));
  EXPECT_THAT(message<ShapeError>([] { Key::wrap(array({1u, 2u, 3u})); }), HasSubstr("u32[3]"));
  EXPECT_THROW(Key::wrap(array(1u)), ShapeError);
}

TEST(Key, Prints) {
  std::ostringstream out;
  out << Key(42) << ' ' << random::split(Key(0), 3) << ' ' << Key();
  EXPECT_EQ(out.str(), "Key(0, 42) Key(3 keys: u32[3,2]) Key()");
}

TEST(Random, SplitAndFoldIn) {
  EXPECT_THAT(words(random::split(Key(0), 3)), ElementsAre(1797259609u, 2579123966u, 928981903u,
                                                           3453687069u, 4146024105u, 2718843009u));
  EXPECT_THAT(words(random::split(Key(42), 3)), ElementsAre(1832780943u, 270669613u, 64467757u,
                                                            2916123636u, 2465931498u, 255383827u));
  const auto [k1, k2, k3] = random::split<3>(Key(1));
  EXPECT_THAT(words(k1), ElementsAre(507451445u, 1853169794u));
  EXPECT_THAT(words(k2), ElementsAre(1948878966u, 4237131848u));
  EXPECT_THAT(words(k3), ElementsAre(2441914641u, 3819641963u));
  const auto [first, second] = random::split(Key(1));
  EXPECT_EQ(words(first), words(k1));
  EXPECT_EQ(words(second), words(k2));
  EXPECT_THAT(words(random::fold_in(Key(0), 4)), ElementsAre(2285895361u, 433833334u));
  EXPECT_THAT(words(random::fold_in(Key(42), 7)), ElementsAre(2547012911u, 1371500959u));
  EXPECT_EQ(words(random::fold_in(Key(5), 2)), words(random::split(Key(5), 3)[2]));
  EXPECT_EQ(words(random::fold_in(Key(5), array(int64_t{2}))), words(random::fold_in(Key(5), 2)));
  EXPECT_EQ(words(random::fold_in(Key(5), -1)), words(random::fold_in(Key(5), 4294967295)));
  EXPECT_EQ(random::split(Key(0), 0).shape(), Shape{0});
}

TEST(Random, Bits) {
  EXPECT_THAT(random::bits(Key(0), {4}).to_vector<uint32_t>(),
              ElementsAre(4070199207u, 4202968722u, 1427181096u, 2012915765u));
  EXPECT_THAT(random::bits(Key(42), {4}).to_vector<uint32_t>(),
              ElementsAre(2098992034u, 2919706841u, 2646866425u, 2409546199u));
  EXPECT_THAT(random::bits(Key(10), {4}).to_vector<uint32_t>(),
              ElementsAre(169096361u, 1572511259u, 2689743692u, 2228103506u));
  EXPECT_THAT(random::bits(Key(0), {4}, uint8).to_vector<uint8_t>(), ElementsAre(167, 146, 40, 53));
  EXPECT_THAT(random::bits(Key(0), {4}, uint16).to_vector<uint16_t>(),
              ElementsAre(20391, 13970, 3624, 43061));
  EXPECT_THAT(random::bits(Key(0), {3}, uint64).to_vector<uint64_t>(),
              ElementsAre(7719171245655871230u, 3989946895414531357u, 17807037942121513089u));
  EXPECT_EQ(random::bits(Key(0), {}).item<uint32_t>(), 4070199207u);
  EXPECT_THAT(
      random::bits(Key(11), {2, 3}).to_vector<uint32_t>(),
      ElementsAre(901010416u, 80514922u, 3124326316u, 1482144495u, 2619229662u, 1335037494u));
  EXPECT_EQ(random::bits(Key(0), {3, 0}).shape(), (Shape{3, 0}));
}

TEST(Random, UniformToTheBit) {
  EXPECT_THAT(random::uniform(Key(0), {5}).to_vector<float>(),
              ElementsAre(0.947667f, 0.9785799f, 0.33229148f, 0.46866846f, 0.5698887f));
  EXPECT_THAT(random::uniform(Key(51), {4}).to_vector<float>(),
              ElementsAre(0.471269f, 0.12344253f, 0.17550635f, 0.5663593f));
  EXPECT_THAT(random::uniform(Key(0), {3}, {.dtype = float64}).to_vector<double>(),
              ElementsAre(0.41845711171638644, 0.21629545460551136, 0.9653214611189975));
  EXPECT_THAT(floats(random::uniform(Key(0), {4}, {.dtype = bfloat16})),
              ElementsAre(0.6484375f, 0.5703125f, 0.15625f, 0.203125f));
  EXPECT_THAT(floats(random::uniform(Key(0), {4}, {.dtype = float16})),
              ElementsAre(0.310546875f, 0.212890625f, 0.0546875f, 0.65625f));
}

TEST(Random, UniformRangesToTheBit) {
  EXPECT_THAT(random::uniform(Key(1), {6}, {.low = -5, .high = 5}).to_vector<float>(),
              ElementsAre(-0.6136751174926758f, 0.33752918243408203f, -0.5408167839050293f,
                          -0.6160366535186768f, 3.973628282546997f, 0.5894601345062256f));
  EXPECT_THAT(random::uniform(Key(2), {6}, {.low = 0.1f, .high = 5.0f}).to_vector<float>(),
              ElementsAre(3.2398762702941895f, 4.5129499435424805f, 1.2271671295166016f,
                          4.4198899269104f, 2.1493353843688965f, 1.0913766622543335f));
  EXPECT_THAT(floats(random::uniform(Key(2), {4}, {.low = -1.5, .high = 2.25, .dtype = bfloat16})),
              ElementsAre(0.0234375f, -0.03125f, 1.90625f, 1.4375f));
  EXPECT_THAT(floats(random::uniform(Key(2), {4}, {.low = -1.5, .high = 2.25, .dtype = float16})),
              ElementsAre(1.814453125f, 1.7119140625f, 0.459228515625f, -0.712890625f));
  EXPECT_THAT(
      random::uniform(Key(1), {3}, {.low = -2, .high = 3.5, .dtype = float64}).to_vector<double>(),
      ElementsAre(-1.3501736433540679, 0.49567309357829803, 1.1270390680039557));
}

TEST(Random, UniformStaysInItsRange) {
  const Array x = random::uniform(Key(3), {200000}, {.low = 1, .high = 1 + 0x1p-22});
  EXPECT_EQ(min(x).item<float>(), 1.0f);
  EXPECT_LE(max(x).item<float>(), 1 + 0x1p-22f);
  EXPECT_EQ(max(random::uniform(Key(3), {9}, {.low = 2, .high = 2})).item<float>(), 2.0f);
  const Array unit = random::uniform(Key(3), {1 << 20});
  EXPECT_GE(min(unit).item<float>(), 0.0f);
  EXPECT_LT(max(unit).item<float>(), 1.0f);
}

TEST(Random, FunctionsOfUniform) {
  expect_near(random::normal(Key(0), {5}),
              {1.6226420f, 2.0252647f, -0.43359444f, -0.07861735f, 0.1760909f});
  expect_near(random::normal(Key(42), {5}),
              {-0.028304616f, 0.46713185f, 0.29570296f, 0.15354592f, -0.12403282f});
  expect_near(random::exponential(Key(0), {4}), {2.9501281f, 3.8434246f, 0.40390354f, 0.6323691f});
  expect_near(random::gumbel(Key(0), {4}), {2.9233725f, 3.8326178f, -0.0968932f, 0.2772571f});
  expect_near(random::laplace(Key(4), {5}),
              {-1.4316827058792114f, -0.7760459184646606f, 1.2727067470550537f,
               -0.30377450585365295f, -0.0027162334881722927f});
  expect_near(random::cauchy(Key(4), {5}),
              {2.538440465927124f, 1.1334794759750366f, -2.124479055404663f, 0.43642276525497437f,
               0.00426097959280014f});
  expect_near(random::logistic(Key(4), {5}),
              {1.997617483139038f, 1.2076839208602905f, -1.8149890899658203f, 0.5364505052566528f,
               0.005424976348876953f});
  expect_near(random::truncated_normal(Key(4), -1.5, 2, {6}),
              {1.1193026304244995f, 0.7314469218254089f, -0.8621510863304138f, 0.3618932366371155f,
               0.05834557116031647f, 0.27130964398384094f});
  expect_near(random::truncated_normal(Key(4), 2, 4, {4}),
              {2.776728868484497f, 2.558288812637329f, 2.0627384185791016f, 2.390397310256958f},
              200);  // in a tail, a unit in the last place of erf is many of the result
  const std::vector<double> wide =
      random::normal(Key(0), {3}, {.dtype = float64}).to_vector<double>();
  EXPECT_NEAR(wide[0], -0.2058421394796434, 1e-14);
  EXPECT_NEAR(wide[1], -0.7847657764467411, 1e-14);
  EXPECT_NEAR(wide[2], 1.8160866726679836, 1e-14);
  const std::vector<float> half = floats(random::normal(Key(0), {4}, {.dtype = float16}));
  EXPECT_THAT(
      half, testing::Pointwise(testing::FloatNear(2e-3f),
                               {-0.49365234375f, -0.79541015625f, -1.5986328125f, 0.40283203125f}));
  const std::vector<float> brain = floats(random::normal(Key(0), {4}, {.dtype = bfloat16}));
  EXPECT_THAT(brain, testing::Pointwise(testing::FloatNear(1e-2f),
                                        {0.38671875f, 0.1826171875f, -1.0f, -0.82421875f}));
}

TEST(Random, TruncatedNormalStaysInTheOpenInterval) {
  const Array x = random::truncated_normal(Key(8), 0.5, 0.5 + 1e-6, {1000});
  EXPECT_GT(min(x).item<float>(), 0.5f);
  EXPECT_LT(max(x).item<float>(), static_cast<float>(0.5 + 1e-6));
  const double inf = std::numeric_limits<double>::infinity();
  const Array open = random::truncated_normal(Key(8), -inf, inf, {100000});
  EXPECT_TRUE(all(isfinite(open)).item<bool>());
}

// Their values of the distribution function round to -1 and 1, of which the inverse is infinite.
TEST(Random, TruncatedNormalWithFarBoundsIsFinite) {
  for (const Dtype dtype : {float16, bfloat16}) {
    const Array x = random::truncated_normal(Key(0), -100, 100, {10000}, {.dtype = dtype});
    EXPECT_LT(max(abs(x.astype(float32))).item<float>(), 8) << dtype;
  }
  for (const Dtype dtype : {float32, float64}) {
    const Array x = random::truncated_normal(Key(0), 9, 100, {8}, {.dtype = dtype});
    EXPECT_LT(max(x).item<double>(), 10) << dtype;
  }
}

TEST(Random, RandintToTheBit) {
  EXPECT_THAT(random::randint(Key(0), {8}, 0, 10).to_vector<int32_t>(),
              ElementsAre(9, 0, 2, 3, 1, 7, 2, 3));
  EXPECT_THAT(random::randint(Key(5), {6}, -7, 1000003).to_vector<int32_t>(),
              ElementsAre(972084, 453577, 522652, 331447, 369233, 262342));
  EXPECT_THAT(random::randint(Key(5), {4}, INT32_MIN, INT32_MAX).to_vector<int32_t>(),
              ElementsAre(-1787507967, -1163020224, -1664956169, -994140664));
  EXPECT_THAT(random::randint(Key(5), {6}, 0, 256, {.dtype = uint8}).to_vector<uint8_t>(),
              ElementsAre(1, 64, 247, 8, 60, 53));
  EXPECT_THAT(random::randint(Key(5), {6}, -100, 100, {.dtype = int8}).to_vector<int8_t>(),
              ElementsAre(61, -52, 3, 36, -16, 1));
  EXPECT_THAT(random::randint(Key(5), {6}, -30000, 30000, {.dtype = int16}).to_vector<int16_t>(),
              ElementsAre(14961, 21648, -8697, 18936, 3884, -23099));
  EXPECT_THAT(
      random::randint(Key(5), {6}, 0, INT32_MAX, {.dtype = uint32}).to_vector<uint32_t>(),
      ElementsAre(359975681u, 984463424u, 482527479u, 1153342984u, 522374460u, 1956281909u));
  EXPECT_THAT(
      random::randint(Key(5), {4}, -1000000000000000, 100000000000000003, {.dtype = int64})
          .to_vector<int64_t>(),
      ElementsAre(88634115635642910, 61177586726151808, 78286534172008964, 29803493765138986));
  EXPECT_THAT(
      random::randint(Key(5), {4}, 0, 100000000000000003, {.dtype = uint64}).to_vector<uint64_t>(),
      ElementsAre(24634115635642907u, 46177586726151805u, 53286534172008961u, 67803493765138983u));
}

TEST(Random, RandintOverAllOfADtype) {
  const Array all_i32 = random::randint(Key(5), {3}, INT32_MIN, int64_t{INT32_MAX} + 1);
  const Array words = random::bits(random::split(Key(5), 2)[1], {3});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(all_i32[i].item<int64_t>(), int64_t{words[i].item<uint32_t>()} + INT32_MIN);
  const Array i64 = random::randint(Key(5), {1000}, INT64_MIN, INT64_MAX, {.dtype = int64});
  EXPECT_LT(min(i64).item<int64_t>(), INT64_MIN / 4);
  EXPECT_GT(max(i64).item<int64_t>(), INT64_MAX / 4);
  EXPECT_EQ(max(random::randint(Key(5), {9}, 7, 8)).item<int32_t>(), 7);
}

TEST(Random, RandintWithArraysAsBounds) {
  EXPECT_THAT(random::randint(Key(5), {2, 3}, array({0, 10, -5}), array({3, 100}, {2, 1}))
                  .to_vector<int32_t>(),
              ElementsAre(0, 10, 2, 36, 24, 41));
  EXPECT_THAT(
      random::randint(Key(5), {6}, array(0), array(256), {.dtype = uint8}).to_vector<uint8_t>(),
      ElementsAre(1, 64, 247, 8, 60, 53));
  EXPECT_THAT(random::randint(Key(5), {6}, -7, array(1000003)).to_vector<int32_t>(),
              ElementsAre(972084, 453577, 522652, 331447, 369233, 262342));
  EXPECT_THROW((void)random::randint(Key(5), {2}, array({0.5f, 1.0f}), array(3)), DtypeError);
  EXPECT_THROW((void)random::randint(Key(5), {2}, array({0, 1, 2}), array(3)), ShapeError);
}

TEST(Random, BernoulliAndRademacher) {
  const std::vector<bool> b = random::bernoulli(Key(42), 0.5f, {8}).to_vector<bool>();
  EXPECT_EQ(b, (std::vector<bool>{true, false, false, false, true, false, true, false}));
  const std::vector<bool> c = random::bernoulli(Key(42), 0.3f, {10}).to_vector<bool>();
  EXPECT_EQ(
      c, (std::vector<bool>{false, false, false, false, false, false, true, false, false, false}));
  EXPECT_EQ(random::bernoulli(Key(1), array({0.0f, 1.0f})).to_vector<bool>(),
            (std::vector<bool>{false, true}));
  EXPECT_THAT(random::rademacher(Key(4), {10}).to_vector<int32_t>(),
              ElementsAre(-1, -1, 1, -1, -1, -1, 1, -1, -1, 1));
  EXPECT_EQ(random::rademacher(Key(4), {3}, {.dtype = float32}).dtype(), float32);
}

TEST(Random, PermutationToTheBit) {
  EXPECT_THAT(random::permutation(Key(7), 10).to_vector<int32_t>(),
              ElementsAre(9, 4, 2, 3, 5, 0, 7, 6, 1, 8));
  const std::vector<int32_t> p = random::permutation(Key(7), 1797).to_vector<int32_t>();
  EXPECT_THAT(std::vector(p.begin(), p.begin() + 12),
              ElementsAre(838, 304, 734, 77, 913, 388, 1405, 1617, 998, 1046, 421, 669));
  int64_t checksum = 0;
  for (size_t i = 0; i < p.size(); ++i) checksum += static_cast<int64_t>(i) * p[i];
  EXPECT_EQ(checksum, 1434247549);

  const Array x = arange(12, int32).reshape({3, 4});
  EXPECT_THAT(random::permutation(Key(3), x).to_vector<int32_t>(),
              ElementsAre(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7));
  EXPECT_THAT(random::permutation(Key(3), x, {.axis = 1}).to_vector<int32_t>(),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11));
  EXPECT_THAT(
      random::permutation(Key(3), x, {.axis = -1, .independent = true}).to_vector<int32_t>(),
      ElementsAre(0, 2, 1, 3, 5, 6, 7, 4, 10, 9, 11, 8));
  EXPECT_EQ(random::permutation(Key(3), 0).shape(), Shape{0});
  EXPECT_THAT(random::permutation(Key(3), 1).to_vector<int32_t>(), ElementsAre(0));
  EXPECT_EQ(random::permutation(Key(3), zeros({0, 3})).shape(), (Shape{0, 3}));
}

TEST(Random, Choice) {
  EXPECT_THAT(random::choice(Key(6), 20, {8}).to_vector<int32_t>(),
              ElementsAre(2, 2, 8, 11, 12, 8, 16, 18));
  EXPECT_THAT(random::choice(Key(6), 20, {8}, {.replace = false}).to_vector<int32_t>(),
              ElementsAre(2, 7, 16, 0, 11, 6, 18, 10));
  const Array p = array({0.1f, 0.2f, 0.3f, 0.05f, 0.35f});
  EXPECT_THAT(random::choice(Key(6), 5, {8}, {.p = p}).to_vector<int32_t>(),
              ElementsAre(2, 4, 4, 4, 1, 4, 2, 4));
  EXPECT_THAT(random::choice(Key(6), 5, {4}, {.replace = false, .p = p}).to_vector<int32_t>(),
              ElementsAre(4, 0, 1, 2));
  const Array tens = 10 * arange(12, int32).reshape({3, 4});
  const Array columns = random::choice(Key(6), tens, {2}, {.axis = 1});
  EXPECT_EQ(columns.shape(), (Shape{3, 2}));
  EXPECT_THAT(columns.to_vector<int32_t>(), ElementsAre(20, 20, 60, 60, 100, 100));
  EXPECT_EQ(random::choice(Key(6), tens, {2, 5}).shape(), (Shape{2, 5, 4}));
  EXPECT_EQ(random::choice(Key(6), 0, {0}).shape(), Shape{0});
  EXPECT_EQ(random::choice(Key(6), 3).shape(), Shape{});
}

TEST(Random, Categorical) {
  const Array logits = array({{0.0f, 1.0f, 2.0f}, {3.0f, -1.0f, 0.5f}});
  EXPECT_THAT(random::categorical(Key(9), logits).to_vector<int32_t>(), ElementsAre(1, 0));
  EXPECT_THAT(random::categorical(Key(9), logits, {.axis = 0}).to_vector<int32_t>(),
              ElementsAre(1, 0, 1));
  EXPECT_THAT(random::categorical(Key(9), logits, {.shape = Shape{4, 2}}).to_vector<int32_t>(),
              ElementsAre(1, 0, 2, 0, 2, 2, 2, 0));
}

TEST(Random, KeysOfABatchGiveWhatTheyGiveAlone) {
  const Key keys = random::split(Key(77), 5);
  for (const int64_t width : {8, 16, 32, 64}) {
    const Params params = Params::make(RandomBitsParams{width, {3, 7}});
    const Array all = bind1(random_bits_p, {keys.data()}, params);
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(array_equal(all[i], bind1(random_bits_p, {keys[i].data()}, params)));
  }
  for (const Dtype dtype : {float16, bfloat16, float32, float64}) {
    const Params params = Params::make(RandomUniformParams{dtype, 4, -1, {33}});
    const Array all = bind1(random_uniform_p, {keys.data()}, params);
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(array_equal(all[i], bind1(random_uniform_p, {keys[i].data()}, params)));
  }
  const Array split = bind1(random_split_p, {keys.data()}, Params::make(RandomSplitParams{4}));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(array_equal(split[i], random::split(keys[i], 4).data()));
}

TEST(Random, DoesNotDependOnTheNumberOfThreads) {
  const int before = threads();
  set_threads(1);
  const Array alone = random::uniform(Key(5), {100003});
  set_threads(4);
  const Array together = random::uniform(Key(5), {100003});
  set_threads(before);
  EXPECT_TRUE(array_equal(alone, together));
}

TEST(Random, SaysWhatIsWrong) {
  const Key one(0), none, batch = random::split(one, 10);
  EXPECT_THAT(message<ShapeError>([&] { (void)random::normal(batch, {3}); }),
              HasSubstr("normal: takes one key, got a batch of keys of shape [10]; map over it "
                        "with vmap, or take one with key[i]"));
  EXPECT_THAT(
      message<ValueError>([&] { (void)random::uniform(none, {3}); }),
      HasSubstr("uniform: the key is empty (default-constructed); make one with Key(seed)"));
  EXPECT_THROW((void)random::split(batch, 2), ShapeError);
  EXPECT_THROW((void)random::split(one, -1), ValueError);
  EXPECT_THROW((void)random::fold_in(batch, 2), ShapeError);
  EXPECT_THAT(message<ValueError>([&] { (void)random::fold_in(one, int64_t{1} << 32); }),
              HasSubstr("does not fit in 32 bits"));
  EXPECT_THAT(message<ShapeError>([&] {
                (void)random::fold_in(one, array({1, 2}));
              }),
              HasSubstr("i32[2]"));
  EXPECT_THROW((void)random::fold_in(one, array(1.5f)), DtypeError);
  EXPECT_THAT(message<DtypeError>([&] { (void)random::bits(one, {2}, int32); }),
              HasSubstr("bits: makes u8, u16, u32 and u64, not i32"));
  EXPECT_THAT(message<ShapeError>([&] { (void)random::bits(one, {2, -1}); }), HasSubstr("[2,-1]"));
  EXPECT_THAT(message<DtypeError>([&] { (void)random::uniform(one, {2}, {.dtype = int32}); }),
              HasSubstr("not i32"));
  EXPECT_THAT(message<ValueError>([&] { (void)random::uniform(one, {2}, {.low = 2, .high = 1}); }),
              HasSubstr("low <= high"));
  EXPECT_THROW((void)random::uniform(one, {2}, {.high = std::nan("")}), ValueError);
  EXPECT_THROW((void)random::uniform(one, {2}, {.low = -3e38, .high = 3e38}), ValueError);
  EXPECT_THROW((void)random::uniform(one, {2}, {.high = 1e6, .dtype = float16}), ValueError);
  EXPECT_THAT(message<DtypeError>([&] { (void)random::normal(one, {2}, {.dtype = int32}); }),
              HasSubstr("normal: makes f16"));
  EXPECT_THROW((void)random::truncated_normal(one, 2, 1, {2}), ValueError);
  EXPECT_THAT(message<ValueError>([&] { (void)random::randint(one, {2}, 5, 5); }),
              HasSubstr("the range [5, 5) is empty"));
  EXPECT_THAT(
      message<ValueError>([&] { (void)random::randint(one, {2}, 0, 257, {.dtype = uint8}); }),
      HasSubstr("u8 does not hold all of [0, 257)"));
  EXPECT_THROW((void)random::randint(one, {2}, -1, 5, {.dtype = uint64}), ValueError);
  EXPECT_THROW((void)random::randint(one, {2}, 0, 5, {.dtype = float32}), DtypeError);
  EXPECT_THROW((void)random::rademacher(one, {2}, {.dtype = uint8}), DtypeError);
  EXPECT_THROW((void)random::bernoulli(one, array({1, 0}), {2}), DtypeError);
  EXPECT_THAT(message<ShapeError>([&] {
                (void)random::bernoulli(one, array({0.5f, 0.5f, 0.5f}), {2});
              }),
              HasSubstr("f32[3]"));
  EXPECT_THROW((void)random::permutation(one, -3), ValueError);
  EXPECT_THROW((void)random::permutation(one, array(3.0f)), ShapeError);
  EXPECT_THROW((void)random::permutation(one, zeros({2, 2}), {.axis = 2}), ShapeError);
  EXPECT_THAT(message<ValueError>([&] { (void)random::choice(one, 3, {4}, {.replace = false}); }),
              HasSubstr("cannot draw 4 of 3"));
  EXPECT_THROW((void)random::choice(one, 0, {1}), ValueError);
  EXPECT_THROW((void)random::choice(one, 3, {1}, {.p = array({0.5f, 0.5f})}), ShapeError);
  EXPECT_THROW((void)random::categorical(one, array({1, 2, 3})), DtypeError);
  EXPECT_THROW((void)random::categorical(one, zeros({3, 2}), {.shape = Shape{4}}), ShapeError);
  EXPECT_THROW((void)random::categorical(one, zeros({3, 0})), ShapeError);
}

}  // namespace random_test
}  // namespace spruce
