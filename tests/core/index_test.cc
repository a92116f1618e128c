// SPDX-License-Identifier: Apache-2.0
// Indexing as NumPy does it: a table of expressions whose results come from NumPy (index_cases.py).
#include "spruce/core/ops/index.h"

#include <gtest/gtest.h>

#include <sstream>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/message.h"

namespace spruce {
namespace index_test {

struct Case {
  const char *shape, *index, *result, *values, *put, *added;
};

constexpr Case kCases[] = {
#include "tests/core/index_cases.inc"
};

std::vector<std::string> split_text(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, at);) out.push_back(item);
  return out;
}

std::vector<int64_t> integers(const std::string& text) {
  std::vector<int64_t> out;
  for (const std::string& item : split_text(text, ',')) {
    if (!item.empty()) out.push_back(std::stoll(item));
  }
  return out;
}

SliceEnd end_of(const std::string& text) {
  return text == "_" ? SliceEnd(none) : SliceEnd(std::stoll(text));
}

// "(2,3)0,1,2,3,4,5"
Array index_array(const std::string& text, bool mask) {
  const size_t close = text.find(')');
  const std::vector<int64_t> values = integers(text.substr(close + 1));
  const Shape shape(integers(text.substr(1, close - 1)));
  if (mask) return array(std::vector<bool>(values.begin(), values.end()), shape);
  return array(std::vector<int32_t>(values.begin(), values.end()), shape);
}

std::vector<Index> parse(const std::string& text) {
  std::vector<Index> out;
  for (const std::string& token : split_text(text, ' ')) {
    if (token == "...") {
      out.emplace_back(ellipsis);
    } else if (token == "new") {
      out.emplace_back(newaxis);
    } else if (token[0] == 'i') {
      out.emplace_back(std::stoll(token.substr(1)));
    } else if (token[0] == 's') {
      const auto ends = split_text(token.substr(1), ',');
      out.emplace_back(slice(end_of(ends[0]), end_of(ends[1]), end_of(ends[2])));
    } else {
      out.emplace_back(index_array(token.substr(1), token[0] == 'm'));
    }
  }
  return out;
}

Array counted(const Shape& shape, int32_t from = 0) {
  std::vector<int32_t> values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = from + static_cast<int32_t>(i);
  return array(values, shape);
}

std::vector<int64_t> values_of(const Array& x) {
  const std::vector<int32_t> v = x.to_vector<int32_t>();
  return {v.begin(), v.end()};
}

// The arrays of an index that may be traced, and the index with others in their place.
std::vector<Array> arrays_of(const std::vector<Index>& indices) {
  std::vector<Array> out;
  for (const Index& i : indices) {
    if (i.kind() == Index::Kind::kArray && !is_bool(i.array().dtype())) out.push_back(i.array());
  }
  return out;
}
std::vector<Index> with_arrays(std::vector<Index> indices, const std::vector<Array>& arrays) {
  size_t next = 0;
  for (Index& i : indices) {
    if (i.kind() == Index::Kind::kArray && !is_bool(i.array().dtype())) i = Index(arrays[next++]);
  }
  return indices;
}

class IndexCases : public testing::TestWithParam<size_t> {
 protected:
  static constexpr size_t kParts = 8;

  template <class F>
  void for_each(const F& f) {
    for (size_t k = GetParam(); k < std::size(kCases); k += kParts) {
      const Case& c = kCases[k];
      SCOPED_TRACE(std::string("x[") + c.shape + "] at " + c.index);
      f(c, Shape(integers(c.shape)), parse(c.index));
      if (HasFailure()) return;
    }
  }
};

TEST_P(IndexCases, Read) {
  for_each([](const Case& c, const Shape& shape, const std::vector<Index>& index) {
    const Array got = ArrayAt(counted(shape), index).get();
    EXPECT_EQ(got.shape(), Shape(integers(c.result)));
    EXPECT_EQ(values_of(got), integers(c.values));
  });
}

