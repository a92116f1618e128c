// SPDX-License-Identifier: Apache-2.0
// Two and three index arrays: eager, compiled, mapped and differentiated, against loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace indices_test {

// i32 from -size to size - 1, or also outside of that.
std::vector<int32_t> places(int64_t size, bool outside, std::mt19937& rng) {
  std::vector<int32_t> out(500);
  const int64_t more = outside ? 3 : 0;
  for (int32_t& i : out)
    i = static_cast<int32_t>(
        static_cast<int64_t>(rng() % static_cast<uint64_t>(2 * (size + more))) - size - more);
  return out;
}

int64_t wrapped(int32_t i, int64_t size) { return i < 0 ? i + size : i; }

struct Trial {
  Shape shape;
  std::vector<std::vector<int32_t>> at;
  std::vector<float> values;

  Trial(const Shape& s, bool outside, std::mt19937& rng) : shape(s) {
    for (const int64_t n : s) at.push_back(places(n, outside, rng));
    for (int64_t k = 0; k < s.numel(); ++k) values.push_back(static_cast<float>(k) + 0.5f);
  }
  Array x() const { return array(values, shape); }
  std::vector<Array> indices() const {
    std::vector<Array> out;
    for (const auto& i : at) out.push_back(array(i));
    return out;
  }
  // The element that index vector k names; an index outside is moved to its axis, or gives -1.
  int64_t place(size_t k, bool nearest) const {
    int64_t p = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const int64_t i = wrapped(at[static_cast<size_t>(axis)][k], shape[axis]);
      const int64_t inside = std::clamp<int64_t>(i, 0, shape[axis] - 1);
      if (!nearest && inside != i) return -1;
      p = p * shape[axis] + inside;
    }
    return p;
  }
};

Array read(const Array& x, const std::vector<Array>& i) {
  return i.size() == 2 ? x[{i[0], i[1]}] : x[{i[0], i[1], i[2]}];
}
Array added(const Array& x, const std::vector<Array>& i, const Array& u) {
  return i.size() == 2 ? x.at(i[0], i[1]).add(u) : x.at(i[0], i[1], i[2]).add(u);
}

class Indices : public testing::TestWithParam<Shape> {
 protected:
  std::mt19937 rng_{7};
};

TEST_P(Indices, ReadTheNearestElementCompiledAndTheSameEagerly) {
  for (const bool outside : {false, true}) {
    const Trial t(GetParam(), outside, rng_);
    std::vector<float> expected;
    for (size_t k = 0; k < t.at[0].size(); ++k)
      expected.push_back(t.values[static_cast<size_t>(t.place(k, true))]);
    EXPECT_EQ(jit(read)(t.x(), t.indices()).to_vector<float>(), expected);
    if (outside)
      EXPECT_THROW((void)read(t.x(), t.indices()), IndexError);
    else
      EXPECT_EQ(read(t.x(), t.indices()).to_vector<float>(), expected);
  }
}

TEST_P(Indices, LeaveOutUpdatesOutsideCompiledAndTheSameEagerly) {
  for (const bool outside : {false, true}) {
    const Trial t(GetParam(), outside, rng_);
    const Array u = arange(static_cast<int64_t>(t.at[0].size()), float32);
    std::vector<float> expected = t.values;
    for (size_t k = 0; k < t.at[0].size(); ++k) {
      if (const int64_t p = t.place(k, false); p >= 0)
        expected[static_cast<size_t>(p)] += static_cast<float>(k);
    }
    EXPECT_EQ(jit(added)(t.x(), t.indices(), u).to_vector<float>(), expected);
    if (outside)
      EXPECT_THROW((void)added(t.x(), t.indices(), u), IndexError);
    else
      EXPECT_EQ(added(t.x(), t.indices(), u).to_vector<float>(), expected);
  }
}

