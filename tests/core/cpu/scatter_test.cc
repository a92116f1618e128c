// SPDX-License-Identifier: Apache-2.0
// Scatters against one update after the other, on one thread and on several.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <type_traits>

#include "spruce/core/cpu/index/elements.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/core/rules/gather.h"

namespace spruce {
namespace scatter_test {

// x[i[k]] = f(x[i[k]], u[k]) for each k in turn; what is outside is left out.
template <class T, class F>
std::vector<T> in_turn(const Array& x, const Array& i, const Array& u, const F& f) {
  const auto values = x.data<T>(), updates = u.data<T>();
  const auto places = i.data<int32_t>();
  std::vector<T> out(values.begin(), values.end());
  const int64_t row = u.size() / std::max<int64_t>(1, i.size());
  for (int64_t k = 0; k < i.size(); ++k) {
    const int64_t at = places[static_cast<size_t>(k)];
    if (at < 0 || at >= x.shape(0)) continue;
    for (int64_t j = 0; j < row; ++j) {
      T& to = out[static_cast<size_t>(at * row + j)];
      to = f(to, updates[static_cast<size_t>(k * row + j)]);
    }
  }
  return out;
}

// Whole numbers wrap around.
template <class T>
T product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
void expect_all(int64_t n, int64_t row, int64_t count) {
  const Dtype dtype = dtype_of<T>();
  const Shape shape = row == 1 ? Shape{n} : Shape{n, row};
  const Shape of_updates = row == 1 ? Shape{count} : Shape{count, row};
  const Array x = astype(random::randint(Key(1), shape, 1, 5), dtype);
  const Array u = astype(random::randint(Key(2), of_updates, 1, 3), dtype);
  // Many places are met several times, some are outside.
  const Array i = random::randint(Key(3), {count}, -2, n + 3);
  GatherParams p = rules::take_params(shape, 0, 1);
  p.clip = false;
  const int before = threads();
  for (const int team : {1, 2, 4}) {
    set_threads(team);
    const auto expect = [&](const Primitive& primitive, const auto& f) {
      const Array y = bind1(primitive, {x, expand_dims(i, -1), u}, Params::make(p));
      const std::vector<T> wanted = in_turn<T>(x, i, u, f);
      EXPECT_EQ(std::memcmp(y.data<T>().data(), wanted.data(), wanted.size() * sizeof(T)), 0)
          << primitive.name << " " << to_string(x.aval()) << " " << to_string(u.aval()) << " "
          << team;
    };
    expect(scatter_p, [](T, T b) { return b; });
    expect(scatter_add_p, [](T a, T b) { return static_cast<T>(a + b); });
    expect(scatter_mul_p, product<T>);
    expect(scatter_min_p, [](T a, T b) { return std::min(a, b); });
    expect(scatter_max_p, [](T a, T b) { return std::max(a, b); });
  }
  set_threads(before);
}

TEST(Scatter, OfElementsIsOneUpdateAfterTheOther) {
  for (const auto& [n, count] :
       {std::pair<int64_t, int64_t>{1, 0}, {1, 5}, {700, 600}, {3000, 900000}}) {
    expect_all<float>(n, 1, count);
    expect_all<int32_t>(n, 1, count);
  }
  expect_all<double>(700, 1, 1300);
  expect_all<uint8_t>(700, 1, 1300);
  expect_all<int16_t>(700, 1, 1300);
  expect_all<int64_t>(700, 1, 1300);
}

TEST(Scatter, OfRowsIsOneUpdateAfterTheOther) {
  for (const int64_t row : {2, 3, 4, 6, 8, 15, 16, 33}) {
    expect_all<float>(90, row, 1100);
    expect_all<int32_t>(90, row, 1100);
    expect_all<double>(90, row, 1100);
    expect_all<uint8_t>(90, row, 1100);
    expect_all<int16_t>(90, row, 1100);
    expect_all<int64_t>(90, row, 1100);
  }
  expect_all<float>(5000, 128, 3000);
  expect_all<float>(30000, 4, 3000);
  expect_all<float>(90, 3, 0);
}

TEST(Scatter, OfRowsKeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t row : {2, 3, 4, 8, 16, 40}) {
    for (int64_t at = 0; at < row; ++at) {
      const Array hit = arange(row) == at;
      const Array u = stack({where(hit, nan, 1.0f), full({row}, 2.0f), full({row}, -2.0f)});
      const Array i = array<int32_t>({1, 1, 1}), x = zeros({3, row});
      EXPECT_TRUE(array_equal(isnan(x.at(i).max(u)[1]), hit)) << row << " " << at;
      EXPECT_TRUE(array_equal(isnan(x.at(i).min(u)[1]), hit)) << row << " " << at;
    }
  }
}

// Those that follow each other wait in registers, some of them; sorted ones are shared out to
// threads where the place changes.
TEST(Scatter, OfSortedRowsIsOneUpdateAfterTheOtherWhateverTheThreads) {
  const int before = threads();
  for (const auto& [row, places] : {std::pair<int64_t, int64_t>{2, 40},
                                    {7, 40},
                                    {8, 40},
                                    {64, 40},
                                    {91, 40},
                                    {200, 40},
                                    {64, 1},
                                    {64, 2},
                                    {64, 3000}}) {
    const int64_t count = 4000;
    const Array x = random::normal(Key(1), {places, row}), u = random::normal(Key(2), {count, row});
    const Array i = sort(random::randint(Key(3), {count}, -2, places + 2));
    GatherParams p = rules::take_params(x.shape(), 0, 1);
    for (const bool clips : {false, true}) {
      p.clip = clips;
      const std::vector<float> wanted = in_turn<float>(x, clips ? clip(i, 0, places - 1) : i, u,
                                                       [](float a, float b) { return a + b; });
      for (const int team : {1, 2, 4}) {
        set_threads(team);
        for (const Dtype dtype : {int32, int64}) {
          const Array index = astype(expand_dims(i, -1), dtype);
          EXPECT_EQ(bind1(scatter_add_p, {x, index, u}, Params::make(p)).to_vector<float>(), wanted)
              << row << " " << places << " " << clips << " " << team;
        }
      }
    }
  }
  set_threads(before);
}

Array clip_to(const Array& i, int32_t n) { return clip(i, 0, n - 1); }

// Elements of an operand with one to three axes, one index for each.
template <class T, class I>
void expect_elements(const Shape& shape, int64_t count, bool clip) {
  const Dtype dtype = dtype_of<T>();
  const int keys = shape.rank();
  const Array x = astype(random::randint(Key(1), shape, 1, 5), dtype);
  const Array u = astype(random::randint(Key(2), {count}, 1, 3), dtype);
  GatherParams p;
  for (int axis = 0; axis < keys; ++axis) {
    p.collapsed_dims.push_back(axis);
    p.start_index_map.push_back(axis);
    p.window.push_back(1);
  }
  p.clip = clip;
  std::vector<Array> columns;
  Array place = zeros({count}, int32), inside = ones({count}, bool_);
  for (int axis = 0; axis < keys; ++axis) {
    const int32_t n = static_cast<int32_t>(shape[axis]);
    const Array i = random::randint(Key(3 + static_cast<uint64_t>(axis)), {count}, -1, n + 1);
    const Array nearest = clip_to(i, n);
    inside = inside & (nearest == i);
    place = place * n + nearest;
    columns.push_back(astype(i, dtype_of<I>()));
  }
  const Array indices = stack(columns, -1), at = where(inside | Array(clip), place, -1);
  const Array flat = reshape(x, {-1});
  const int before = threads();
  const auto expect = [&](const Primitive& primitive, const auto& f) {
    const std::vector<T> wanted = in_turn<T>(flat, at, u, f);
    for (const int team : {1, 2, 4}) {
      set_threads(team);
      const Array y = bind1(primitive, {x, indices, u}, Params::make(p));
      EXPECT_EQ(std::memcmp(y.data<T>().data(), wanted.data(), wanted.size() * sizeof(T)), 0)
          << primitive.name << " " << to_string(x.aval()) << " " << to_string(indices.aval()) << " "
          << team;
    }
  };
  expect(scatter_p, [](T, T b) { return b; });
  expect(scatter_add_p, [](T a, T b) { return static_cast<T>(a + b); });
  expect(scatter_mul_p, product<T>);
  expect(scatter_min_p, [](T a, T b) { return std::min(a, b); });
  expect(scatter_max_p, [](T a, T b) { return std::max(a, b); });
  set_threads(before);
}

// So many updates that several threads take shares of them, into operands that are in the cache and
// that are not.
TEST(ScatterElements, AtVectorsOfIndicesAreInTheirOrderWhateverTheThreads) {
  for (const bool clip : {false, true}) {
    for (const Shape& shape : {Shape{40}, Shape{70001}, Shape{7, 9}, Shape{300, 401},
                               Shape{3, 5, 2}, Shape{40, 50, 60}}) {
      expect_elements<float, int32_t>(shape, 135007, clip);
      expect_elements<int32_t, int32_t>(shape, 1021, clip);
    }
    expect_elements<double, int32_t>({300, 401}, 135007, clip);
    expect_elements<uint8_t, int32_t>({300, 4001}, 135007, clip);
    expect_elements<float, int64_t>({70001}, 135007, clip);
    expect_elements<float, int64_t>({300, 401}, 135007, clip);
  }
}

// Every place is in exactly one share, and keeps its order there.
TEST(ScatterElements, EachIsInOneShare) {
  constexpr int64_t kCount = cpu::kElementBlock - 5;
  const Array drawn = random::randint(Key(7), {kCount}, -1, 100000);
  const auto places = drawn.data<int32_t>();
  for (const int bits : {0, 1, 2, 3}) {
    for (const int block : {0, 4, 12}) {
      std::vector<int> owner(static_cast<size_t>(kCount), -1);
      for (int part = 0; part < 1 << bits; ++part) {
        const cpu::Share share{part, bits, block};
        std::vector<int32_t> to(cpu::kElementRoom), from(cpu::kElementRoom);
        const int64_t kept =
            cpu::keep_elements(share, places.data(), kCount, 9, to.data(), from.data());
        int32_t last = -1;
        for (size_t k = 0; k < static_cast<size_t>(kept); ++k) {
          ASSERT_GT(from[k], last);
          last = from[k];
          const auto i = static_cast<size_t>(from[k] - 9);
          ASSERT_EQ(to[k], places[i]);
          ASSERT_EQ(owner[i], -1);
          ASSERT_TRUE(share.owns(to[k]));
          owner[i] = part;
        }
      }
      for (size_t i = 0; i < owner.size(); ++i) ASSERT_EQ(owner[i] < 0, places[i] < 0);
    }
  }
}

}  // namespace scatter_test
}  // namespace spruce
