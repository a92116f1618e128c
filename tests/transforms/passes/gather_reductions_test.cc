// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace gather_reductions_test {

const std::string kGather =
    "offset_dims=[2] collapsed_dims=[0] start_index_map=[0] operand_batch_dims=[] "
    "indices_batch_dims=[] window=[1,20] clip=true wraps=false] ";
const std::string kInputs = "a: f32[9,20], b: i32[4,3,1]";
const std::string kRows = "c: f32[4,3,20] = gather[" + kGather + "a b\n";

TEST(GatherReductions, ReadRowsWhereTheyStand) {
  EXPECT_EQ(after(passes::gather_reductions, kInputs,
                  kRows + "d: f32[4,20] = reduce_sum[axes=[1]] c\nreturn d"),
            "c: f32[4,20] = gather_reduce[reduction=\"reduce_sum\" axes=[1] " + kGather +
                "a b\nreturn c");
}

TEST(GatherReductions, OthersStay) {
  for (const std::string body : {
           "d: f32[3,20] = reduce_sum[axes=[0]] c\nreturn d",  // not the last positions
           "d: f32[4,3] = reduce_sum[axes=[2]] c\nreturn d",   // within rows
           "d: f32[4,20] = reduce_sum[axes=[1]] c\nreturn d c",
       }) {
    EXPECT_EQ(after(passes::gather_reductions, kInputs, kRows + body), kRows + body);
  }
}

const std::string kScatter =
    "[offset_dims=[2] collapsed_dims=[0] start_index_map=[0] operand_batch_dims=[] "
    "indices_batch_dims=[] window=[1,20] clip=";
const std::string kScattered = "a: f32[5,20], b: i32[4,3,1], ";
const std::string kAdded = kScattered + "c: f32[9,20], d: i32[4,3,1]";
const std::string kAddedRows = "e: f32[4,3,20] = gather[" + kGather + "c d\n";

TEST(GatherReductions, AddRowsWhereTheyStand) {
  EXPECT_EQ(after(passes::gather_reductions, kAdded,
                  kAddedRows + "f: f32[5,20] = scatter_add" + kScatter +
                      "false wraps=false] a b e\nreturn f"),
            "e: f32[5,20] = scatter_add_rows[clip=false wraps=false places_wrap=false] a b c "
            "d\nreturn e");
  EXPECT_EQ(
      after(passes::gather_reductions, kScattered + "c: f32[4,20]",
            "d: f32[4,3,20] = broadcast_in_dim[shape=[4,3,20] broadcast_dimensions=[0,2]] c\n"
            "e: f32[5,20] = scatter_add" +
                kScatter + "true wraps=false] a b d\nreturn e"),
      "d: i32[4,3,1] = iota[shape=[4,3,1] dtype=i32 axis=0]\n"
      "e: f32[5,20] = scatter_add_rows[clip=true wraps=false places_wrap=false] a b c d\nreturn e");
}

TEST(GatherReductions, OtherScattersStay) {
  const std::string set = "f: f32[5,20] = scatter" + kScatter + "true wraps=false] a b e\nreturn f";
  const std::string read =
      "f: f32[5,20] = scatter_add" + kScatter + "true wraps=false] a b e\nreturn f e";
  for (const std::string& body : {set, read})
    EXPECT_EQ(after(passes::gather_reductions, kAdded, kAddedRows + body), kAddedRows + body);
  // What is repeated is not whole rows.
  const std::string part =
      "d: f32[4,3,20] = broadcast_in_dim[shape=[4,3,20] broadcast_dimensions=[0,1]] c\n"
      "e: f32[5,20] = scatter_add" +
      kScatter + "true wraps=false] a b d\nreturn e";
  EXPECT_EQ(after(passes::gather_reductions, kScattered + "c: f32[4,3]", part), part);
}

// Whether two arrays have equal bits.
bool equal_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(internal::mutable_data(a), internal::mutable_data(b),
                     static_cast<size_t>(a.aval().bytes())) == 0;
}

struct Threads {
  explicit Threads(int n) { set_threads(n); }
  ~Threads() { set_threads(before); }
  int before = threads();
};

Array rows_of(const Array& table, const Array& ids) { return take(table, ids, 0); }

TEST(GatherReductions, HaveTheBitsOfTheTwoOperations) {
  for (const Dtype dtype : {float32, float64, bfloat16, float16, int32, int8, uint64}) {
    for (const int64_t width : {1, 16, 17, 20, 64, 100, 300, 3000}) {
      for (const int64_t length : {0, 1, 3, 4, 63, 64, 65, 130, 200, 600}) {
        const Array table = astype(10 * random::normal(Key(1), {30, width}), dtype);
        // Some repeat, some count from the end.
        const Array ids = random::randint(Key(2), {7, length}, -30, 30);
        const auto sums = [](const Array& x, const Array& i) { return sum(rows_of(x, i), 1); };
        const auto largest = [](const Array& x, const Array& i) { return max(rows_of(x, i), 1); };
        EXPECT_TRUE(equal_bits(jit(sums)(table, ids), sums(table, ids)))
            << to_string(table.aval()) << length;
        if (length == 0) continue;
        EXPECT_TRUE(equal_bits(jit(largest)(table, ids), largest(table, ids)))
            << to_string(table.aval()) << length;
      }
    }
  }
}

