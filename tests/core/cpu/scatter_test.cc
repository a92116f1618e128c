// SPDX-License-Identifier: Apache-2.0
// Scatters against one update after the other, on one thread and on several.
#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

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
  std::vector<T> out(values.begin(), values.end());
  const int64_t row = u.size() / std::max<int64_t>(1, i.size());
  for (int64_t k = 0; k < i.size(); ++k) {
    const int64_t at = i.data<int32_t>()[static_cast<size_t>(k)];
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
  for (const int64_t row : {2, 15, 16, 33}) {
    expect_all<float>(90, row, 1100);
    expect_all<double>(90, row, 1100);
    expect_all<uint8_t>(90, row, 1100);
    expect_all<int16_t>(90, row, 1100);
    expect_all<int64_t>(90, row, 1100);
  }
  expect_all<float>(5000, 128, 3000);
  expect_all<float>(90, 3, 0);
}

}  // namespace scatter_test
}  // namespace spruce
