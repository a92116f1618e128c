// SPDX-License-Identifier: Apache-2.0
// Short runs of bytes, interleaved elements, and what is copied through them: joins along any axis,
// slices, pads, broadcasts and transposes with small last axes, against loops over elements.
#include "spruce/core/cpu/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/cpu/permute_rows.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"

namespace spruce {
namespace runs_test {

std::vector<char> noise(int64_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<char> v(static_cast<size_t>(n));
  for (char& c : v) c = static_cast<char>(rng());
  return v;
}

TEST(Runs, OfEveryLengthAreCopiedAndNothingElse) {
  for (int64_t bytes = 0; bytes <= 300; ++bytes) {
    const int64_t count = 37, to_step = bytes + 5, from_step = bytes + 3;
    const std::vector<char> from = noise(count * from_step, 1);
    std::vector<char> to = noise(count * to_step, 2), expected = to;
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(expected.data() + i * to_step, from.data() + i * from_step,
                  static_cast<size_t>(bytes));
    cpu::copy_runs(to.data(), to_step, from.data(), from_step, bytes, count);
    ASSERT_EQ(to, expected) << bytes;
  }
}

TEST(Runs, OfAnyPlaceWithinPagesAreCopiedAndNothingElse) {
  constexpr int64_t kPage = 4096;
  const std::vector<char> from = noise(5 * kPage, 1);
  for (const int64_t bytes : {0, 1, 2047, 2048, 2049, 4096, 5000, 8191}) {
    for (int64_t ahead = -33; ahead <= 33; ++ahead) {
      std::vector<char> to = noise(5 * kPage, 2), expected = to;
      // The same place in a page, and `ahead` bytes behind it.
      const auto in_page = [](const char* p) {
        return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) % kPage);
      };
      const int64_t begin = kPage + (in_page(from.data()) - in_page(to.data())) % kPage + ahead;
      std::memcpy(expected.data() + begin, from.data(), static_cast<size_t>(bytes));
      cpu::copy_bytes(to.data() + begin, from.data(), bytes);
      ASSERT_EQ(to, expected) << bytes << " " << ahead;
    }
  }
}

TEST(Runs, ElementsOfTwoToFourPartsAreInterleaved) {
  for (int64_t parts = cpu::kFewestParts; parts <= cpu::kMostParts; ++parts) {
    for (const int64_t bytes : {1, 2, 4, 8}) {
      for (const int64_t count : {1, 7, 64, 1003}) {
        std::vector<std::vector<char>> from;
        std::vector<const void*> data;
        for (int64_t k = 0; k < parts; ++k)
          from.push_back(noise(count * bytes, static_cast<unsigned>(k)));
        for (const auto& part : from) data.push_back(part.data());
        std::vector<char> to(static_cast<size_t>(count * bytes * parts)), expected = to;
        for (int64_t i = 0; i < count * parts; ++i)
          std::memcpy(expected.data() + i * bytes,
                      from[static_cast<size_t>(i % parts)].data() + i / parts * bytes,
                      static_cast<size_t>(bytes));
        cpu::interleave(to.data(), data.data(), parts, bytes, count);
        ASSERT_EQ(to, expected) << parts << " parts of " << bytes << " bytes";
      }
    }
  }
}

// Source and destination are no larger than they have to be.
TEST(Runs, RowsAreWrittenInAnyOrderOfTheirElements) {
  std::mt19937 rng(4);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(rng() % static_cast<unsigned>(n));
  };
  for (int trial = 0; trial < 4000; ++trial) {
    const int64_t bytes = int64_t{1} << below(4), most = cpu::kPermutedBytes / bytes + 2;
    const int64_t n = below(most) + 1, step = below(most) + 1, count = below(80) + 1;
    std::vector<int32_t> order;
    for (int64_t k = 0; k < n; ++k) order.push_back(static_cast<int32_t>(below(step)));
    const int64_t span = *std::max_element(order.begin(), order.end()) + 1;
    const std::vector<char> from =
        noise(((count - 1) * step + span) * bytes, static_cast<unsigned>(trial));
    std::vector<char> to(static_cast<size_t>(count * n * bytes)), expected = to;
    for (int64_t i = 0; i < count * n; ++i)
      std::memcpy(expected.data() + i * bytes,
                  from.data() + (i / n * step + order[static_cast<size_t>(i % n)]) * bytes,
                  static_cast<size_t>(bytes));
    cpu::permute_rows(to.data(), n, from.data(), step, order.data(), bytes, count);
    ASSERT_EQ(to, expected) << count << " rows of " << n << " elements of " << bytes << " bytes";
  }
}

