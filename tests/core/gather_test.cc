// SPDX-License-Identifier: Apache-2.0
// The kernels of gather and the scatters against loops that follow the definition, over random
// parameters.
#include "spruce/core/rules/gather.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"
#include "tests/core/message.h"

namespace spruce {
namespace gather_test {

using Longs = std::vector<int64_t>;

struct Trial {
  Shape operand, indices, result;
  Longs operand_values, index_values, update_values;
  GatherParams params;
};

class Maker {
 public:
  explicit Maker(unsigned seed) : rng_(seed) {}

  Trial make() {
    Trial t;
    GatherParams& p = t.params;
    p.clip = below(2) == 0;
    const int rank = below(4) + 1;
    Shape kept;
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t n = below(8) == 0 ? 40 : below(5) + 1;
      t.operand.push_back(n);
      p.window.push_back(1);
      const int role = below(4);
      if (role == 0) {
        p.operand_batch_dims.push_back(axis);
        continue;
      }
      const bool indexed = below(2) == 0;
      if (indexed) p.start_index_map.insert(below(p.start_index_map.rank() + 1), axis);
      if (role == 1) {
        p.collapsed_dims.push_back(axis);
      } else {
        p.window[axis] = below(4) == 0 ? n : below(static_cast<int>(n)) + 1;
        kept.push_back(p.window[axis]);
      }
    }
    Shape positions;
    for (int k = below(3); k > 0; --k) positions.push_back(below(6) == 0 ? 300 : below(4) + 1);
    for (const int64_t axis : p.operand_batch_dims) {
      const int at = below(positions.rank() + 1);
      positions.insert(at, t.operand[static_cast<int>(axis)]);
      for (int64_t& other : p.indices_batch_dims) other += other >= at;
      p.indices_batch_dims.push_back(at);
    }
    t.indices = positions;
    t.indices.push_back(p.start_index_map.rank());
    std::vector<bool> is_offset(static_cast<size_t>(kept.rank() + positions.rank()), false);
    std::fill_n(is_offset.begin(), kept.rank(), true);
    std::shuffle(is_offset.begin(), is_offset.end(), rng_);
    for (size_t i = 0, of_kept = 0, of_positions = 0; i < is_offset.size(); ++i) {
      if (is_offset[i]) p.offset_dims.push_back(static_cast<int64_t>(i));
      t.result.push_back(is_offset[i] ? kept[static_cast<int>(of_kept++)]
                                      : positions[static_cast<int>(of_positions++)]);
    }
    t.operand_values = values(t.operand.numel());
    t.update_values = values(t.result.numel());
    for (int64_t i = 0; i < t.indices.numel(); ++i) t.index_values.push_back(below(12) - 3);
    return t;
  }

