// SPDX-License-Identifier: Apache-2.0
// Adam over some rows of a table, against PyTorch's numbers (make_optax_cases.py).
#include "spruce/optim/sparse_adam.h"

#include <gmock/gmock.h>

#include "spruce/optim/adam.h"
#include "tests/core/message.h"
#include "tests/optim/trajectory.h"

namespace spruce::optim {
namespace sparse_adam_test {

using testing::HasSubstr;

IndexedSlices gradient(const Array& table, int64_t t) {
  const Array rows = array({(3 * t + 1) % 5, t % 5, int64_t{4}});
  const Array at = reshape(arange(6, float64), {3, 2});
  return {rows, sin(1.3 * static_cast<double>(t) + at) + 0.1 * take(table, rows, 0)};
}

void check_trajectory(const std::string& name, const SparseAdam& optimizer) {
  const std::vector<double> want = numbers_of(name);
  ASSERT_EQ(want.size(), 50u);
  const auto step = [&](Array table, AdamState<Array> state, const IndexedSlices& grads) {
    auto [updates, next] = optimizer.update(grads, std::move(state), table);
    return std::pair{apply_updates(std::move(table), updates), std::move(next)};
  };
  const auto compiled = jit([&](const Array& table, const AdamState<Array>& state,
                                const IndexedSlices& grads) { return step(table, state, grads); });
  for (const bool eager : {true, false}) {
    Array table = reshape(sin(arange(10, float64)), {5, 2});
    auto state = optimizer.init(table);
    size_t at = 0;
    for (const int64_t last : {1, 2, 5, 20, 200}) {
      for (int64_t t = state.count.item<int32_t>(); t < last; ++t) {
        const IndexedSlices grads = gradient(table, t);
        std::tie(table, state) = eager ? step(std::move(table), std::move(state), grads)
                                       : compiled(std::move(table), std::move(state), grads);
      }
      for (const double v : ravel(table).to_vector<double>()) {
        EXPECT_NEAR(v, want[at], 1e-9 * std::max(0.1, std::abs(want[at])))
            << name << " after " << last << " steps, " << (eager ? "eager" : "compiled");
        ++at;
      }
    }
  }
  EXPECT_EQ(compiled.trace_count(), 1);
}

TEST(Trajectories, SparseAdamAsTorch) {
  check_trajectory("torch_sparse_adam", sparse_adam({.learning_rate = 0.1}));
  check_trajectory("torch_sparse_adam_options",
                   sparse_adam({.learning_rate = 0.05, .b1 = 0.5, .b2 = 0.75, .eps = 0.125}));
}

TEST(SparseAdam, RowsWithoutAGradientStayAsTheyAre) {
  const auto optimizer = sparse_adam({.learning_rate = 0.1});
  const Array table = reshape(arange(8.0f), {4, 2});
  auto state = optimizer.init(table);
  const IndexedSlices first{array({1, -1, 1}), ones({3, 2})};
  const auto [updates, next] = optimizer.update(first, state, table);
  const Array moved = apply_updates(table, updates);
  EXPECT_TRUE(array_equal(any(moved != table, 1), array({false, true, false, true})));
  EXPECT_TRUE(array_equal(any(next.mu != 0.0f, 1), array({false, true, false, true})));
  // Row 1 has the sum of two gradients, which is what its moments are of.
  EXPECT_TRUE(allclose(next.mu[1], full({2}, 0.2f)));
  EXPECT_TRUE(allclose(next.nu[1], full({2}, 0.004f)));
  EXPECT_TRUE(allclose(next.mu[3], full({2}, 0.1f)));
  // A step without rows counts, and moves nothing.
  const auto [nothing, last] = optimizer.update({zeros({0}, int32), zeros({0, 2})}, next, moved);
  EXPECT_TRUE(array_equal(apply_updates(moved, nothing), moved));
  EXPECT_TRUE(array_equal(last.mu, next.mu));
  EXPECT_EQ(last.count.item<int32_t>(), 2);
}

// With all rows it is Adam, but for eps, which stands beside the root whose bias is there.
TEST(SparseAdam, OfAllRowsIsAdam) {
  const Array table = reshape(sin(arange(6, float64)), {3, 2}), g = cos(table);
  const auto sparse = sparse_adam({.learning_rate = 0.1, .eps = 0});
  const auto dense = adam({.learning_rate = 0.1, .eps = 0});
  auto s = sparse.init(table);
  auto d = dense.init(table);
  for (int i = 0; i < 3; ++i) {
    const auto [rows, next_s] = sparse.update({arange(3), g}, s, table);
    const auto [all, next_d] = dense.update(g, d, table);
    EXPECT_TRUE(allclose(rows.values, all, {.rtol = 1e-14}));
    s = next_s;
    d = next_d;
  }
}

TEST(SparseAdam, BadInput) {
  const auto optimizer = sparse_adam();
  const Array table = ones({4, 2});
  const auto state = optimizer.init(table);
  const auto update = [&](const Array& indices, const Array& values) {
    optimizer.update({indices, values}, state, table);
  };
  EXPECT_THAT(message<ShapeError>([&] {
                update(array({1, 2}), ones({2, 3}));
              }),
              HasSubstr("sparse_adam: the table is f32[4,2], indices i32[2] and values f32[2,3]; "
                        "they must be f[rows, d...], i[n] and f[n, d...]"));
  EXPECT_THAT(message<DtypeError>([&] {
                update(array({1.0f}), ones({1, 2}));
              }),
              HasSubstr("indices must be integers"));
  EXPECT_THROW(update(array({1}), ones({1, 2}, float64)), DtypeError);
  EXPECT_THROW(update(array({4}), ones({1, 2})), IndexError);
  EXPECT_THROW(update(array({-5}), ones({1, 2})), IndexError);
  EXPECT_THROW(optimizer.update({array({1}), ones({1, 2})}, optimizer.init(ones({3, 2})), table),
               ShapeError);
  EXPECT_THROW(optimizer.update({Array(), ones({1, 2})}, state, table), ValueError);
  EXPECT_THROW(sparse_adam({.learning_rate = -1}), ValueError);
  EXPECT_THROW(sparse_adam({.b1 = 1}), ValueError);
}

}  // namespace sparse_adam_test
}  // namespace spruce::optim