// Rows are written to their last byte and no further, whatever is read or written together.
TEST(Runs, OfSeveralPiecesAreJoined) {
  std::mt19937 rng(9);
  for (int trial = 0; trial < 3000; ++trial) {
    const auto pieces = static_cast<int64_t>(rng() % 4 + 1);
    const auto count = static_cast<int64_t>(trial % 3 == 0 ? rng() % 300 : rng() % 20);
    const unsigned unit = 1u << rng() % 4;
    std::vector<int64_t> bytes;
    std::vector<std::vector<char>> from;
    std::vector<const char*> data;
    int64_t row = 0;
    for (int64_t k = 0; k < pieces; ++k) {
      bytes.push_back(static_cast<int64_t>((rng() % (32 / unit) + 1) * unit));
      row += bytes.back();
      from.push_back(noise(count * bytes.back(), static_cast<unsigned>(trial + k)));
    }
    for (const auto& part : from) data.push_back(part.data());
    std::vector<char> to = noise(count * row + 64, 3), expected = to;
    for (int64_t i = 0, at = 0; i < count; ++i) {
      for (size_t k = 0; k < bytes.size(); at += bytes[k++])
        std::memcpy(expected.data() + at, from[k].data() + i * bytes[k],
                    static_cast<size_t>(bytes[k]));
    }
    cpu::join_short(to.data(), data.data(), bytes.data(), pieces, count);
    ASSERT_EQ(to, expected) << pieces << " pieces, " << count << " rows of " << row << " bytes";
  }
}

// Copies between strided places, element by element.
TEST(Copies, OfShortRowsAreThoseOfEachElement) {
  std::mt19937 rng(5);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(rng() % static_cast<unsigned>(n));
  };
  for (int trial = 0; trial < 400; ++trial) {
    const int rank = static_cast<int>(below(3)) + 1;
    Shape sizes, from_strides;
    for (int i = 0; i < rank; ++i) sizes.push_back(i == rank - 1 ? below(20) + 1 : below(60) + 1);
    // The source is a larger array, cut, repeated or read backwards along some axes.
    Shape whole = sizes;
    for (int64_t& n : whole) n = n * 2 + 1;
    int64_t first = 0;
    const Shape dense = row_major_strides(whole);
    for (int i = 0; i < rank; ++i) {
      const int64_t kind = below(5), step = kind == 0 ? 0 : kind == 1 ? -1 : kind == 2 ? 2 : 1;
      from_strides.push_back(step * dense[i]);
      if (step < 0) first += (sizes[i] - 1) * dense[i];
    }
    if (rank > 1 && below(3) == 0) {  // transposed
      std::swap(sizes[0], sizes[rank - 1]);
      std::swap(from_strides[0], from_strides[rank - 1]);
    }
    const int64_t bytes = int64_t{1} << below(4);
    std::vector<char> from = noise(whole.numel() * bytes, static_cast<unsigned>(trial));
    std::vector<char> to(static_cast<size_t>(sizes.numel() * bytes)), expected = to;
    for (int64_t p = 0; p < sizes.numel(); ++p) {
      int64_t at = first, rest = p;
      for (int i = rank - 1; i >= 0; --i) {
        at += rest % sizes[i] * from_strides[i];
        rest /= sizes[i];
      }
      std::memcpy(expected.data() + p * bytes, from.data() + at * bytes,
                  static_cast<size_t>(bytes));
    }
    cpu::copy_strided(sizes, {to.data(), row_major_strides(sizes)},
                      {from.data() + first * bytes, from_strides}, bytes);
    ASSERT_EQ(to, expected) << to_string(sizes) << " by " << to_string(from_strides);
  }
}

