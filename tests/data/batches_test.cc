// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/batches.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>

#include "spruce/core/ops/ops.h"
#include "tests/core/message.h"

namespace spruce::data {
namespace batches_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

struct Set {
  Array x;  // f32[n, 2]
  Array y;  // i32[n]
};

// x[i] = {i, -i}, y[i] = i.
Set counted(int64_t n) {
  const Array y = arange(n, int32), x = astype(y, float32);
  return {stack({x, -x}, 1), y};
}

std::vector<int32_t> labels(const Batch<Set>& b) { return b.examples.y.to_vector<int32_t>(); }

template <class T>
std::vector<std::vector<int32_t>> all_labels(const Batches<T>& range) {
  std::vector<std::vector<int32_t>> out;
  for (const auto& b : range) out.push_back(labels(b));
  return out;
}

TEST(Batches, InOrderWithTheRestKept) {
  std::vector<int64_t> counts, steps;
  for (const auto& b : batches(counted(7), {.batch_size = 3})) {
    counts.push_back(b.count);
    steps.push_back(b.step);
    EXPECT_EQ(b.examples.x.shape(), (Shape{b.count, 2}));
    // Rows of both leaves stay together.
    EXPECT_TRUE(array_equal(b.examples.x[{ellipsis, 1}], -astype(b.examples.y, float32)));
    EXPECT_TRUE(all(b.mask).item<bool>());
  }
  EXPECT_THAT(counts, ElementsAre(3, 3, 1));
  EXPECT_THAT(steps, ElementsAre(0, 1, 2));
}

TEST(Batches, TheRestIsDroppedOrPadded) {
  EXPECT_THAT(all_labels(batches(counted(7), {.batch_size = 3, .rest = Rest::kDrop})),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  const auto padded = batches(counted(7), {.batch_size = 3, .rest = Rest::kPad});
  EXPECT_THAT(all_labels(padded),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(6, 0, 1)));
  std::vector<int64_t> real;
  for (const auto& b : padded) real.push_back(sum(astype(b.mask, int32)).item<int32_t>());
  EXPECT_THAT(real, ElementsAre(3, 3, 1));
  // Fewer examples than a batch has: they are repeated as often as need be.
  EXPECT_THAT(all_labels(batches(counted(2), {.batch_size = 5, .rest = Rest::kPad})),
              ElementsAre(ElementsAre(0, 1, 0, 1, 0)));
}

TEST(Batches, EpochsAreShuffledAnewAndReproducibly) {
  const auto run = batches(counted(20), {.batch_size = 20, .epochs = 3, .key = Key(5)});
  const auto first = all_labels(run), second = all_labels(run);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first, second);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[1], first[2]);
  for (std::vector<int32_t> epoch : first) {
    std::sort(epoch.begin(), epoch.end());
    for (int32_t i = 0; i < 20; ++i) EXPECT_EQ(epoch[static_cast<size_t>(i)], i);
  }
}

TEST(Batches, GoesOnWhereARunWasStopped) {
  BatchesOptions options{.batch_size = 4, .epochs = 3, .key = Key(1)};
  const auto whole = all_labels(batches(counted(10), options));
  ASSERT_EQ(whole.size(), 9u);
  for (int64_t step = 0; step <= 9; ++step) {
    options.first_step = step;
    const auto rest = all_labels(batches(counted(10), options));
    EXPECT_EQ(rest, std::vector(whole.begin() + step, whole.end()));
  }
}

TEST(Batches, EpochsWithoutEnd) {
  const auto run = batches(counted(4), {.batch_size = 2, .epochs = 0});
  EXPECT_EQ(run.size(), -1);
  EXPECT_EQ(run.per_epoch(), 2);
  for (const auto& b : run) {
    EXPECT_EQ(b.epoch, b.step / 2);
    EXPECT_EQ(b.index, b.step % 2);
    if (b.step == 11) break;
  }
}

TEST(Batches, PrefetchGivesTheSame) {
  for (const int64_t ahead : {1, 2, 7}) {
    BatchesOptions options{.batch_size = 3, .epochs = 4, .key = Key(2)};
    const auto plain = all_labels(batches(counted(11), options));
    options.prefetch = ahead;
    EXPECT_EQ(all_labels(batches(counted(11), options)), plain);
  }
}

