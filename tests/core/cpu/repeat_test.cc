// SPDX-License-Identifier: Apache-2.0
// Loops that repeat elements and that take them at equal steps, for each size of an element.
#include "spruce/core/cpu/repeat.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "spruce/core/cpu/index/steps.h"

namespace spruce::cpu {
namespace repeat_test {

constexpr uint8_t kGuard = 0xa5;

// `count` elements of that size that differ.
std::vector<uint8_t> elements(int64_t count, int64_t size) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count * size));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + i / 251);
  return bytes;
}

// What f writes to `count` elements, and nothing behind them.
template <class F>
std::vector<uint8_t> written(int64_t count, int64_t size, const F& f) {
  const auto bytes = static_cast<size_t>(count * size);
  std::vector<uint8_t> to(bytes + 64, kGuard);
  f(to.data());
  EXPECT_EQ(std::vector<uint8_t>(to.begin() + static_cast<int64_t>(bytes), to.end()),
            std::vector<uint8_t>(64, kGuard));
  to.resize(bytes);
  return to;
}

TEST(Repeat, WritesEachElementSeveralTimes) {
  for (const int64_t size : {1, 2, 4, 8}) {
    for (int64_t n = 1; n <= 70; ++n) {
      for (const int64_t count : {0, 1, 2, 7, 33}) {
        for (const int64_t step : {1, 3}) {
          const std::vector<uint8_t> from = elements(count * step + 1, size);
          std::vector<uint8_t> want;
          for (int64_t i = 0; i < count * n; ++i) {
            const auto at = from.begin() + i / n * step * size;
            want.insert(want.end(), at, at + size);
          }
          ASSERT_EQ(written(count * n, size,
                            [&](void* to) { repeat_loop(size)(from.data(), step, count, n, to); }),
                    want)
              << size << " bytes, " << count << " elements, each " << n << " times, step " << step;
        }
      }
    }
  }
}

TEST(Repeat, WritesARowSeveralTimes) {
  for (const int64_t bytes : {1, 12, 100}) {
    for (int64_t rows = 1; rows <= 20; ++rows) {
      const std::vector<uint8_t> from = elements(bytes, 1);
      std::vector<uint8_t> want;
      for (int64_t r = 0; r < rows; ++r) want.insert(want.end(), from.begin(), from.end());
      ASSERT_EQ(written(rows, bytes, [&](void* to) { repeat_row(from.data(), bytes, rows, to); }),
                want)
          << bytes << " bytes, " << rows << " rows";
    }
  }
}

TEST(Steps, TakesElementsAtEqualSteps) {
  for (const int64_t size : {1, 2, 4, 8}) {
    for (int64_t step = -3; step <= 6; ++step) {
      for (int64_t n = 1; n <= 70; ++n) {
        const int64_t reach = (n - 1) * step;  // nothing else is read
        const std::vector<uint8_t> from = elements(std::abs(reach) + 1, size);
        const uint8_t* const first = from.data() + (step < 0 ? -reach * size : 0);
        std::vector<uint8_t> want;
        for (int64_t i = 0; i < n; ++i)
          want.insert(want.end(), first + i * step * size, first + (i * step + 1) * size);
        ASSERT_EQ(written(n, size, [&](void* to) { steps_loop(size)(first, step, n, to); }), want)
            << size << " bytes, " << n << " elements, step " << step;
      }
    }
  }
}

}  // namespace repeat_test
}  // namespace spruce::cpu