TEST_P(IndexCases, Update) {
  for_each([](const Case& c, const Shape& shape, const std::vector<Index>& index) {
    const Array x = counted(shape), v = counted(Shape(integers(c.result)), 100);
    EXPECT_EQ(values_of(ArrayAt(x, index).set(v)), integers(c.put));
    EXPECT_EQ(values_of(ArrayAt(x, index).add(v)), integers(c.added));
    EXPECT_EQ(values_of(x), values_of(counted(shape))) << "x itself must not change";
    EXPECT_EQ(values_of(ArrayAt(counted(shape), index).set(v)), integers(c.put)) << "in place";
    EXPECT_EQ(values_of(ArrayAt(counted(shape), index).add(v)), integers(c.added)) << "in place";
  });
}

TEST_P(IndexCases, Traced) {
  for_each([](const Case& c, const Shape& shape, const std::vector<Index>& index) {
    const Array v = counted(Shape(integers(c.result)), 100);
    const auto run = jit([&](const Array& x, const std::vector<Array>& arrays, const Array& v) {
      const ArrayAt place(x, with_arrays(index, arrays));
      return std::tuple{place.get(), place.set(v), place.add(v)};
    });
    const auto [got, put, added] = run(counted(shape), arrays_of(index), v);
    EXPECT_EQ(got.shape(), Shape(integers(c.result)));
    EXPECT_EQ(values_of(got), integers(c.values));
    EXPECT_EQ(values_of(put), integers(c.put));
    EXPECT_EQ(values_of(added), integers(c.added));
  });
}

Array doubled(const Array& x) {
  return broadcast_to(expand_dims(x, 0), [&] {
    Shape s = x.shape();
    s.insert(0, 2);
    return s;
  }());
}

