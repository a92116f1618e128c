// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/ops.h"
#include "spruce/nn/attention.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace fuse_attention_layout_test {

const std::string kLse =
    "attention_lse_strided[scale=0.5 causal=true query=[2,2,3,4] keys=3 values=4 ";
const std::string kGrad =
    "attention_grad_strided[scale=0.5 causal=true query=[2,2,3,4] keys=3 values=4 ";

// A projection f32[2,3,24] whose thirds are taken apart into two heads.
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

TEST(Heads, AreReadWhereTheyStand) {
  EXPECT_EQ(after(passes::fuse_attention_layout, "a: f32[2,3,24]",
                  split_of("a") + "b: f32[2,2,3,4], c: f32[2,2,3] = attention_lse[scale=0.5 "
                                  "causal=true] p q r\n"
                                  "d: f32[2,3,2,4] = transpose[perm=[0,2,1,3]] b\nreturn d c"),
            "b: f32[2,3,2,4], c: f32[2,2,3] = " + kLse +
                "views=(0,0,72,4,24,0,8,72,4,24,0,16,72,4,24) perm=[0,2,1,3] joined=-1] a\n"
                "return b c");
}

TEST(Heads, CotangentsAreWrittenSideBySide) {
  EXPECT_EQ(after(passes::fuse_attention_layout,
                  "a: f32[2,3,24], b: f32[2,2,3,4], c: f32[2,2,3], d: f32[2,3,8]",
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
            "e: f32[2,3,3,2,4] = " + kGrad +
                "views=(0,0,72,4,24,0,8,72,4,24,0,16,72,4,24,1,0,24,12,4,2,0,24,4,8) "
                "perm=[0,2,1,3] joined=2] a b d c\n"
                "f: f32[2,3,24] = reshape[shape=[2,3,24]] e\nreturn f");
}

TEST(Heads, OthersStay) {
  for (const std::string body : {
           // dense operands and results
           "d: f32[2,3,4], e: f32[2,3] = attention_lse[scale=0.5 causal=false] a b c\nreturn d e",
           // a transpose after which rows are not dense
           "d: f32[2,4,3] = transpose[perm=[0,2,1]] a\n"
           "e: f32[2,4,3], f: f32[2,4] = attention_lse[scale=0.5 causal=false] d d d\n"
           "return e f",
           // a small part of an array, which would have to live longer
           "d: f32[1,3,4] = slice[start=[0,0,0] limit=[1,3,4] stride=[1,1,1]] a\n"
           "e: f32[1,3,4] = slice[start=[0,0,0] limit=[1,3,4] stride=[1,1,1]] b\n"
           "f: f32[1,3,4] = slice[start=[0,0,0] limit=[1,3,4] stride=[1,1,1]] c\n"
           "g: f32[1,3,4], h: f32[1,3] = attention_lse[scale=0.5 causal=false] d e f\n"
           "return g h",
       })
    EXPECT_EQ(
        after(passes::fuse_attention_layout, "a: f32[2,3,4], b: f32[2,3,4], c: f32[2,3,4]", body),
        body);
}

// A block as models write it, its derivatives beside those without compiling.
TEST(Heads, KeepTheMeaningOfAProjection) {
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

}  // namespace fuse_attention_layout_test
}  // namespace spruce