 private:
  int below(int n) { return static_cast<int>(rng_() % static_cast<unsigned>(n)); }
  Longs values(int64_t n) {
    Longs v;
    for (int64_t i = 0; i < n; ++i) v.push_back(below(200) - 100);
    return v;
  }
  std::mt19937 rng_;
};

// Calls f(operand element or -1, result element) for all positions in their order.
template <class F>
void by_definition(const Trial& t, const F& f) {
  const GatherParams& p = t.params;
  const Shape in = row_major_strides(t.operand), out = row_major_strides(t.result);
  Shape positions;
  for (int i = 0; i + 1 < t.indices.rank(); ++i) positions.push_back(t.indices[i]);
  const int64_t keys = t.indices.back();
  for (int64_t n = 0; n < positions.numel(); ++n) {
    Shape index = Shape::filled(positions.rank(), 0);
    for (int64_t rest = n, axis = positions.rank() - 1; axis >= 0; --axis) {
      index[static_cast<int>(axis)] = rest % positions[static_cast<int>(axis)];
      rest /= positions[static_cast<int>(axis)];
    }
    Shape start = Shape::filled(t.operand.rank(), 0);
    bool inside = true;
    for (int64_t k = 0; k < keys; ++k) {
      const int axis = static_cast<int>(p.start_index_map[static_cast<int>(k)]);
      const int64_t last = t.operand[axis] - p.window[axis],
                    at = t.index_values[static_cast<size_t>(n * keys + k)];
      start[axis] = std::clamp<int64_t>(at, 0, last);
      inside = inside && (p.clip || start[axis] == at);
    }
    for (int i = 0; i < p.operand_batch_dims.rank(); ++i) {
      start[static_cast<int>(p.operand_batch_dims[i])] =
          index[static_cast<int>(p.indices_batch_dims[i])];
    }
    for (int64_t w = 0; w < p.window.numel(); ++w) {
      int64_t rest = w, from = 0, to = 0;
      int kept = p.offset_dims.rank() - 1;
      for (int axis = t.operand.rank() - 1; axis >= 0; --axis) {
        const int64_t at = rest % p.window[axis];
        rest /= p.window[axis];
        from += (start[axis] + at) * in[axis];
        if (p.collapsed_dims.contains(axis) || p.operand_batch_dims.contains(axis)) continue;
        to += at * out[static_cast<int>(p.offset_dims[kept--])];
      }
      for (int axis = 0, position = 0; axis < t.result.rank(); ++axis) {
        if (!p.offset_dims.contains(axis)) to += index[position++] * out[axis];
      }
      f(inside ? from : -1, to);
    }
  }
}

template <class F>
void over_trials(const F& f) {
  const int before = threads();
  Maker maker(11);
  for (int k = 0; k < 300; ++k) {
    Trial t = maker.make();
    while (t.result.numel() > 20000) t = maker.make();
    const Params params = Params::make(t.params);
    SCOPED_TRACE(to_string(t.operand) + " at " + to_string(t.indices) + " " + params.text());
    set_threads(k % 2 == 0 ? 1 : 4);
    f(t, params);
    if (testing::Test::HasFailure()) break;
  }
  set_threads(before);
}

TEST(Gather, AsDefined) {
  over_trials([](const Trial& t, const Params& params) {
    Longs expected(t.update_values.size(), -1);
    by_definition(t, [&](int64_t from, int64_t to) {
      expected[static_cast<size_t>(to)] =
          from < 0 ? 0 : t.operand_values[static_cast<size_t>(from)];
    });
    for (const Dtype dtype : {int8, int16, int32, int64}) {
      const Array got = bind1(
          gather_p,
          {astype(array(t.operand_values, t.operand), dtype), array(t.index_values, t.indices)},
          params);
      ASSERT_EQ(got.shape(), t.result);
      ASSERT_EQ(astype(got, int64).to_vector<int64_t>(), expected);
    }
  });
}

TEST(Scatter, AsDefined) {
  using Combine = int64_t (*)(int64_t, int64_t);
  const std::pair<const Primitive*, Combine> kinds[] = {
      {&scatter_p, [](int64_t, int64_t u) { return u; }},
      {&scatter_add_p, [](int64_t a, int64_t u) { return a + u; }},
      {&scatter_mul_p,
       [](int64_t a, int64_t u) {
         return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(u));
       }},
      {&scatter_min_p, [](int64_t a, int64_t u) { return std::min(a, u); }},
      {&scatter_max_p, [](int64_t a, int64_t u) { return std::max(a, u); }}};
  over_trials([&](const Trial& t, const Params& params) {
    for (const auto& [primitive, combine] : kinds) {
      Longs expected = t.operand_values;
      by_definition(t, [&, combine = combine](int64_t to, int64_t from) {
        if (to < 0) return;
        int64_t& x = expected[static_cast<size_t>(to)];
        x = combine(x, t.update_values[static_cast<size_t>(from)]);
      });
      const Array got = bind1(*primitive,
                              {array(t.operand_values, t.operand), array(t.index_values, t.indices),
                               array(t.update_values, t.result)},
                              params);
      ASSERT_EQ(got.to_vector<int64_t>(), expected) << primitive->name;
    }
  });
}

// The output may lie over any input of its size.
TEST(Scatter, OverEachInput) {
  const Aval operand{int32, false, {4}}, indices{int32, false, {4, 1}};
  const Params params = Params::make(rules::take_params({4}, 0, 1));
  for (int over = 0; over < 3; ++over) {
    std::vector<int32_t> x = {1, 2, 3, 4}, i = {3, 0, 0, 1}, u = {10, 20, 30, 40};
    const View in[] = {{x.data(), &operand}, {i.data(), &indices}, {u.data(), &operand}};
    const View out[] = {in[over].data == i.data() ? View{i.data(), &operand} : in[over]};
    scatter_add_p.cpu({in, out, params});
    const auto* y = out[0].as<int32_t>();
    EXPECT_EQ(std::vector<int32_t>(y, y + 4), (std::vector<int32_t>{51, 42, 3, 14})) << over;
  }
}

