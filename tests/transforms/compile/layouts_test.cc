// SPDX-License-Identifier: Apache-2.0
// What compiled graphs read and write in place instead of moving it.
#include "spruce/core/rules/layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/attention.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace layouts_test {

std::string name_of(ValueId v) { return "v" + std::to_string(v); }

std::string text_of(ValueId v, const rules::StridedPlace* place) {
  if (place == nullptr) return name_of(v);
  std::string text = name_of(place->base) + "+" + std::to_string(place->offset) + "[";
  for (int i = 0; i < place->strides.rank(); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(place->strides[i]);
  return text + "]";
}

// The equations that run, values by number, with what stands within others.
std::string steps_of(const std::string& inputs, const std::string& body) {
  const Graph g = parse_graph("graph(" + inputs + ") {\n" + body + "\n}");
  check(g);
  const rules::Layouts layouts(g);
  std::string text;
  for (size_t n = 0; n < g.equations.size(); ++n) {
    const Equation& e = g.equations[n];
    if (!layouts.runs(n) || e.primitive->kind == PrimitiveKind::kView) continue;
    if (!text.empty()) text += "; ";
    text += e.primitive->name;
    for (size_t i = 0; i < e.inputs.size(); ++i)
      text += " " + text_of(e.inputs[i], layouts.input(n, i));
    text += " ->";
    for (const ValueId v : e.outputs) text += " " + text_of(v, layouts.result(v));
  }
  return text;
}

// Splits a projection f32[2,3,24] into query, key and value, p, q and r, each f32[2,2,3,4]: two
// heads of four features.
std::string split_of(const std::string& from) {
  std::string text;
  const char names[] = {'p', 'q', 'r'};
  for (int i = 0; i < 3; ++i) {
    const std::string n(1, names[i]), at = std::to_string(8 * i), end = std::to_string(8 * i + 8);
    text += n + "1: f32[2,3,8] = slice[start=[0,0," + at + "] limit=[2,3," + end +
            "] stride=[1,1,1]] " + from + "\n" + n + "2: f32[2,3,2,4] = reshape[shape=[2,3,2,4]] " +
            n + "1\n" + n + ": f32[2,2,3,4] = transpose[perm=[0,2,1,3]] " + n + "2\n";
  }
  return text;
}

TEST(Layouts, OperandsAreReadWhereTheyStand) {
  EXPECT_EQ(steps_of("a: f32[2,3,24]",
                     split_of("a") + "b: f32[2,2,3,4], c: f32[2,2,3] = attention_lse[scale=0.5 "
                                     "causal=true] p q r\n"
                                     "d: f32[2,3,2,4] = transpose[perm=[0,2,1,3]] b\nreturn d c"),
            "attention_lse v0+0[72,4,24,1] v0+8[72,4,24,1] v0+16[72,4,24,1] -> "
            "v3+0[24,4,8,1] v2");
}

// v3 is the cotangent, v18 the concatenation.
TEST(Layouts, ResultsAreWrittenSideBySide) {
  EXPECT_EQ(steps_of("a: f32[2,3,24], b: f32[2,2,3,4], c: f32[2,2,3], d: f32[2,3,8]",
                     split_of("a") + "e: f32[2,3,2,4] = reshape[shape=[2,3,2,4]] d\n"
                                     "f: f32[2,2,3,4] = transpose[perm=[0,2,1,3]] e\n"
                                     "g: f32[2,2,3,4], h: f32[2,2,3,4], i: f32[2,2,3,4] = "
                                     "attention_grad[scale=0.5 causal=true] p q r b c f\n"
                                     "j: f32[2,3,2,4] = transpose[perm=[0,2,1,3]] g\n"
                                     "k: f32[2,3,2,4] = transpose[perm=[0,2,1,3]] h\n"
                                     "l: f32[2,3,2,4] = transpose[perm=[0,2,1,3]] i\n"
                                     "m: f32[2,3,8] = reshape[shape=[2,3,8]] j\n"
                                     "n: f32[2,3,8] = reshape[shape=[2,3,8]] k\n"
                                     "o: f32[2,3,8] = reshape[shape=[2,3,8]] l\n"
                                     "s: f32[2,3,24] = concatenate[axis=2] m n o\nreturn s"),
            "attention_grad v0+0[72,4,24,1] v0+8[72,4,24,1] v0+16[72,4,24,1] v1 v2 "
            "v3+0[24,4,8,1] -> v18+0[72,4,24,1] v18+8[72,4,24,1] v18+16[72,4,24,1]");
}

// A border by reflection, first of rows, then of columns: the first concatenation is written where
// the second one, v10, has it, and what mirrors its columns reads it there.
TEST(Layouts, MovesAreWrittenSideBySide) {
  EXPECT_EQ(steps_of("a: f32[4,4]",
                     "b: f32[1,4] = slice[start=[1,0] limit=[2,4] stride=[1,1]] a\n"
                     "c: f32[1,4] = rev[axes=[0]] b\n"
                     "d: f32[1,4] = slice[start=[2,0] limit=[3,4] stride=[1,1]] a\n"
                     "e: f32[1,4] = rev[axes=[0]] d\n"
                     "f: f32[6,4] = concatenate[axis=0] c a e\n"
                     "g: f32[6,1] = slice[start=[0,1] limit=[6,2] stride=[1,1]] f\n"
                     "h: f32[6,1] = rev[axes=[1]] g\n"
                     "i: f32[6,1] = slice[start=[0,2] limit=[6,3] stride=[1,1]] f\n"
                     "j: f32[6,1] = rev[axes=[1]] i\n"
                     "k: f32[6,6] = concatenate[axis=1] h f j\nreturn k"),
            "rev v0+4[4,1] -> v2; rev v0+8[4,1] -> v4; concatenate v2 v0 v4 -> v10+1[6,1]; "
            "rev v10+2[6,1] -> v10+0[6,1]; rev v10+3[6,1] -> v10+5[6,1]");
}

TEST(Layouts, ARepeatedOperandHasSteps0) {
  EXPECT_EQ(steps_of("a: f32[2,5,4], b: f32[1,5,4]",
                     "c: f32[2,5,4] = broadcast_in_dim[shape=[2,5,4] "
                     "broadcast_dimensions=[0,1,2]] b\n"
                     "d: f32[2,5,4] = attention[scale=0.5 causal=false] a c c\nreturn d"),
            "attention v0 v1+0[0,4,1] v1+0[0,4,1] -> v3");
}

TEST(Layouts, OthersAreMoved) {
  const std::string three = "a: f32[2,3,4], b: f32[2,3,4], c: f32[2,3,4]";
  const std::string lse = "attention_lse[scale=0.5 causal=false] ";
  // Rows that are not dense after the transpose.
  EXPECT_EQ(steps_of(three,
                     "d: f32[2,4,3] = transpose[perm=[0,2,1]] a\n"
                     "e: f32[2,4,3], f: f32[2,4] = " +
                         lse + "d d d\nreturn e f"),
            "transpose v0 -> v3; attention_lse v3 v3 v3 -> v4 v5");
  // A small part of a computed array, which would have to live longer.
  EXPECT_EQ(steps_of("a: f32[4,3,4]",
                     "b: f32[4,3,4] = neg a\n"
                     "c: f32[1,3,4] = slice[start=[1,0,0] limit=[2,3,4] stride=[1,1,1]] b\n"
                     "d: f32[1,3,4], e: f32[1,3] = " +
                         lse + "c c c\nreturn d e"),
            "neg v0 -> v1; slice v1 -> v2; attention_lse v2 v2 v2 -> v3 v4");
  // 16 bits are widened as they stand.
  EXPECT_EQ(steps_of("a: f16[3,2,4]",
                     "b: f16[2,3,4] = transpose[perm=[1,0,2]] a\n"
                     "c: f16[2,3,4] = attention[scale=0.5 causal=false] b b b\nreturn c"),
            "transpose v0 -> v1; attention v1 v1 v1 -> v2");
  // A result that something reads as it is, or that is returned.
  const std::string moved = "e: f32[3,2,4] = transpose[perm=[1,0,2]] d\n";
  const std::string attention = "d: f32[2,3,4] = attention[scale=0.5 causal=false] a b c\n";
  EXPECT_EQ(steps_of(three, attention + moved + "f: f32[2,3,4] = neg d\nreturn e f"),
            "attention v0 v1 v2 -> v3; transpose v3 -> v4; neg v3 -> v5");
  EXPECT_EQ(steps_of(three, attention + moved + "return e d"),
            "attention v0 v1 v2 -> v3; transpose v3 -> v4");
  EXPECT_EQ(steps_of(three, attention + moved + "return e"), "attention v0 v1 v2 -> v4+0[4,8,1]");
  // A concatenation of which one part is made by something else.
  EXPECT_EQ(steps_of(three, attention + "e: f32[2,6,4] = concatenate[axis=1] d a\nreturn e"),
            "attention v0 v1 v2 -> v3; concatenate v3 v0 -> v4");
}

TEST(Layouts, ProductsReadSlicesAndWriteTransposed) {
  const std::string dot =
      "dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] ";
  // The columns of one array for two products, and both results in one.
  EXPECT_EQ(steps_of("a: f32[9,32], b: f32[16,8], c: f32[16,12]",
                     "d: f32[9,16] = slice[start=[0,0] limit=[9,16] stride=[1,1]] a\n"
                     "e: f32[9,8] = " +
                         dot +
                         "d b\n"
                         "f: f32[9,12] = " +
                         dot +
                         "d c\n"
                         "g: f32[9,20] = concatenate[axis=1] e f\nreturn g"),
            "dot_general v0+0[32,1] v1 -> v6+0[20,1]; dot_general v0+0[32,1] v2 -> v6+8[20,1]");
  EXPECT_EQ(steps_of("a: f32[9,16], b: f32[16,8]",
                     "c: f32[9,15] = slice[start=[0,1] limit=[9,16] stride=[1,1]] a\n"
                     "d: f32[15,9] = transpose[perm=[1,0]] c\n"
                     "e: f32[9,9] = dot_general[lhs_contract=[0] rhs_contract=[0] lhs_batch=[] "
                     "rhs_batch=[]] d d\nreturn e"),
            "dot_general v0+1[1,16] v0+1[1,16] -> v4");
}

// Of moves one behind the other, the last one reads what the first one would.
TEST(Layouts, MovesReadThroughOthers) {
  EXPECT_EQ(steps_of("a: f32[4,6]",
                     "b: f32[4,4] = slice[start=[0,1] limit=[4,5] stride=[1,1]] a\n"
                     "c: f32[4,4] = transpose[perm=[1,0]] b\nreturn c"),
            "transpose v0+1[6,1] -> v2");
  EXPECT_EQ(steps_of("a: f32[4,6]",
                     "b: f32[4,6] = neg a\n"
                     "c: f32[4,2] = slice[start=[0,4] limit=[4,6] stride=[1,1]] b\n"
                     "d: f32[4,4] = slice[start=[0,0] limit=[4,4] stride=[1,1]] b\n"
                     "e: f32[4,6] = concatenate[axis=1] c d\nreturn e"),
            "neg v0 -> v1; concatenate v1+4[6,1] v1+0[6,1] -> v4");
  const Array x = reshape(arange(24.0f), {2, 3, 4});
  const auto moved = [](const Array& a) {
    const Array half = transpose(a, {2, 0, 1})[slice(1, 4)];
    return std::vector<Array>{
        roll(a, 1, 2), flip(transpose(half, {1, 2, 0}), -1),
        pad(transpose(half, {2, 1, 0}), {{1, 0}, {0, 2}, {0, 0}}),
        concatenate({transpose(half, {1, 0, 2}), transpose(half, {1, 0, 2})}, 1),
        half[slice(0, 3, 2)]};
  };
  const std::vector<Array> want = moved(x), got = jit(moved)(x);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(array_equal(got[i], want[i])) << i;
}

// The memory of a view of a result within another value is there too.
TEST(Layouts, AViewOfAResultIsWhereTheResultIs) {
  EXPECT_EQ(steps_of("a: f32[16,5]",
                     "b: f32[16,5] = neg a\n"
                     "c: f32[16,5] = exp a\n"
                     "d: f32[8,10] = reshape[shape=[8,10]] c\n"
                     "e: f32[8,9] = slice[start=[0,1] limit=[8,10] stride=[1,1]] d\n"
                     "f: f32[9,8] = transpose[perm=[1,0]] e\n"
                     "g: f32[32,5] = concatenate[axis=0] b c\nreturn f g"),
            "neg v0 -> v6+0[5,1]; exp v0 -> v6+80[5,1]; slice v6+80[10,1] -> v4; "
            "transpose v4 -> v5");
}

// One operand is read in place, and moved for another reader.
TEST(Layouts, AReaderOfDenseElementsHasThemMoved) {
  EXPECT_EQ(steps_of("a: f32[3,2,4]",
                     "b: f32[2,3,4] = transpose[perm=[1,0,2]] a\n"
                     "c: f32[2,3,4] = attention[scale=0.5 causal=false] b b b\n"
                     "d: f32[2,3,4] = add b c\nreturn d"),
            "transpose v0 -> v1; attention v0+0[4,8,1] v0+0[4,8,1] v0+0[4,8,1] -> v2; "
            "add v1 v2 -> v3");
}

// A block as models write it, its derivatives beside those without compiling.
TEST(Layouts, KeepTheMeaningOfAProjection) {
  for (const Dtype dtype : {float32, float64, bfloat16}) {
    for (const bool self : {true, false}) {
      const auto block = [self](const std::vector<Array>& p) {
        const Array &x = p[3], &y = p[4];
        const int64_t n = x.shape(0), t = x.shape(1), h = 3;
        std::vector<Array> parts = split(matmul(x, p[0]), 3, -1);
        if (!self) parts[1] = matmul(y, p[1]), parts[2] = matmul(y, p[2]);
        for (Array& a : parts)
          a = transpose(reshape(a, {n, a.shape(1), h, a.shape(2) / h}), {0, 2, 1, 3});
        const Array z =
            nn::scaled_dot_product_attention(parts[0], parts[1], parts[2], {.is_causal = self});
        return sum(square(reshape(transpose(z, {0, 2, 1, 3}), {n, t, -1})));
      };
      const std::vector<Array> p = {astype(random::normal(Key(0), {6, 36}), dtype),
                                    astype(random::normal(Key(1), {6, 12}), dtype),
                                    astype(random::normal(Key(2), {6, 15}), dtype),
                                    astype(random::normal(Key(3), {2, 7, 6}), dtype),
                                    astype(random::normal(Key(4), {2, 9, 6}), dtype)};
      const std::vector<Array> want = grad(block)(p), got = jit(grad(block))(p);
      const double tol = dtype == float64 ? 1e-11 : dtype == float32 ? 1e-3 : 0.5;
      for (size_t i = 0; i < p.size(); ++i)
        EXPECT_TRUE(allclose(got[i], want[i], {.rtol = tol, .atol = tol})) << i;
    }
  }
}

// A mask that repeats, heads that several queries share, results that are returned as they are
// written, and those of a loop.
TEST(Layouts, KeepTheMeaningOfMasksAndResults) {
  const auto heads = [](const Array& x) { return transpose(x, {0, 2, 1, 3}); };
  const auto step = [&](const std::vector<Array>& p) {
    const Array mask = broadcast_to(p[2], {2, 3, 7, 7});
    const Array shared = broadcast_to(p[1], {2, 7, 3, 4});
    const Array y = nn::scaled_dot_product_attention(heads(p[0]), heads(shared), heads(shared),
                                                     {.attn_mask = mask});
    return std::vector<Array>{heads(y), concatenate({heads(y), heads(y * 2.0f)}, -1)};
  };
  const std::vector<Array> p = {random::normal(Key(0), {2, 7, 3, 4}),
                                random::normal(Key(1), {2, 7, 1, 4}),
                                random::normal(Key(2), {2, 1, 1, 7}) < 1.0f};
  const std::vector<Array> want = step(p), got = jit(step)(p);
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(allclose(got[i], want[i], {.rtol = 1e-5, .atol = 1e-5})) << i;
  const auto loop = [&](const Array& x) {
    return fori_loop(
        0, 4,
        [&](const Array&, const Array& c) {
          return heads(nn::scaled_dot_product_attention(heads(c), heads(x), heads(c)));
        },
        x);
  };
  EXPECT_TRUE(allclose(jit(loop)(p[0]), loop(p[0]), {.rtol = 1e-5, .atol = 1e-5}));
}

// A program of moves, products and sums over arrays of small integers, whose sums are exact.
class RandomMoves {
 public:
  explicit RandomMoves(uint32_t seed) : seed_(seed) {}

  std::vector<Array> operator()(const std::vector<Array>& in) const {
    std::mt19937 random(seed_);
    std::vector<Array> pool = in;
    const auto draw = [&](int64_t n) { return static_cast<int64_t>(random() % uint64_t(n)); };
    for (int i = 0; i < 14; ++i) {
      // The last ones, so that moves follow each other.
      const Array x =
          pool[pool.size() - 1 -
               static_cast<size_t>(draw(std::min<int64_t>(4, static_cast<int64_t>(pool.size()))))];
      const int axis = static_cast<int>(draw(3));
      const int64_t n = x.shape(axis);
      switch (draw(9)) {
        case 0:
          pool.push_back(transpose(
              x, std::array<Axes, 4>{
                     {{2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}}[static_cast<size_t>(draw(4))]));
          break;
        case 1:
          pool.push_back(slice_along(x, axis, draw(n), n, 1 + draw(2)));
          break;
        case 2:
          pool.push_back(concatenate({x, slice_along(x, axis, 0, 1 + draw(n), 1)}, axis));
          break;
        case 3:
          pool.push_back(concatenate(
              {slice_along(x, axis, n / 2, n, 1), slice_along(x, axis, 0, n / 2, 1)}, axis));
          break;
        case 4:
          pool.push_back(reshape(x, {x.shape(0) * x.shape(1), 1, x.shape(2)}));
          break;
        case 5:
          pool.push_back(flip(x, axis));
          break;
        case 6:
          pool.push_back(remainder(matmul(x, swapaxes(x, -1, -2)), 7.0f));
          break;
        case 7:
          pool.push_back(pad(x, {{draw(2), 0}, {0, draw(3)}, {1, 0}}));
          break;
        default:
          pool.push_back(x + 1.0f);
      }
      if (pool.back().size() > 6000) pool.back() = slice_along(pool.back(), axis, 0, 1, 1);
    }
    std::vector<Array> out;
    for (size_t i = pool.size() - 6; i < pool.size(); ++i) {
      if (draw(2) == 0) out.push_back(pool[i]);
    }
    out.push_back(concatenate({ravel(pool.back()), ravel(pool[pool.size() - 2])}));
    return out;
  }

 private:
  static Array slice_along(const Array& x, int axis, int64_t begin, int64_t end, int64_t step) {
    const Slice part = slice(begin, end, step);
    return axis == 0 ? x[part] : axis == 1 ? x[{slice(), part}] : x[{slice(), slice(), part}];
  }
  uint32_t seed_;
};

TEST(Layouts, KeepTheElementsOfRandomMoves) {
  const Array x = astype(reshape(arange(8 * 16 * 3), {8, 16, 3}) % 5, float32),
              y = astype(reshape(arange(4 * 4 * 16), {4, 4, 16}) % 3, float32);
  // The last two: a slice that stands elsewhere reads, and is read, beside a result that is placed
  // after it.
  std::vector<uint32_t> seeds(2000);
  std::iota(seeds.begin(), seeds.end(), 0u);
  seeds.insert(seeds.end(), {52614u, 62662u});
  for (const uint32_t seed : seeds) {
    const RandomMoves program(seed);
    const std::vector<Array> want = program({x, y}), got = jit(program)(std::vector<Array>{x, y});
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_TRUE(array_equal(got[i], want[i])) << seed << ": " << i;
    std::vector<Array> given = {x * 1.0f, y * 1.0f};
    const std::vector<Array> donated = jit(program)(std::move(given));
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_TRUE(array_equal(donated[i], want[i])) << seed << ": " << i;
  }
}

}  // namespace layouts_test
}  // namespace spruce