TEST_P(IndexCases, Mapped) {
  for_each([](const Case& c, const Shape& shape, const std::vector<Index>& index) {
    const std::vector<Array> arrays = arrays_of(index);
    const auto f = [&](const Array& x, const std::vector<Array>& arrays, const Array& v) {
      const ArrayAt place(x, with_arrays(index, arrays));
      return std::tuple{place.get(), place.set(v), place.add(v)};
    };
    // Which of x, the index arrays and the values are mapped, as bits.
    for (int mapped = 1; mapped < 8; ++mapped) {
      SCOPED_TRACE(mapped);
      const auto part = [&](int bit, const Array& x) {
        return (mapped >> bit & 1) != 0 ? doubled(x) : x;
      };
      const auto axis = [&](int bit) {
        return (mapped >> bit & 1) != 0 ? AxisSpec(0) : AxisSpec(none);
      };
      std::vector<Array> given;
      for (const Array& a : arrays) given.push_back(part(1, a));
      if (mapped == 2 && arrays.empty()) continue;
      const Array v = counted(Shape(integers(c.result)), 100);
      const auto [got, put, added] = vmap(f, {.in_axes = {axis(0), axis(1), axis(2)}})(
          part(0, counted(shape)), given, part(2, v));
      for (int k = 0; k < 2; ++k) {
        EXPECT_EQ(values_of(got[k]), integers(c.values));
        EXPECT_EQ(values_of(put[k]), integers(c.put));
        EXPECT_EQ(values_of(added[k]), integers(c.added));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Numpy, IndexCases, testing::Range<size_t>(0, 8));

TEST(Index, TableIsLarge) { EXPECT_GE(std::size(kCases), 700u); }

TEST(Index, EachWayToWriteIt) {
  const Array x = counted({3, 4});
  EXPECT_EQ(values_of(x[1]), (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(values_of(x[{1}]), (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(values_of(x[{1, -1}]), (std::vector<int64_t>{7}));
  EXPECT_EQ(values_of(x[{uint8_t{1}, int64_t{2}}]), (std::vector<int64_t>{6}));
  EXPECT_EQ(values_of(x[slice(1)]), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(values_of(x[{slice(), slice(none, none, -3)}]),
            (std::vector<int64_t>{3, 0, 7, 4, 11, 8}));
  EXPECT_EQ(values_of(x[{ellipsis, 0}]), (std::vector<int64_t>{0, 4, 8}));
  EXPECT_EQ((x[{newaxis, ellipsis}]).shape(), (Shape{1, 3, 4}));
  EXPECT_EQ(values_of(x[array({2, 0})]), (std::vector<int64_t>{8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(values_of(x[x > 9]), (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(values_of(x.at(1, slice(1, 3)).get()), (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(values_of(x[{}]), values_of(x));
  const std::vector<int64_t> rows = {1, 2};
  EXPECT_EQ(values_of((x[{array(rows), 1}])), (std::vector<int64_t>{5, 9}));
}

TEST(Index, AllDtypesOfElementsAndIndices) {
  for (int d = 0; d < kDtypeCount; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    SCOPED_TRACE(name(dtype));
    const Array x = astype(counted({3, 2}), dtype);
    const Array expected = astype(array<int32_t>({4, 5, 0, 1}, {2, 2}), dtype);
    EXPECT_TRUE(all(x[array({2, 0})] == expected));
    EXPECT_EQ(x[1].dtype(), dtype);
    EXPECT_TRUE(all(x.at(0).set(x[2])[0] == x[2]));
    if (!is_integer(dtype)) continue;
    const Array i = astype(array({2, 0}), dtype);
    EXPECT_EQ(values_of(counted({3, 2})[i]), (std::vector<int64_t>{4, 5, 0, 1}));
    const auto traced = jit([](const Array& x, const Array& i) { return x[i]; });
    EXPECT_EQ(values_of(traced(counted({3, 2}), i)), (std::vector<int64_t>{4, 5, 0, 1}));
  }
  // A negative index of a narrow dtype into a long axis.
  const Array long_axis = counted({1000});
  EXPECT_EQ(long_axis[astype(Array(-2), int8)].item<int>(), 998);
  const auto traced = jit([](const Array& x, const Array& i) { return x[i]; });
  EXPECT_EQ(values_of(traced(long_axis, astype(array({-2, 100}), int8))),
            (std::vector<int64_t>{998, 100}));
}

TEST(Index, ReadsAreCopiesOrViewsThatNothingChanges) {
  const Array x = counted({2, 3});
  const Array row = x[0];
  const Array changed = x.at(0).set(7);
  EXPECT_EQ(values_of(row), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(values_of(changed), (std::vector<int64_t>{7, 7, 7, 3, 4, 5}));
}

TEST(Index, TracedPlacesOutside) {
  const auto take = jit([](const Array& x, const Array& i) { return x[i]; });
  EXPECT_EQ(values_of(take(counted({4}), array({9, -9, -1}))), (std::vector<int64_t>{3, 0, 3}));
  const auto put = jit([](const Array& x, const Array& i) { return x.at(i).set(50); });
  EXPECT_EQ(values_of(put(counted({4}), array({9, -9, -1}))), (std::vector<int64_t>{0, 1, 2, 50}));
  const auto add = jit([](const Array& x, const Array& i) { return x.at(i, 1).add(50); });
  EXPECT_EQ(values_of(add(counted({2, 2}), array({2, 1, 1, -3}))),
            (std::vector<int64_t>{0, 1, 2, 103}));
}

TEST(Index, Derivatives) {
  const Array x = array({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {3, 2}, float64);
  const Array i = array({2, 0, 2});
  // sum of x[i]^3: rows that are taken twice count twice.
  const auto f = [&](const Array& x) { return sum(x[i] * x[i] * x[i]); };
  EXPECT_TRUE(allclose(grad(f)(x), array({3.0, 12.0, 0.0, 0.0, 150.0, 216.0}, {3, 2}, float64)));
  const auto g = [&](const Array& x) { return sum(grad(f)(x) * array({1.0, 2.0}, float64)); };
  EXPECT_TRUE(allclose(grad(g)(x), array({6.0, 24.0, 0.0, 0.0, 60.0, 144.0}, {3, 2}, float64)));
  const auto basic = [](const Array& x) {
    return sum(x[{slice(none, none, -2), 1}] * array({10.0, 1.0}, float64));
  };
  EXPECT_TRUE(allclose(grad(basic)(x), array({0.0, 1.0, 0.0, 0.0, 0.0, 10.0}, {3, 2}, float64)));
  EXPECT_TRUE(allclose(jacfwd(basic)(x), jacrev(basic)(x)));
  // An index that is an argument of the differentiated function still has a value, and is checked.
  const auto with_index = [](const Array& x, const Array& i) { return sum(x[i]); };
  EXPECT_TRUE(allclose(grad(with_index)(x, array({1})),
                       array({0.0, 0.0, 1.0, 1.0, 0.0, 0.0}, {3, 2}, float64)));
  EXPECT_THROW(grad(with_index)(x, array({3})), IndexError);
  // So has a mask.
  const auto positive = [](const Array& x) { return sum((x * x)[x > 3.5]); };
  EXPECT_TRUE(
      allclose(grad(positive)(x), array({0.0, 0.0, 0.0, 8.0, 10.0, 12.0}, {3, 2}, float64)));
}

TEST(Index, Messages) {
  const Array x = zeros({3, 4});
  EXPECT_EQ(message([&] { return x[3]; }),
            "operator[]: index 3 is out of range for axis 0 of f32[3,4], which has size 3; use "
            "indices from -3 to 2");
  EXPECT_EQ(message([&] {
              return x[{0, -5}];
            }),
            "operator[]: index -5 is out of range for axis 1 of f32[3,4], which has size 4; use "
            "indices from -4 to 3");
  EXPECT_EQ(message([&] {
              return x[array({0, 1, 7})];
            }),
            "operator[]: index 7 is out of range for axis 0 of f32[3,4], which has size 3; use "
            "indices from -3 to 2");
  EXPECT_EQ(message([&] { return zeros({0})[0]; }),
            "operator[]: index 0 is out of range for axis 0 of f32[0], which has size 0; an empty "
            "axis has no elements to index");
  EXPECT_EQ(message([&] {
              return x[{0, 1, 2}];
            }),
            "operator[]: 3 indices are too many for f32[3,4], which has rank 2");
  EXPECT_EQ(message([&] { return array(1.0f)[0]; }),
            "operator[]: 1 index is too many for f32[], which has rank 0");
  EXPECT_EQ(message([&] {
              return x[{ellipsis, 0, ellipsis}];
            }),
            "operator[]: an index can have one ellipsis, got 2");
  EXPECT_EQ(message([&] { return x[slice(0, 3, 0)]; }),
            "operator[]: the step of a slice is 0; use a positive or negative one");
  EXPECT_EQ(message([&] { return x[ones({2})]; }),
            "operator[]: indices must be integers, got f32[2]; convert them with astype");
  EXPECT_EQ(message([&] {
              return x[array({true, false})];
            }),
            "operator[]: the mask bool[2] does not fit f32[3,4]: axis 0 of the mask has size 2, "
            "axis 0 of the array has 3");
  EXPECT_EQ(message([&] { return x.at(5).set(1.0f); }),
            "at.set: index 5 is out of range for axis 0 of f32[3,4], which has size 3; use indices "
            "from -3 to 2");
  EXPECT_THROW((void)x[3], IndexError);
  EXPECT_THROW((void)(x[{array({0, 1}), array({0, 1, 2})}]), ShapeError);
  EXPECT_THROW((void)(x[slice(0, 1, 0)]), ValueError);
  EXPECT_THROW((void)x[ones({2})], DtypeError);
  EXPECT_THROW((void)Array()[0], ValueError);
  const std::string mask =
      message([&] { return jit([](const Array& x) { return x[x > 0.0f]; })(x); });
  EXPECT_NE(mask.find("use where(mask, x, other), which keeps the shape"), std::string::npos)
      << mask;
  EXPECT_NE(mask.find("bool[3,4]"), std::string::npos) << mask;
  EXPECT_THROW(vmap([](const Array& x) { return x[x > 0.0f]; })(x), TracerError);
}

TEST(Index, NamesTheLine) {
  const Array x = zeros({3});
  const int line = __LINE__ + 2;
  try {
    (void)x[7];
    FAIL();
  } catch (const IndexError& e) {
    EXPECT_NE(std::string(e.what()).find("index_test.cc:" + std::to_string(line)),
              std::string::npos)
        << e.what();
  }
}

}  // namespace index_test
}  // namespace spruce
