// SPDX-License-Identifier: Apache-2.0
// Elements and rows at index arrays: read, added and set, forward and as gradients.
#include "benchmarks/bench.h"

namespace bench {
namespace {

constexpr int64_t kMillion = 1024 * 1024;

// i32 below `high` from JAX's key(seed).
Array places(int64_t seed, int64_t high, const sp::Shape& shape) {
  return sp::random::randint(sp::Key(seed), shape, 0, high);
}

// Each of 0..n-1 once, for n a power of two.
Array shuffled(int64_t n) { return sp::astype(sp::arange(n, sp::int64) * 7919 % n, sp::int32); }

template <class F, class... Args>
Row row(const std::string& name, F f, const Args&... make) {
  return {name, [=](const Settings& s) { return call_of(s, f, make()...); }};
}

// Makes normals of that shape when the row is.
auto drawn(const sp::Shape& shape, sp::Dtype dtype = sp::float32) {
  return [=] { return sp::astype(normals(shape), dtype); };
}
auto drawn_places(int64_t seed, int64_t high, const sp::Shape& shape) {
  return [=] { return places(seed, high, shape); };
}

// The gradient of sum(w * f(x, indices...)) in x.
template <class F>
auto gradient(F f) {
  return [f](const Array& x, const Array& w, const auto&... indices) {
    return sp::grad([&](const Array& v) { return sp::sum(w * f(v, indices...)); })(x);
  };
}

Array take(const Array& x, const Array& i) { return sp::take(x, i, 0); }
Array take_two(const Array& x, const Array& i, const Array& j) { return x[{i, j}]; }
Array take_three(const Array& x, const Array& i, const Array& j, const Array& k) {
  return x[{i, j, k}];
}
Array take_along(const Array& x, const Array& k) { return sp::take_along_axis(x, k, -1); }
Array bag(const Array& table, const Array& ids) { return sp::sum(sp::take(table, ids, 0), 1); }
Array add(const Array& x, const Array& i, const Array& u) { return x.at(i).add(u); }
Array maximum(const Array& x, const Array& i, const Array& u) { return x.at(i).max(u); }

std::vector<Row> reads() {
  const auto rows = drawn_places(1, 50000, {16384});
  const auto elements = drawn_places(1, kMillion, {kMillion});
  const auto i = drawn_places(1, 1024, {kMillion}), j = drawn_places(2, 1024, {kMillion});
  return {
      row("take_rows", take, drawn({50000, 128}), rows),
      row("take_rows_bf16", take, drawn({50000, 128}, sp::bfloat16), rows),
      row("take_rows_grad", gradient(take), drawn({50000, 128}), drawn({16384, 128}), rows),
      row("take_points", take, drawn({4096, 3}), drawn_places(1, 4096, {65536})),
      row("take_1m", take, drawn({kMillion}), elements),
      row(
          "take_sorted_1m", take, [] { return integers(1000, {kMillion}); },
          [=] { return sp::sort(elements()); }),
      row("take_grad_1m", gradient(take), drawn({kMillion}), drawn({kMillion}), elements),
      row("take_bf16_1m", take, drawn({kMillion}, sp::bfloat16), elements),
      row(
          "take_rows_sorted", take,
          [] {
            return integers(1000, {50000, 128});
          },
          [=] { return sp::sort(rows()); }),
      row("take_grad_bf16_1m", gradient(take), drawn({kMillion}, sp::bfloat16),
          drawn({kMillion}, sp::bfloat16), elements),
      row("take_along_1m", take_along, drawn({1024, 1024}), drawn_places(1, 1024, {1024, 1024})),
      row("take_along_grad_1m", gradient(take_along), drawn({1024, 1024}), drawn({1024, 1024}),
          drawn_places(1, 1024, {1024, 1024})),
      row("index_two_1m", take_two, drawn({1024, 1024}), i, j),
      row("index_two_grad_1m", gradient(take_two), drawn({1024, 1024}), drawn({kMillion}), i, j),
      row("index_three_1m", take_three, drawn({64, 128, 128}), drawn_places(1, 64, {kMillion}),
          drawn_places(2, 128, {kMillion}), drawn_places(3, 128, {kMillion})),
      row("index_three_grad_1m", gradient(take_three), drawn({64, 128, 128}), drawn({kMillion}),
          drawn_places(1, 64, {kMillion}), drawn_places(2, 128, {kMillion}),
          drawn_places(3, 128, {kMillion})),
      row("bag", bag, drawn({50000, 64}), drawn_places(1, 50000, {4096, 32})),
      row("bag_bf16", bag, drawn({50000, 64}, sp::bfloat16), drawn_places(1, 50000, {4096, 32})),
      row("bag_grad", gradient(bag), drawn({50000, 64}), drawn({4096, 64}),
          drawn_places(1, 50000, {4096, 32}))};
}

std::vector<Row> updates() {
  const auto rows = drawn_places(1, 5000, {65536});
  return {
      row("add_rows", add, drawn({5000, 128}), rows, drawn({65536, 128})),
      row("add_rows_bf16", add, drawn({5000, 128}, sp::bfloat16), rows,
          drawn({65536, 128}, sp::bfloat16)),
      row("add_points", add, drawn({4096, 4}), drawn_places(1, 4096, {65536}), drawn({65536, 4})),
      row("max_points", maximum, drawn({4096, 8}), drawn_places(1, 4096, {65536}),
          drawn({65536, 8})),
      row("add_1m", add, drawn({kMillion}), drawn_places(1, kMillion, {kMillion}),
          drawn({kMillion})),
      row(
          "add_two_1m",
          [](const Array& i, const Array& j) {
            return sp::zeros({1024, 1024}).at(i, j).add(1.0f);
          },
          drawn_places(1, 1024, {kMillion}), drawn_places(2, 1024, {kMillion})),
      row(
          "add_i32_1m", add, [] { return integers(1000, {kMillion}); },
          drawn_places(1, kMillion, {kMillion}), [] { return integers(1000, {kMillion}); }),
      row(
          "add_sorted_1m", add, drawn({kMillion}),
          [] { return sp::sort(places(1, kMillion, {kMillion})); }, drawn({kMillion})),
      row("max_1m", maximum, drawn({kMillion}), drawn_places(1, kMillion, {kMillion}),
          [] { return 2.0f * normals({kMillion}); }),
      row(
          "set_rows", [](const Array& x, const Array& i, const Array& u) { return x.at(i).set(u); },
          [] {
            return sp::zeros({65536, 128});
          },
          [] { return shuffled(65536); }, drawn({65536, 128})),
      row(
          "count_1m", [](const Array& labels) { return sp::bincount(labels, 1000); },
          drawn_places(1, 1000, {kMillion})),
      row(
          "set_1m", [](const Array& x, const Array& i, const Array& u) { return x.at(i).set(u); },
          [] { return sp::zeros({kMillion}); }, [] { return shuffled(kMillion); },
          drawn({kMillion}))};
}

// For each of 80,000 edges, the row of one node of 10,000 added to that of another.
Array sums_by_segment(const Array& x, const Array& from, const Array& to) {
  return sp::zeros(x.shape()).at(to).add(sp::take(x, from, 0));
}

// One step of learning which rows of two tables belong together, over the tables' memory.
Call tables(const Settings& s) {
  const auto plain = [](Array a, Array b, const Array& i, const Array& j) {
    const Array u = sp::take(a, i, 0), v = sp::take(b, j, 0);
    const Array p = nn::sigmoid(sp::sum(u * v, -1));
    const Array step = 0.05f * sp::expand_dims(1.0f - p, -1);
    return std::tuple{std::move(a).at(i).add(step * v), std::move(b).at(j).add(step * u),
                      sp::mean(p)};
  };
  auto carry = std::make_shared<std::pair<Array, Array>>(0.1f * normals({50000, 128}),
                                                         0.2f * normals({50000, 128}));
  const Array i = places(1, 50000, {8192}), j = places(2, 50000, {8192});
  const MaybeJit<std::remove_const_t<decltype(plain)>> run(s, plain);
  return {[run, carry, i, j] {
            auto [a, b, value] = run(std::move(carry->first), std::move(carry->second), i, j);
            *carry = {std::move(a), std::move(b)};
            return std::vector<Array>{value};
          },
          [plain, carry, i, j] { return sp::make_graph(plain)(carry->first, carry->second, i, j); },
          [run, carry, i, j] { run.lower(carry->first, carry->second, i, j); }};
}

// An image at its own places moved by (dy, dx), between the four pixels around each.
Array warp(const Array& image, const Array& dy, const Array& dx) {
  const int64_t h = image.shape(0), w = image.shape(1);
  const auto within = [](const Array& at, int64_t n) {
    return sp::clip(at, 0.0f, static_cast<float>(n) - 1.001f);
  };
  const Array y = within(dy + sp::expand_dims(sp::arange(h, sp::float32), 1), h);
  const Array x = within(dx + sp::arange(w, sp::float32), w);
  const Array y0 = sp::floor(y), x0 = sp::floor(x), fy = y - y0, fx = x - x0;
  const Array i = sp::astype(y0, sp::int32), j = sp::astype(x0, sp::int32);
  const Array top = image[{i, j}] * (1.0f - fx) + image[{i, j + 1}] * fx;
  const Array bottom = image[{i + 1, j}] * (1.0f - fx) + image[{i + 1, j + 1}] * fx;
  return top * (1.0f - fy) + bottom * fy;
}

}  // namespace

std::vector<Row> gather_rows() {
  std::vector<Row> out = reads();
  for (Row& r : updates()) out.push_back(std::move(r));
  const auto from = drawn_places(1, 10000, {80000}), to = drawn_places(2, 10000, {80000});
  out.push_back(row("segment", sums_by_segment, drawn({10000, 64}), from, to));
  out.push_back(row("segment_sorted", sums_by_segment, drawn({10000, 64}), from,
                    [to] { return sp::sort(to()); }));
  out.push_back({"tables", tables});
  const sp::Shape images{16, 256, 256};
  out.push_back(row(
      "warp",
      [](const Array& x, const Array& dy, const Array& dx) { return sp::vmap(warp)(x, dy, dx); },
      drawn(images), [=] { return 3.0f * sp::random::normal(sp::Key(1), images); },
      [=] { return 3.0f * sp::random::normal(sp::Key(2), images); }));
  return out;
}

}  // namespace bench
