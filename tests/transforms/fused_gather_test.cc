// SPDX-License-Identifier: Apache-2.0
// Gathers of single elements within compiled loops, against evaluation.
#include <gtest/gtest.h>

#include <cstring>

#include "spruce/core/ops/ops.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace fused_gather_test {

bool equal_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(internal::mutable_data(a), internal::mutable_data(b),
                     static_cast<size_t>(a.aval().bytes())) == 0;
}

// f compiled is f evaluated, to the last bit, and its compiled graph holds `gathers` by itself.
template <class F, class... Args>
void expect_fused(const F& f, int gathers, const Args&... args) {
  const auto compiled = jit(f);
  EXPECT_TRUE(equal_bits(compiled(args...), f(args...))) << compiled.lower(args...).text();
  int alone = 0;
  const Lowered lowered = compiled.lower(args...);
  for (const Equation& e : lowered.compiled_graph().equations)
    alone += std::string(e.primitive->name) == "gather";
  EXPECT_EQ(alone, gathers) << lowered.compiled_graph().text();
}

Array values(const Shape& shape, Dtype dtype) {
  return astype(100 * random::normal(Key(1), shape), dtype);
}
// Some count from the end.
Array places(int64_t n, const Shape& shape) { return random::randint(Key(2), shape, -n, n); }

TEST(FusedGather, OfEachLengthAndDtype) {
  for (const Dtype dtype : {float32, int32, uint32}) {
    for (const int64_t n : {1, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1000, 5000}) {
      const auto f = [](const Array& x, const Array& i, const Array& y) {
        return 2 * take(x, i, 0) + y * take(x, i, 0);
      };
      // Of few elements all of the function is one equation.
      expect_fused(f, 0, values({50}, dtype), places(50, {n}), values({n}, dtype));
    }
  }
}

TEST(FusedGather, OfRowsColumnsAndBroadcastIndices) {
  const auto f = [](const Array& x, const Array& i, const Array& y) {
    return y + 2 * take(x, i, 0);
  };
  const Array x = values({300}, float32);
  for (const int64_t columns : {3, 40, 100, 3000}) {
    const Array y = values({70, columns}, float32);
    for (const Shape& shape : {Shape{70, columns}, Shape{columns}, Shape{70, 1}, Shape{1, columns}})
      expect_fused(f, 0, x, places(300, shape), y);
  }
}

TEST(FusedGather, BetweenReductions) {
  const auto f = [](const Array& x, const Array& y) {
    const Array i = astype(clip(max(y, 1, {.keepdims = true}) - 3.0f, -300, 299), int32);
    const Array j = astype(clip(y, -300, 299), int32);
    return sum(y * take(x, i, 0) + take(x, j, 0), 1);
  };
  const Array x = values({300}, float32);
  const auto compiled = jit(f);
  for (const int64_t columns : {5, 100, 2000}) {
    const Array y = values({30, columns}, float32);
    const Array off = abs(compiled(x, y) - f(x, y));
    EXPECT_LE(max(off).item<float>(), 1e-6f * max(abs(f(x, y))).item<float>() * columns);
  }
}

// The same indices for all arrays read a column of them each.
TEST(FusedGather, OutOfEachArrayOfABatch) {
  const auto one = [](const Array& x, const Array& i) { return 3 * take(x, i + 1, 0) - x[0]; };
  for (const int64_t n : {3, 20, 100, 2000}) {
    expect_fused(vmap(one), 0, values({6, 50}, float32), places(49, {6, n}));
    expect_fused(vmap(one, {0, none}), 1, values({6, 50}, float32), places(49, {n}));
    expect_fused(vmap(vmap(one)), 0, values({2, 3, 50}, float32), places(49, {2, 3, n}));
  }
  const auto along = [](const Array& x, const Array& i) { return take_along_axis(x, i, -1) + 1; };
  expect_fused(along, 0, values({9, 40}, float32), places(40, {9, 17}));
}