TEST(Batches, PrefetchMakesAheadAndNoMore) {
  std::atomic<int> made = 0;
  const auto load = [&](std::span<const int64_t> indices) {
    ++made;
    return array(std::vector<int64_t>(indices.begin(), indices.end()));
  };
  const auto run = batches_by(load, in_order(100), {.batch_size = 1, .prefetch = 3});
  auto i = run.begin();
  while (made < 5) std::this_thread::yield();  // the first one, 3 that wait, and one in hand
  EXPECT_EQ(i->examples.item<int64_t>(), 0);
  ++i;
  EXPECT_EQ(i->examples.item<int64_t>(), 1);
  EXPECT_LE(made, 6);
}

// A loader that stops in front of one of its batches until it is let on.
class Gate {
 public:
  explicit Gate(int64_t closed) : closed_(closed) {}
  // Makes batch i, and stops where it is the closed one.
  Array load(std::span<const int64_t> indices) {
    std::unique_lock lock(mutex_);
    begun_ = indices[0];
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || indices[0] < closed_; });
    return array(std::vector<int64_t>(indices.begin(), indices.end()));
  }
  // Waits until the loader has begun with the closed batch; false where it does not.
  bool reached() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return begun_ == closed_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t closed_, begun_ = -1;
  bool open_ = false;
};

TEST(Batches, PrefetchHasItsBatchesReadyWhileOneIsUsed) {
  for (const int64_t ahead : {1, 2, 5}) {
    // The batch in use is the first; behind it `ahead` are made before the loader comes to the
    // gate.
    Gate gate(1 + ahead);
    const auto run = batches_by([&](std::span<const int64_t> i) { return gate.load(i); },
                                in_order(20), {.batch_size = 1, .prefetch = ahead});
    auto i = run.begin();
    EXPECT_EQ(i->step, 0);
    const bool reached = gate.reached();
    EXPECT_TRUE(reached) << "fewer than " << ahead << " batches are made ahead";
    if (!reached) gate.open();
    // The loader makes nothing any more: these are the ones that were ready.
    for (int64_t k = 1; k <= ahead; ++k) {
      ++i;
      EXPECT_EQ(i->step, k);
    }
    gate.open();
    ++i;
    EXPECT_EQ(i->examples.item<int64_t>(), 1 + ahead);
  }
}

TEST(Batches, WaitedIsTheTimeThatABatchTook) {
  using Clock = std::chrono::steady_clock;
  double made = 0;  // the time of the last call
  const auto load = [&](std::span<const int64_t> indices) {
    const Clock::time_point begin = Clock::now();
    Array out = array(std::vector<int64_t>(indices.begin(), indices.end()));
    made = std::chrono::duration<double>(Clock::now() - begin).count();
    return out;
  };
  const auto run = batches_by(load, in_order(3), {.batch_size = 1});
  Clock::time_point asked = Clock::now();
  for (auto i = run.begin(); i != run.end(); ++i) {
    EXPECT_GE(i.waited(), made);
    EXPECT_LE(i.waited(), std::chrono::duration<double>(Clock::now() - asked).count());
    asked = Clock::now();
  }
}

TEST(Batches, WhatLoadingThrowsComesInItsPlace) {
  for (const int64_t prefetch : {0, 2}) {
    const auto load = [](std::span<const int64_t> indices) {
      if (indices[0] == 2) throw IoError("load: 2.png: is not there");
      return array(std::vector<int64_t>(indices.begin(), indices.end()));
    };
    const auto run = batches_by(load, in_order(5), {.batch_size = 1, .prefetch = prefetch});
    auto i = run.begin();
    EXPECT_EQ(i->step, 0);
    ++i;
    EXPECT_EQ(i->step, 1);
    EXPECT_THROW(++i, IoError);
  }
}

TEST(Batches, AnUnfinishedRunStopsItsThread) {
  for (int k = 0; k < 20; ++k) {
    for (const auto& b : batches(counted(50), {.batch_size = 1, .epochs = 0, .prefetch = 2})) {
      if (b.step == k) break;
    }
  }
}

