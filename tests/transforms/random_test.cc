// SPDX-License-Identifier: Apache-2.0
// Random numbers under vmap, jit and grad.
#include "spruce/core/random/random.h"

#include <gmock/gmock.h>

#include <functional>

#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/derive/grad.h"
#include "spruce/transforms/vmap/vmap.h"

namespace spruce {
namespace random_test {

using Draw = std::function<Array(const Key&)>;

struct Named {
  const char* name;
  Draw draw;
};

const std::vector<Named>& draws() {
  static const std::vector<Named> all = {
      {"split", [](const Key& k) { return random::split(k, 3).data(); }},
      {"split_at_compile_time", [](const Key& k) { return random::split<2>(k)[1].data(); }},
      {"fold_in", [](const Key& k) { return random::fold_in(k, 7).data(); }},
      {"bits",
       [](const Key& k) {
         return random::bits(k, {2, 3}, uint16);
       }},
      {"uniform", [](const Key& k) { return random::uniform(k, {5}, {.low = -1, .high = 3}); }},
      {"uniform_scalar", [](const Key& k) { return random::uniform(k, {}); }},
      {"normal",
       [](const Key& k) {
         return random::normal(k, {2, 3});
       }},
      {"truncated_normal", [](const Key& k) { return random::truncated_normal(k, -1, 1, {4}); }},
      {"exponential", [](const Key& k) { return random::exponential(k, {4}); }},
      {"gumbel", [](const Key& k) { return random::gumbel(k, {4}, {.dtype = float64}); }},
      {"laplace", [](const Key& k) { return random::laplace(k, {4}); }},
      {"cauchy", [](const Key& k) { return random::cauchy(k, {4}); }},
      {"logistic", [](const Key& k) { return random::logistic(k, {4}); }},
      {"bernoulli", [](const Key& k) { return random::bernoulli(k, 0.4f, {9}); }},
      {"randint",
       [](const Key& k) {
         return random::randint(k, {2, 2}, -5, 1000);
       }},
      {"randint_arrays",
       [](const Key& k) {
         return random::randint(k, {3}, array({0, 5, 9}), array(11));
       }},
      {"randint_u8",
       [](const Key& k) { return random::randint(k, {5}, 0, 256, {.dtype = uint8}); }},
      {"rademacher", [](const Key& k) { return random::rademacher(k, {5}); }},
      {"permutation", [](const Key& k) { return random::permutation(k, 12); }},
      {"permutation_2000", [](const Key& k) { return random::permutation(k, 2000); }},
      {"permutation_axis",
       [](const Key& k) {
         return random::permutation(k, arange(12.0f).reshape({3, 4}), {.axis = 1});
       }},
      {"permutation_independent",
       [](const Key& k) {
         return random::permutation(k, arange(12.0f).reshape({3, 4}),
                                    {.axis = 1, .independent = true});
       }},
      {"choice", [](const Key& k) { return random::choice(k, 10, {4}); }},
      {"choice_without_replacement",
       [](const Key& k) { return random::choice(k, arange(10.0f), {4}, {.replace = false}); }},
      {"choice_p",
       [](const Key& k) {
         return random::choice(k, 3, {6}, {.p = array({0.2f, 0.5f, 0.3f})});
       }},
      {"choice_p_without_replacement",
       [](const Key& k) {
         return random::choice(k, 3, {2}, {.replace = false, .p = array({0.2f, 0.5f, 0.3f})});
       }},
      {"categorical",
       [](const Key& k) {
         return random::categorical(k, array({{0.0f, 1.0f}, {2.0f, 1.0f}}), {.shape = Shape{3, 2}});
       }},
  };
  return all;
}

TEST(RandomTransforms, UnderVmapEachKeyGivesWhatItGivesAlone) {
  const Key keys = random::split(Key(12), 4);
  for (const Named& f : draws()) {
    const Array mapped = vmap(f.draw)(keys);
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(array_equal(mapped[i], f.draw(keys[i]))) << f.name << " of key " << i;
  }
}

TEST(RandomTransforms, UnderNestedVmap) {
  const Key keys = vmap([](const Key& k) { return random::split(k, 3); })(random::split(Key(1), 2));
  EXPECT_EQ(keys.shape(), (Shape{2, 3}));
  for (const Named& f : draws()) {
    const Array mapped = vmap(vmap(f.draw))(keys);
    for (int i = 0; i < 6; ++i)
      EXPECT_TRUE(array_equal(mapped[i / 3][i % 3], f.draw(keys[i / 3][i % 3]))) << f.name;
  }
}

TEST(RandomTransforms, OneKeyThatAllShareGivesTheSameToAll) {
  const Key key(3);
  const Array x = array({1.0f, 2.0f});
  const Array y = vmap([&](const Array& x) { return x + random::normal(key, {2}); })(x);
  EXPECT_TRUE(allclose(y[1] - y[0], ones({2})));
  const Key folded = vmap([&](const Array& i) { return random::fold_in(key, i); })(arange(4));
  EXPECT_TRUE(array_equal(folded.data(), random::split(key, 4).data()));
}

TEST(RandomTransforms, UnderJit) {
  for (const Named& f : draws()) {
    const auto staged = jit(f.draw);
    EXPECT_TRUE(array_equal(staged(Key(5)), f.draw(Key(5)))) << f.name;
    EXPECT_TRUE(array_equal(staged(Key(6)), f.draw(Key(6)))) << f.name;
    EXPECT_EQ(staged.trace_count(), 1) << f.name;
  }
}

TEST(RandomTransforms, GradTakesNumbersAsConstants) {
  const Key key(4);
  const Array x = array({0.5f, -1.0f, 2.0f});
  const auto loss = [&](const Array& x) { return sum(x * random::normal(key, {3})); };
  EXPECT_TRUE(array_equal(grad(loss)(x), random::normal(key, {3})));
  EXPECT_TRUE(array_equal(jit(grad(loss))(x), random::normal(key, {3})));
}

TEST(RandomTransforms, GradOfAPermutationPutsBack) {
  const Key key(4);
  const Array x = arange(6.0f), weights = array({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  const Array g =
      grad([&](const Array& x) { return sum(weights * random::permutation(key, x)); })(x);
  EXPECT_TRUE(array_equal(random::permutation(key, g), weights));
}

TEST(RandomTransforms, ABatchOfKeysUnderVmapStillNeedsAnotherVmap) {
  const Key keys = Key::wrap(random::split(Key(1), 6).data().reshape({2, 3, 2}));
  EXPECT_THROW((void)vmap([](const Key& k) { return random::normal(k, {2}); })(keys), ShapeError);
}

}  // namespace random_test
}  // namespace spruce
