// SPDX-License-Identifier: Apache-2.0
// Gathers and scatters that move negative indices into range themselves.
#include <algorithm>

#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace wrap_indices_test {

const std::string kInputs = "a: bf16[9,20], b: i32[4]";
const std::string kMoved =
    "c: i32[] = constant {9}\nd: i32[] = constant {0}\ne: bool[4] = lt b d\n"
    "f: i32[4] = add b c\ng: i32[4] = select e f b\nh: i32[4,1] = reshape[shape=[4,1]] g\n";

std::string gather(const std::string& wraps) {
  return "bf16[4,20] = gather[offset_dims=[1] collapsed_dims=[0] start_index_map=[0] "
         "operand_batch_dims=[] indices_batch_dims=[] window=[1,20] clip=true wraps=" +
         wraps + "] a ";
}

TEST(WrapIndices, AGatherMovesThemItself) {
  EXPECT_EQ(after(passes::wrap_indices, kInputs, kMoved + "i: " + gather("false") + "h\nreturn i"),
            "c: i32[4,1] = reshape[shape=[4,1]] b\nd: " + gather("true") + "c\nreturn d");
}

TEST(WrapIndices, OthersStay) {
  const std::string gathers = "i: " + gather("false") + "h\nreturn i";
  for (const auto& [from, to] : {std::pair{"{9}", "{8}"},    // another axis
                                 std::pair{"{0}", "{1}"},    // another bound
                                 std::pair{"= lt", "= le"},  // another comparison
                                 std::pair{"select e f b", "select e b f"}}) {
    std::string other = kMoved;
    other.replace(other.find(from), std::string(from).size(), to);
    const std::string text = other + gathers;
    EXPECT_NE(after(passes::wrap_indices, kInputs, text).find("wraps=false"), std::string::npos)
        << text;
  }
}

// The elements that the positions of `from` name, one of which may be outside: moved to the
// nearest, or none.
int64_t place(int64_t entry, int64_t n, bool clip) {
  const int64_t at = entry < 0 ? entry + n : entry;
  return clip ? std::clamp<int64_t>(at, 0, n - 1) : at >= 0 && at < n ? at : -1;
}

template <class I>
Array indices(int64_t count, int64_t n, Dtype dtype) {
  std::vector<I> out;
  for (int64_t k = 0; k < count; ++k)
    out.push_back(static_cast<I>(k * 7919 % (2 * n + 5) - n - 2));  // -n-2 .. n+2
  return astype(array(out), dtype);
}

Array numbers(const Shape& shape, Dtype dtype) {
  return astype(arange(shape.numel(), float32) - 50, dtype).reshape(shape);
}

TEST(WrapIndices, GathersReadWhatTheirIndicesName) {
  for (const Dtype dtype : {float32, float64, bfloat16, int32, int8}) {
    for (const Dtype index : {int8, int32, int64}) {
      for (const int64_t width : {1, 3, 20}) {
        const int64_t n = 50, count = 700;
        const Array x = numbers({n, width}, dtype), i = indices<int32_t>(count, n, index);
        const std::vector<int64_t> at = astype(i, int64).to_vector<int64_t>();
        const Array y = jit([](const Array& a, const Array& b) { return take(a, b, 0); })(x, i);
        const Array flat =
            jit([](const Array& a, const Array& b) { return take(a, b, 0); })(x[{slice(), 0}], i);
        const std::vector<double> in = astype(x, float64).to_vector<double>(),
                                  out = astype(y, float64).to_vector<double>(),
                                  elements = astype(flat, float64).to_vector<double>();
        for (int64_t k = 0; k < count; ++k) {
          const int64_t from = place(at[static_cast<size_t>(k)], n, true) * width;
          ASSERT_EQ(elements[static_cast<size_t>(k)], in[static_cast<size_t>(from)]) << k;
          for (int64_t j = 0; j < width; ++j)
            ASSERT_EQ(out[static_cast<size_t>(k * width + j)], in[static_cast<size_t>(from + j)])
                << to_string(x.aval()) << to_string(i.aval()) << k;
        }
      }
    }
  }
}

TEST(WrapIndices, ScattersWriteWhatTheirIndicesName) {
  const int before = threads();
  for (const int team : {1, 4}) {
    set_threads(team);
    for (const Dtype dtype : {float32, int32, bfloat16}) {
      for (const Dtype index : {int32, int64}) {
        for (const bool sorted : {false, true}) {
          for (const int64_t count : {60, 60000}) {
            const int64_t n = 50;
            Array i = indices<int32_t>(count, n, index);
            if (sorted) i = sort(i);
            const std::vector<int64_t> at = astype(i, int64).to_vector<int64_t>();
            const Array ones_of = ones({count}, dtype);
            const Array sums = jit([](const Array& a, const Array& b, const Array& u) {
              return a.at(b).add(u);
            })(zeros({n}, dtype), i, ones_of);
            const Array rows = jit([](const Array& a, const Array& b, const Array& u) {
              return a.at(b).max(u);
            })(full({n, 3}, 0, dtype), i, broadcast_to(expand_dims(ones_of, 1), {count, 3}));
            std::vector<double> want(n);
            for (const int64_t entry : at) {
              if (const int64_t to = place(entry, n, false); to >= 0)
                ++want[static_cast<size_t>(to)];
            }
            std::vector<double> most = want;
            for (double& m : most) m = std::min(m, 1.0);
            const std::vector<double> rounded =
                astype(astype(array(want), dtype), float64).to_vector<double>();
            EXPECT_EQ(astype(sums, float64).to_vector<double>(), rounded)
                << to_string(sums.aval()) << team << sorted << count;
            for (int64_t j = 0; j < 3; ++j)
              EXPECT_EQ(astype(rows[{slice(), j}], float64).to_vector<double>(), most);
          }
        }
      }
    }
  }
  set_threads(before);
}

TEST(WrapIndices, HoldsInGradientsAndBatches) {
  const auto f = [](const Array& x, const Array& i) { return sum(square(take(x, i, 0))); };
  const Array x = numbers({9, 20}, float32);
  const Array i = array({-1, 0, 3, -9, 8, -3});
  const Array same = array({8, 0, 3, 0, 8, 6});
  EXPECT_EQ(jit(grad(f))(x, i).to_vector<float>(), grad(f)(x, same).to_vector<float>());
  const Array lists = stack({i, i - 0 * i, flip(i, 0)}),
              same_lists = stack({same, same, flip(same, 0)});
  EXPECT_EQ(jit(vmap(grad(f), {.in_axes = {none, 0}}))(x, lists).to_vector<float>(),
            vmap(grad(f), {.in_axes = {none, 0}})(x, same_lists).to_vector<float>());
}

}  // namespace wrap_indices_test
}  // namespace spruce