TEST(Scatter, FloatSumsDoNotDependOnThreads) {
  std::mt19937 rng(4);
  std::vector<int32_t> rows(2000);
  for (int32_t& r : rows) r = static_cast<int32_t>(rng() % 7);
  std::vector<float> values(2000 * 90);
  for (float& v : values) v = static_cast<float>(rng() % 1000) * 1e-3f;
  const Array v = array(values, {2000, 90}), i = array(rows);
  const int before = threads();
  set_threads(1);
  const std::vector<float> one = zeros({7, 90}).at(i).add(v).to_vector<float>();
  set_threads(4);
  EXPECT_EQ(zeros({7, 90}).at(i).add(v).to_vector<float>(), one);
  set_threads(before);
}

// Indices of all kinds into an axis of that size: some outside, in disorder or sorted, many equal.
std::vector<int64_t> many_indices(int64_t count, int64_t size, bool sorted, std::mt19937& rng) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  for (int64_t& i : out) i = static_cast<int64_t>(rng() % static_cast<uint64_t>(size + 6)) - 3;
  if (sorted) std::sort(out.begin(), out.end());
  return out;
}

// Rows of `width` elements; 1 for single elements.
TEST(Gather, OfManyRowsAndElementsInEveryDtype) {
  std::mt19937 rng(21);
  const int before = threads();
  for (const int64_t width : {1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 64, 300}) {
    const int64_t rows = 1000, count = 300000 / width;
    std::vector<int32_t> values(static_cast<size_t>(rows * width));
    for (int32_t& v : values) v = static_cast<int32_t>(rng() % 120);
    for (const bool sorted : {false, true}) {
      const std::vector<int64_t> at = many_indices(count, rows, sorted, rng);
      for (const bool clip : {false, true}) {
        std::vector<int32_t> expected;
        for (const int64_t i : at) {
          const int64_t r = std::clamp<int64_t>(i, 0, rows - 1);
          for (int64_t k = 0; k < width; ++k)
            expected.push_back(clip || r == i ? values[static_cast<size_t>(r * width + k)] : 0);
        }
        for (const Dtype dtype : {int8, bfloat16, float32, int32, float64}) {
          for (const int n : {1, 4}) {
            set_threads(n);
            GatherParams p = rules::take_params({rows, width}, 0, 1);
            p.clip = clip;
            const Dtype of_index = n == 1 ? int32 : int64;
            const Array got = bind1(gather_p,
                                    {astype(array(values, {rows, width}), dtype),
                                     astype(array(at, {count, 1}), of_index)},
                                    Params::make(p));
            ASSERT_EQ(astype(got, int32).to_vector<int32_t>(), expected) << width << " wide";
          }
        }
      }
    }
  }
  set_threads(before);
}

TEST(Scatter, OfManyRowsAndElementsIsInOrderWhateverTheThreads) {
  std::mt19937 rng(22);
  const int before = threads();
  for (const int64_t width : {1, 3, 64}) {
    for (const int64_t rows : {int64_t{7}, int64_t{9000}, int64_t{60000}}) {
      const int64_t count = 400000 / width;
      const std::vector<int64_t> at = many_indices(count, rows, width == 3, rng);
      std::vector<float> updates(static_cast<size_t>(count * width));
      for (float& u : updates) u = static_cast<float>(rng() % 1000) * 1e-3f;
      std::vector<float> sums(static_cast<size_t>(rows * width));
      std::vector<float> lasts(sums.size(), 7.0f);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t r = at[static_cast<size_t>(i)];
        if (r < 0 || r >= rows) continue;
        for (int64_t k = 0; k < width; ++k) {
          const float u = updates[static_cast<size_t>(i * width + k)];
          sums[static_cast<size_t>(r * width + k)] += u;
          lasts[static_cast<size_t>(r * width + k)] = u;
        }
      }
      GatherParams p = rules::take_params({rows, width}, 0, 1);
      p.clip = false;
      const Array x = zeros({rows, width}), u = array(updates, {count, width}),
                  wide_index = array(at, {count, 1}), narrow_index = astype(wide_index, int32);
      for (const int n : {1, 2, 3, 4, 8}) {
        set_threads(n);
        const Array& i = n % 3 == 1 ? narrow_index : wide_index;
        ASSERT_EQ(bind1(scatter_add_p, {x, i, u}, Params::make(p)).to_vector<float>(), sums)
            << width << " wide, " << n << " threads";
        ASSERT_EQ(bind1(scatter_p, {x + 7.0f, i, u}, Params::make(p)).to_vector<float>(), lasts);
        const Array whole = bind1(scatter_add_p, {astype(x, int32), i, astype(u * 1000.0f, int32)},
                                  Params::make(p));
        ASSERT_EQ(
            whole.to_vector<int32_t>(),
            bind1(scatter_add_p, {astype(x, int64), i, astype(u * 1000.0f, int32).astype(int64)},
                  Params::make(p))
                .astype(int32)
                .to_vector<int32_t>());
        // bf16 is summed in f32.
        const Array halves =
            bind1(scatter_add_p, {astype(x, bfloat16), i, astype(u, bfloat16)}, Params::make(p));
        const Array wide =
            bind1(scatter_add_p, {x, i, astype(astype(u, bfloat16), float32)}, Params::make(p));
        ASSERT_EQ(astype(halves, float32).to_vector<float>(),
                  astype(astype(wide, bfloat16), float32).to_vector<float>());
      }
    }
  }
  set_threads(before);
}