// Sources and destination are as large as they have to be: the address sanitizer sees each byte
// that is read or written behind them.
TEST(Runs, ShortPiecesAreJoinedIntoRows) {
  std::mt19937 rng(9);
  for (int trial = 0; trial < 500; ++trial) {
    const auto pieces = static_cast<int64_t>(rng() % cpu::kMostPieces) + 1;
    const auto count = static_cast<int64_t>(rng() % 60);
    const auto most = rng() % 2 == 0 ? 16u : static_cast<unsigned>(cpu::kShortPieceBytes);
    std::vector<int64_t> bytes;
    std::vector<std::vector<char>> sources;
    std::vector<const char*> from;
    for (int64_t k = 0; k < pieces; ++k) {
      bytes.push_back(static_cast<int64_t>(rng() % most) + 1);
      sources.push_back(noise(bytes.back() * count, static_cast<unsigned>(trial + k)));
    }
    std::vector<char> expected;
    for (int64_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < sources.size(); ++k) {
        const auto at = sources[k].begin() + i * bytes[k];
        expected.insert(expected.end(), at, at + bytes[k]);
      }
    }
    for (const auto& source : sources) from.push_back(source.data());
    std::vector<char> to(expected.size());
    cpu::join_short(to.data(), from.data(), bytes.data(), pieces, count);
    ASSERT_EQ(to, expected) << pieces << " pieces, " << count << " rows";
  }
}

TEST(Concatenate, AlongEveryAxisInEveryDtypeWithThreads) {
  const int before = threads();
  std::mt19937 rng(8);
  for (const Dtype dtype : {bool_, int8, bfloat16, float16, int32, float32, float64, int64}) {
    for (int trial = 0; trial < 40; ++trial) {
      set_threads(trial % 2 == 0 ? 1 : 4);
      const int rank = trial % 3 + 1, axis = static_cast<int>(rng() % static_cast<unsigned>(rank));
      const size_t count = rng() % 6 + 1;
      Shape shape;
      for (int i = 0; i < rank; ++i) shape.push_back(static_cast<int64_t>(rng() % 40 + 1));
      if (trial % 8 == 7) shape[0] = 70000 / (shape.numel() / shape[0]);  // enough for threads
      std::vector<Array> parts;
      const bool thin = rng() % 2 == 0;
      for (size_t k = 0; k < count; ++k) {
        shape[axis] = rank > 1 && thin ? 1 : static_cast<int64_t>(rng() % 5);
        std::vector<int32_t> values(static_cast<size_t>(shape.numel()));
        for (int32_t& v : values) v = static_cast<int32_t>(rng() % 100);
        parts.push_back(astype(array(values, shape), dtype));
      }
      const Array got = astype(concatenate(parts, axis), int32);
      int64_t outer = 1;
      for (int i = 0; i < axis; ++i) outer *= shape[i];
      std::vector<int32_t> expected;
      std::vector<std::vector<int32_t>> values;
      for (const Array& p : parts) values.push_back(astype(p, int32).to_vector<int32_t>());
      for (int64_t o = 0; o < outer; ++o) {
        for (const auto& v : values) {
          const auto n = static_cast<int64_t>(v.size()) / outer;
          expected.insert(expected.end(), v.begin() + o * n, v.begin() + (o + 1) * n);
        }
      }
      ASSERT_EQ(got.to_vector<int32_t>(), expected)
          << count << " parts " << to_string(shape) << " along " << axis;
    }
  }
  set_threads(before);
}

}  // namespace runs_test
}  // namespace spruce