TEST(FusedGather, ByTwoIndicesOfAnImage) {
  const auto f = [](const Array& image, const Array& y, const Array& x) {
    const Array i = astype(floor(y), int32), j = astype(floor(x), int32);
    return image[{i, j}] * (y - floor(y)) + image[{i + 1, j + 1}];
  };
  const Array image = values({40, 50}, float32);
  const Array y = random::uniform(Key(3), {33, 47}) * 38.0f;
  const Array x = random::uniform(Key(4), {33, 47}) * 48.0f;
  expect_fused(f, 0, image, y, x);
}

TEST(FusedGather, IndicesOutsideAreMovedToTheNearestElement) {
  const Array x = values({10}, float32);
  const Array i = array({0, 9, 10, -1, -10, -11, 2147483647, -2147483647 - 1});
  const auto f = [](const Array& v, const Array& at) { return v[at] + 0.5f; };
  const std::vector<float> got = jit(f)(x, i).to_vector<float>();
  const std::vector<float> all = x.to_vector<float>();
  const size_t expected[] = {0, 9, 9, 9, 0, 0, 9, 0};
  for (size_t k = 0; k < got.size(); ++k) EXPECT_EQ(got[k], all[expected[k]] + 0.5f) << k;
}

TEST(FusedGather, TheArrayIsNotOverwrittenWhileItIsRead) {
  const auto compiled = jit([](const Array& x, const Array& i) { return take(x, i, 0) + 1; });
  for (const int64_t n : {10, 1000, 100000}) {
    const Array x = values({n}, float32), i = flip(arange(n), 0);
    const Array expected = flip(x, 0) + 1;
    Array given = copy(x);
    EXPECT_TRUE(equal_bits(compiled(std::move(given), i), expected));
  }
}

// By two loops.
TEST(FusedGather, OutOfAnArrayThatIsReadInAnotherWayToo) {
  const auto f = [](const Array& x, const Array& i) { return 2 * x + take(x, i, 0); };
  const Array x = values({5000}, float32);
  expect_fused(f, 0, x, places(5000, {5000}));
}

TEST(FusedGather, OtherDtypesHaveTheSameValues) {
  const auto f = [](const Array& x, const Array& i) { return take(x, i, 0) + x[0]; };
  for (const Dtype dtype : {float64, bfloat16, int8, int64})
    expect_fused(f, 1, values({500}, dtype), places(500, {3000}));
}

TEST(FlattenGathers, OfABatchReadOneArray) {
  const std::string gather =
      "gather[offset_dims=[] collapsed_dims=[1] start_index_map=[1] operand_batch_dims=[0] "
      "indices_batch_dims=[0] window=[1,1] clip=";
  const std::string inputs = "a: f32[4,9], b: i32[4,3,1]";
  EXPECT_EQ(after(passes::flatten_gathers, inputs,
                  "c: f32[4,3] = " + gather + "true wraps=false] a b\nreturn c"),
            "c: i32[] = constant {9}\n"
            "d: i32[] = constant {0}\n"
            "e: i32[] = constant {8}\n"
            "f: i32[4] = iota[shape=[4] dtype=i32 axis=0]\n"
            "g: i32[4,1,1] = reshape[shape=[4,1,1]] f\n"
            "h: i32[4,1,1] = mul g c\n"
            "i: i32[4,3,1] = clamp b d e\n"
            "j: i32[4,3,1] = add i h\n"
            "k: f32[36] = reshape[shape=[36]] a\n"
            "l: f32[4,3] = gather[offset_dims=[] collapsed_dims=[0] start_index_map=[0] "
            "operand_batch_dims=[] indices_batch_dims=[] window=[1] clip=true wraps=false] k j\n"
            "return l");
  const std::string dropped = "c: f32[4,3] = " + gather + "false wraps=false] a b\nreturn c";
  EXPECT_EQ(after(passes::flatten_gathers, inputs, dropped), dropped);
}

}  // namespace fused_gather_test
}  // namespace spruce
