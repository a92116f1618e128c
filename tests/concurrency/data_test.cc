// SPDX-License-Identifier: Apache-2.0
// Batches that are made ahead by threads, and checkpoints that are written by one.
#include <gtest/gtest.h>
#include <spruce/data.h>
#include <spruce/spruce.h>

#include <filesystem>
#include <string>

#include "tests/concurrency/at_once.h"

namespace spruce {
namespace data_test {

using testing::at_once;

TEST(Data, LoadersRunBesideEachOther) {
  const Array set = arange(60.0f).reshape({30, 2});
  const auto run = data::batches(set, {.batch_size = 7, .epochs = 3, .key = Key(1)});
  std::vector<Array> expected;
  for (const auto& batch : run) expected.push_back(batch.examples);
  const auto ahead =
      data::batches(set, {.batch_size = 7, .epochs = 3, .key = Key(1), .prefetch = 3});
  at_once([&](int thread) {
    size_t i = 0;
    for (const auto& batch : ahead) {
      EXPECT_TRUE(array_equal(batch.examples, expected[i]));
      if (++i == expected.size() - static_cast<size_t>(thread % 3)) break;  // some stop early
    }
  });
}

TEST(Data, TheRunGoesOnWhileACheckpointIsWritten) {
  const std::string folder = ::testing::TempDir() + "spruce-concurrency-checkpoints";
  at_once([&](int thread) {
    io::Checkpoints checkpoints(folder + std::to_string(thread), 2);
    Array x = zeros({1000});
    for (int step = 1; step <= 10; ++step) {
      x = std::move(x) + 1.0f;
      checkpoints.save(step, x);
    }
    EXPECT_TRUE(array_equal(checkpoints.restore(x)->tree, full({1000}, 10.0f)));
  });
  for (const auto& entry : std::filesystem::directory_iterator(::testing::TempDir())) {
    if (entry.path().string().starts_with(folder)) std::filesystem::remove_all(entry.path());
  }
}

}  // namespace data_test
}  // namespace spruce