TEST(Gather, RefusesParametersThatDoNotFit) {
  constexpr const char* kEnd = "; parameters";
  const Array x = zeros({3, 4}), i = zeros({2, 1}, int32);
  const auto with = [&](auto change) {
    GatherParams p = rules::take_params({3, 4}, 0, 1);
    change(p);
    return message([&] { return bind1(gather_p, {x, i}, Params::make(p)); }, kEnd);
  };
  const std::string head = "gather(f32[3,4], i32[2,1]): ";
  EXPECT_EQ(with([](GatherParams&) {}), "nothing was thrown");
  EXPECT_EQ(with([](GatherParams& p) { p.collapsed_dims = {2}; }),
            head + "collapsed_dims must be distinct axes below 2");
  EXPECT_EQ(
      with([](GatherParams& p) {
        p.start_index_map = {0, 1};
      }),
      head + "the last axis of the indices must have one entry for each axis in start_index_map");
  EXPECT_EQ(with([](GatherParams& p) { p.window = {1}; }),
            head + "window needs a size for each axis of the operand");
  EXPECT_EQ(with([](GatherParams& p) {
              p.window = {1, 5};
            }),
            head + "the window is larger than the operand");
  EXPECT_EQ(with([](GatherParams& p) {
              p.window = {1, 5}, p.clip = false;
            }),
            head + "the window is larger than the operand");
  EXPECT_EQ(with([](GatherParams& p) {
              p.window = {1, -1};
            }),
            head + "window sizes cannot be negative");
  EXPECT_EQ(with([](GatherParams& p) {
              p.window = {2, 4};
            }),
            head + "an axis that is left out has window 1");
  EXPECT_EQ(with([](GatherParams& p) { p.offset_dims = {}; }),
            head + "offset_dims must name one axis for each window axis that is kept");
  EXPECT_EQ(with([](GatherParams& p) { p.offset_dims = {7}; }),
            head + "offset_dims must be distinct axes below 2");
  EXPECT_EQ(with([](GatherParams& p) { p.indices_batch_dims = {0}; }),
            head + "the lists of batch axes differ in length");
  EXPECT_EQ(with([](GatherParams& p) {
              p.offset_dims = {}, p.operand_batch_dims = {1}, p.indices_batch_dims = {0};
            }),
            head + "the sizes of the batch axes differ");
  EXPECT_EQ(message(
                [&] {
                  return bind1(gather_p, {x, x}, Params::make(rules::take_params({3, 4}, 0, 1)));
                },
                kEnd),
            "gather(f32[3,4], f32[3,4]): the indices must be integers; convert them with astype");
  EXPECT_EQ(
      message(
          [&] {
            return bind1(scatter_p, {x, i, x}, Params::make(rules::take_params({3, 4}, 0, 1)));
          },
          kEnd),
      "scatter(f32[3,4], i32[2,1], f32[3,4]): the updates must have shape [2,4]");
}

}  // namespace gather_test
}  // namespace spruce