TEST(Batches, BadOptionsAreNamed) {
  const Set set = counted(5);
  const auto of = [&](const BatchesOptions& o) {
    return message<ValueError>([&] { batches(set, o); });
  };
  EXPECT_THAT(of({.batch_size = 0}),
              HasSubstr("batches: batch_size is 0; it has to be at least 1"));
  EXPECT_THAT(of({.epochs = -1}), HasSubstr("epochs is -1"));
  EXPECT_THAT(of({.prefetch = -1}), HasSubstr("prefetch is -1"));
  EXPECT_THAT(of({.first_step = -2}), HasSubstr("first_step is -2"));
  EXPECT_THAT(of({.batch_size = 6, .rest = Rest::kDrop}),
              HasSubstr("5 examples give no batch of 6; take a smaller batch_size"));
  EXPECT_THAT(message<ValueError>([&] { batches(set, in_order(5), {.key = Key(0)}); }),
              HasSubstr("give it to shuffled()"));
  EXPECT_THAT(message<ShapeError>([&] {
                batches(Set{zeros({4, 2}), zeros({5})}, {});
              }),
              HasSubstr("x is f32[4,2] and y is f32[5]; their first axes, of examples, differ"));
  EXPECT_THROW(batches(Set{Array(1.0f), zeros({5})}, {}), ShapeError);
  EXPECT_THAT(message<ShapeError>([] {
                batches(std::pair{zeros({2, 3}), Key(5)}, {});
              }),
              HasSubstr("1 is one key and has no axis of examples; random::split(key, n) makes n"));
  const auto keyed = take_examples(std::pair{zeros({2, 3}), random::split(Key(5), 2)}, {1});
  EXPECT_EQ(keyed.second.shape(), (Shape{1}));
  EXPECT_THROW(batches(Set{}, {}), ValueError);
  EXPECT_THROW(batches(std::vector<Array>{}, {}), TreeError);
}

TEST(Batches, TakesNumbersOutsideAsErrors) {
  EXPECT_THAT(message<IndexError>([] {
                take_examples(counted(3), {0, 3});
              }),
              HasSubstr("take_examples: there is no example 3 in x, which is f32[3,2]"));
  EXPECT_THROW(take_examples(counted(3), {-1}), IndexError);
  const Sampler beyond{2, [](int64_t) { return std::vector<int64_t>{1, 12}; }};
  const Sampler short_of{2, [](int64_t) { return std::vector<int64_t>{1}; }};
  for (const int64_t prefetch : {0, 2}) {
    const auto run = [&](const Sampler& sampler) {
      return message([&] { batches(counted(3), sampler, {.prefetch = prefetch}).begin(); },
                     nullptr);
    };
    EXPECT_THAT(run(beyond), HasSubstr("there is no example 12 in x"));
    EXPECT_THAT(run(beyond), HasSubstr("batches_test.cc"));
    EXPECT_THAT(run(short_of), HasSubstr("batches_test.cc"));
  }
  EXPECT_EQ(take_examples(counted(3), std::vector<int64_t>{}).x.shape(), (Shape{0, 2}));
}

TEST(StackExamples, LeavesGetAnAxis) {
  const std::vector<Set> single = {{array({1.0f, 2.0f}), array(3)},
                                   {array({4.0f, 5.0f}), array(6)}};
  const Set all = stack_examples(single);
  EXPECT_EQ(all.x.shape(), (Shape{2, 2}));
  EXPECT_THAT(all.x.to_vector<float>(), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(all.y.to_vector<int32_t>(), ElementsAre(3, 6));
  EXPECT_THROW(stack_examples(std::vector<Set>{}), ValueError);
  EXPECT_THAT(message<ShapeError>([] {
                stack_examples(std::vector<Array>{zeros({2}), zeros({3})});
              }),
              HasSubstr("f32[2] in example 0 and f32[3] in example 1; collate() pads"));
  EXPECT_THROW(stack_examples(std::vector<Array>{zeros({2}), zeros({2}, int32)}), DtypeError);
}

}  // namespace batches_test
}  // namespace spruce::data