TEST_P(Indices, GradientAddsUpWhereReadsMeet) {
  const Trial t(GetParam(), false, rng_);
  const Array w = arange(static_cast<int64_t>(t.at[0].size()), float32);
  std::vector<float> expected(t.values.size());
  for (size_t k = 0; k < t.at[0].size(); ++k)
    expected[static_cast<size_t>(t.place(k, true))] += static_cast<float>(k);
  const auto gradient = [](const Array& x, const std::vector<Array>& i, const Array& weights) {
    return grad([&](const Array& v) { return sum(weights * read(v, i)); })(x);
  };
  EXPECT_EQ(gradient(t.x(), t.indices(), w).to_vector<float>(), expected);
  EXPECT_EQ(jit(gradient)(t.x(), t.indices(), w).to_vector<float>(), expected);
}

TEST_P(Indices, MappedOverArraysAndIndices) {
  const Trial a(GetParam(), false, rng_), b(GetParam(), false, rng_);
  std::vector<Array> both;
  for (size_t k = 0; k < a.at.size(); ++k) both.push_back(stack({array(a.at[k]), array(b.at[k])}));
  const Array x = stack({a.x(), 2.0f * b.x()});
  const Array expected = stack({read(a.x(), a.indices()), read(2.0f * b.x(), b.indices())});
  EXPECT_EQ(vmap(read)(x, both).to_vector<float>(), expected.to_vector<float>());
  EXPECT_EQ(jit(vmap(read))(x, both).to_vector<float>(), expected.to_vector<float>());
}

INSTANTIATE_TEST_SUITE_P(OfTwoAndThreeAxes, Indices,
                         testing::Values(Shape{5, 7}, Shape{1, 300}, Shape{3, 4, 5}));

TEST(Indices, OfIntegersSlicesAndArraysSideBySide) {
  const Array x = reshape(arange(4 * 5 * 6 * 3, float32), {4, 5, 6, 3});
  const Array i = array<int32_t>({0, -1, 2}), j = array<int32_t>({5, 0, -6});
  const auto reads = [](const Array& v, const Array& a, const Array& b) {
    return std::vector<Array>{v[{a, 2, b}], v[{slice(1, 3), a, b}], v[{expand_dims(a, 1), a, b}],
                              v[{a, slice(0, 5, 2), b}], v[{2, a, b, slice(none, none, -1)}]};
  };
  const auto updates = [](const Array& v, const Array& a, const Array& b) {
    return std::vector<Array>{v.at(a, 2, b).set(1.0f), v.at(slice(1, 3), a, b).add(1.0f),
                              v.at(slice(none, none, 2), a, b).add(2.0f),
                              v.at(1, a, 3, slice(1, 3)).add(3.0f),
                              v.at(a, slice(0, 4), b).add(4.0f)};
  };
  const auto eager_reads = reads(x, i, j), compiled_reads = jit(reads)(x, i, j);
  const auto eager_updates = updates(x, i, j), compiled_updates = jit(updates)(x, i, j);
  for (size_t k = 0; k < eager_reads.size(); ++k) {
    EXPECT_EQ(eager_reads[k].to_vector<float>(), compiled_reads[k].to_vector<float>()) << k;
    EXPECT_EQ(eager_updates[k].to_vector<float>(), compiled_updates[k].to_vector<float>()) << k;
  }
  EXPECT_EQ(eager_reads[0].to_vector<float>()[3], (x[{3, 2, 0, 0}].item<float>()));
  EXPECT_EQ(eager_reads[1].shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(eager_reads[2].shape(), (Shape{3, 3, 3}));
  EXPECT_EQ(sum(eager_updates[1] - x).item<float>(), 2.0f * 3 * 3);
  EXPECT_EQ(sum(eager_updates[2] - x).item<float>(), 2.0f * 2 * 3 * 3);
  EXPECT_EQ(sum(eager_updates[3] - x).item<float>(), 3.0f * 3 * 2);
  EXPECT_EQ(sum(eager_updates[4] - x).item<float>(), 4.0f * 3 * 4 * 3);
}

}  // namespace indices_test
}  // namespace spruce