TEST(GatherReductions, OfHalvesAreSummedInFloat) {
  for (const Dtype dtype : {bfloat16, float16}) {
    const Array table = astype(random::normal(Key(1), {30, 70}), dtype);
    const Array ids = random::randint(Key(2), {7, 130}, 0, 30);
    const auto sums = [](const Array& x, const Array& i) { return sum(rows_of(x, i), 1); };
    const Array exact = sum(rows_of(astype(table, float64), ids), 1);
    const Array off = abs(astype(jit(sums)(table, ids), float64) - exact);
    // Half a unit in the last place of the result.
    const double unit = dtype == bfloat16 ? 1.0 / 256 : 1.0 / 2048;
    EXPECT_LE(item<double>(max(off - unit * abs(exact))), 1e-5);
  }
}

TEST(GatherReductions, HaveTheSameBitsOnAnyNumberOfThreads) {
  const Array table = random::normal(Key(1), {5000, 64});
  const Array ids = random::randint(Key(2), {2000, 40}, 0, 5000);
  const auto f = jit([](const Array& x, const Array& i) { return sum(rows_of(x, i), 1); });
  const Array one = [&] {
    const Threads t(1);
    return f(table, ids);
  }();
  const Threads t(3);
  EXPECT_TRUE(equal_bits(f(table, ids), one));
}

TEST(GatherReductions, AddedRowsHaveTheBitsOfTheTwoOperations) {
  const auto segments = [](const Array& x, const Array& from, const Array& sums, const Array& to) {
    return sums.at(to).add(rows_of(x, from));
  };
  const auto repeated = [](const Array& x, const Array& from, const Array& sums, const Array&) {
    return sums.at(from).add(broadcast_to(expand_dims(x[slice(0, 40)], 1), {40, 50, x.shape(1)}));
  };
  for (const int team : {1, 2, 4}) {
    const Threads t(team);
    for (const Dtype dtype : {float32, float64, int32, uint8, bfloat16}) {
      for (const int64_t width : {8, 16, 33, 300}) {
        const Array x = astype(10 * random::normal(Key(1), {70, width}), dtype);
        const Array sums = astype(10 * random::normal(Key(2), {60, width}), dtype);
        // Some count from the end.
        const Array from = random::randint(Key(3), {40, 50}, -60, 60);
        const Array to = random::randint(Key(4), {40, 50}, -60, 60);
        EXPECT_TRUE(equal_bits(jit(segments)(x, from, sums, to), segments(x, from, sums, to)))
            << to_string(x.aval()) << team;
        EXPECT_TRUE(equal_bits(jit(repeated)(x, from, sums, to), repeated(x, from, sums, to)))
            << to_string(x.aval()) << team;
      }
    }
  }
}

TEST(GatherReductions, RowsAreAddedToTheArrayThatTheyComeFrom) {
  const auto f = [](const Array& x, const Array& from, const Array& to) {
    return (2 * x).at(to).add(rows_of(2 * x, from));
  };
  const Array x = random::normal(Key(1), {30, 40});
  const Array from = random::randint(Key(3), {90}, 0, 30),
              to = random::randint(Key(4), {90}, 0, 30);
  EXPECT_TRUE(equal_bits(jit(f)(x, from, to), f(x, from, to)));
}

TEST(GatherReductions, RowsOutsideAreZeroWhereTheyAreLeftOut) {
  const Graph g = parse_graph(
      "graph(a: f32[3,20], b: i32[2,2,1]) {\nc: f32[2,20] = gather_reduce[reduction=\"reduce_sum\" "
      "axes=[1] offset_dims=[2] collapsed_dims=[0] start_index_map=[0] operand_batch_dims=[] "
      "indices_batch_dims=[] window=[1,20] clip=false wraps=false] a b\nreturn c\n}");
  const Array table = ones({3, 20}) * expand_dims(array({1.0f, 2.0f, 4.0f}), 1);
  const Array ids = reshape(array({0, 5, -1, 2}), {2, 2, 1});
  const Array inputs[] = {table, ids};
  const std::vector<Array> out = evaluate(g, inputs);
  EXPECT_TRUE(equal_bits(out[0], ones({2, 20}) * expand_dims(array({1.0f, 4.0f}), 1)));
}

TEST(GatherReductions, RowsOfTakeAreCopiedOfAnyLength) {
  for (const Dtype dtype : {float32, bfloat16, int8}) {
    for (const int64_t width : {1, 3, 7, 8, 15, 33, 300, 5000}) {
      const Array table = astype(100 * random::normal(Key(1), {50, width}), dtype);
      const Array ids = random::randint(Key(2), {700}, 0, 50);
      const Array taken = rows_of(table, ids);
      for (int64_t k = 0; k < 700; k += 37)
        EXPECT_TRUE(equal_bits(taken[k], table[ids[k].item<int32_t>()])) << width;
    }
  }
}

}  // namespace gather_reductions_test
}  // namespace spruce
