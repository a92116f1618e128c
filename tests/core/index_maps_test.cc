// SPDX-License-Identifier: Apache-2.0
// What primitives say of how they move elements, against what they do.
#include "spruce/core/rules/index_maps.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace index_maps_test {

// Calls f with each place of a map in the output and the element of the input that stands there.
template <class F>
void for_each_place(const IndexMap& m, const Shape& in, const Shape& out, const F& f) {
  const rules::MappedMemory from = rules::memory_of_input(m, row_major_strides(in)),
                            to = rules::memory_of_output(m, row_major_strides(out));
  Shape index = Shape::filled(m.count.rank(), 0);
  for (int64_t n = m.count.numel(); n > 0; --n) {
    int64_t element = from.offset, place = to.offset;
    for (int i = 0; i < index.rank(); ++i) {
      element += index[i] * from.strides[i];
      place += index[i] * to.strides[i];
    }
    f(place, element);
    for (int i = index.rank(); i-- > 0 && ++index[i] == m.count[i];) index[i] = 0;
  }
}

// Numbers that no two inputs share.
std::vector<Array> numbered(const std::vector<SampleInput>& in) {
  std::vector<Array> all;
  double next = 1;
  for (const SampleInput& x : in) {
    const int64_t n = x.aval.shape.numel();
    all.push_back(reshape(arange(n), x.aval.shape).astype(float64) + next);
    next += static_cast<double>(n);
  }
  return all;
}

TEST(IndexMaps, SayWhatPrimitivesDo) {
  std::set<std::string> names;
  for (const Primitive* p : all_primitives()) {
    if (p->index_maps == nullptr) continue;
    names.insert(p->name);
    for (const Sample& sample : p->samples()) {
      const std::vector<Array> in = numbered(sample.in);
      std::vector<Aval> avals;
      for (const Array& x : in) avals.push_back(x.aval());
      std::vector<const Aval*> types;
      for (const Aval& a : avals) types.push_back(&a);
      const Array got = bind_all(*p, in, sample.params)[0];
      const Aval aval = got.aval();
      const std::vector<const Aval*> out = {&aval};
      const std::vector<IndexMap> maps = p->index_maps({types, out, sample.params});
      if (maps.empty() && p == &reshape_p) continue;  // joins axes
      std::vector<double> want(static_cast<size_t>(got.size()), 0);
      for (const IndexMap& m : maps) {
        const std::vector<double> x = in[m.input].to_vector<double>();
        for_each_place(m, in[m.input].shape(), got.shape(), [&](int64_t place, int64_t element) {
          want.at(static_cast<size_t>(place)) = x.at(static_cast<size_t>(element));
        });
      }
      EXPECT_EQ(got.to_vector<double>(), want) << p->name << " " << sample.params.text();
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"broadcast_in_dim", "concatenate", "pad", "reshape",
                                          "rev", "slice", "transpose"}));
}

using Places = std::vector<std::pair<size_t, int64_t>>;

// By place of the output: which input, and which element of it. With `once`, no place is met twice.
Places places(const std::vector<IndexMap>& maps, const std::vector<Shape>& in, const Shape& out,
              bool once) {
  Places all(static_cast<size_t>(out.numel()), {99, -1});
  for (const IndexMap& m : maps) {
    for_each_place(m, in[m.input], out, [&](int64_t place, int64_t element) {
      auto& at = all.at(static_cast<size_t>(place));
      if (once) {
        EXPECT_EQ(at.first, 99u) << place;
      }
      at = {m.input, element};
    });
  }
  return all;
}

TEST(IndexMaps, DisjointOnesGiveTheSame) {
  const Shape out = {6, 5}, in = {4, 3};
  IndexMap around = rules::identity_map(out);
  around.input = 1;
  for (int64_t i = -2; i < 5; ++i) {
    for (int64_t j = -2; j < 5; ++j) {
      // Cut to the output, as a padding is.
      IndexMap inside = rules::identity_map(in);
      const Shape low = {i, j};
      for (int a = 0; a < 2; ++a) {
        inside.from[a] = std::max<int64_t>(0, -low[a]);
        inside.begin[a] = std::max<int64_t>(0, low[a]);
        inside.count[a] = std::min(in[a] - inside.from[a], out[a] - inside.begin[a]);
      }
      const std::vector<IndexMap> maps = {around, inside};
      const auto apart = rules::disjoint(maps);
      ASSERT_TRUE(apart.has_value());
      EXPECT_EQ(places(*apart, {in, out}, out, true), places(maps, {in, out}, out, false));
    }
  }
  IndexMap every_second = rules::identity_map(in);
  every_second.step = {2, 1};
  every_second.count = {3, 3};
  EXPECT_FALSE(rules::disjoint({around, every_second}).has_value());
  EXPECT_TRUE(rules::disjoint({every_second}).has_value());
}

TEST(IndexMaps, ReshapesSplitAxes) {
  EXPECT_TRUE(rules::reshape_map({6, 4}, {2, 3, 4}).has_value());
  EXPECT_TRUE(rules::reshape_map({1, 6}, {6, 1, 1}).has_value());
  EXPECT_FALSE(rules::reshape_map({2, 3}, {6}).has_value());
  EXPECT_FALSE(rules::reshape_map({4, 3}, {6, 2}).has_value());
}

// A reduction is what its operation on two elements makes of all.
TEST(Combine, IsWhatReductionsDo) {
  const Array x = array({5, 3, 6, 2, 7}, int32);
  for (const Primitive* p : all_primitives()) {
    EXPECT_EQ(p->kind == PrimitiveKind::kReduction && p->name != std::string("argmax") &&
                  p->name != std::string("argmin"),
              p->combine != nullptr)
        << p->name;
    if (p->combine == nullptr) continue;
    EXPECT_NE(p->reduces_by(), Monoid::kNone) << p->name;
    Array all = x[0];
    for (int64_t i = 1; i < x.size(); ++i) all = bind1(*p->combine, {all, x[i]});
    const Array got = bind1(*p, {x}, Params::make(ReduceParams{{0}}));
    EXPECT_EQ(got.item<int32_t>(), all.item<int32_t>()) << p->name;
  }
}

}  // namespace index_maps_test
}  // namespace spruce
