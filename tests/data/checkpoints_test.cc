// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/checkpoints.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "spruce/core/ops/ops.h"
#include "spruce/data/batches.h"
#include "spruce/nn/nn.h"
#include "spruce/optim/optim.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/io/scratch.h"
#include "tests/core/message.h"

extern char** environ;

namespace spruce::io {
namespace checkpoints_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct State {
  Array weight;
  std::vector<Array> moments;
  Key key;
  double rate = 0.1;  // static
};

State state_of(float x) {
  return {full({3}, x), {full({2}, -x)}, Key(static_cast<int>(x)), x / 2.0};
}

TEST(Checkpoints, RestoresTheLast) {
  const Scratch s;
  for (const bool background : {true, false}) {
    const std::string folder = s.path(background ? "a/b" : "c");
    Checkpoints run(folder, 2, {.background = background});
    EXPECT_FALSE(run.restore(state_of(0)).has_value());
    for (const int step : {10, 20, 30, 40}) run.save(step, state_of(static_cast<float>(step)));
    EXPECT_THAT(run.steps(), ElementsAre(30, 40));
    const auto last = run.restore(state_of(0));
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->step, 40);
    EXPECT_TRUE(tree::equal(last->tree, state_of(40)));
    EXPECT_EQ(last->tree.rate, 20);  // the static field is that of the file
    EXPECT_TRUE(tree::equal(run.restore_step(30, state_of(0)), state_of(30)));
    EXPECT_THROW(run.restore_step(10, state_of(0)), IoError);
    // Another run, or another process, finds them.
    EXPECT_EQ(Checkpoints(folder).restore(state_of(0))->step, 40);
  }
}

TEST(Checkpoints, OneStepIsRestoredAsItWasSavedLast) {
  const Scratch s;
  Checkpoints run(s.path("x"), 0);
  for (const float x : {1.0f, 2.0f}) {
    run.save(1, full({1 << 20}, x));
    EXPECT_EQ(run.restore_step(1, zeros({1 << 20}))[0].item<float>(), x);
  }
}

struct DecayedRun {
  Array w, rate;  // the rate is a C++ number
};

TEST(Checkpoints, ARunWithANumberGoesOnBitByBit) {
  const Scratch s;
  const auto step = jit([](const DecayedRun& r) {
    return DecayedRun{r.w - r.rate * r.w, 0.9 * r.rate};
  });
  for (const Dtype dtype : {float64, float32, bfloat16}) {
    const auto train = [&](const std::string& folder, int64_t until) {
      Checkpoints checkpoints(folder);
      DecayedRun run{full({2}, 1.7, dtype), 0.1};
      int64_t at = 0;
      if (const auto last = checkpoints.restore(run)) {
        run = last->tree;
        at = last->step;
      }
      for (; at < until; ++at) run = step(run);
      checkpoints.save(at, run);
      return run;
    };
    const std::string a = s.path(name(dtype).data()), b = a + "_in_parts";
    const DecayedRun whole = train(a, 40);
    for (const int64_t until : {10, 20}) train(b, until);
    const DecayedRun parts = train(b, 40);
    EXPECT_TRUE(tree::equal(parts, whole)) << dtype;
    EXPECT_EQ(parts.rate.aval(), whole.rate.aval());
  }
  EXPECT_EQ(step.trace_count(), 3);
}

TEST(Checkpoints, ARunThatWentBackRemovesWhatIsBehind) {
  const Scratch s;
  Checkpoints run(s.path("x"), 0);
  for (const int step : {10, 11, 12}) run.save(step, state_of(1));
  run.remove_after(10);
  EXPECT_THAT(run.steps(), ElementsAre(10));
  run.save(11, state_of(7));
  const auto last = run.restore(state_of(0));
  EXPECT_EQ(last->step, 11);
  EXPECT_TRUE(tree::equal(last->tree, state_of(7)));
}

TEST(Checkpoints, KeepsAllOrOne) {
  const Scratch s;
  Checkpoints all(s.path("all"), 0), one(s.path("one"), 1);
  for (int64_t step = 0; step < 6; ++step) {
    all.save(step, state_of(1));
    one.save(step, state_of(1));
  }
  EXPECT_THAT(all.steps(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(one.steps(), ElementsAre(5));
  // A run that went back keeps what it writes.
  one.save(2, state_of(2));
  EXPECT_THAT(one.steps(), ElementsAre(2));
}

TEST(Checkpoints, WhatIsSavedLaterDoesNotChangeIt) {
  const Scratch s;
  Checkpoints run(s.path("x"));
  Array a = zeros({1 << 18});
  run.save(1, a);
  for (int i = 0; i < 10; ++i) a = std::move(a) + 1;  // would reuse the memory if it were free
  EXPECT_EQ(sum(run.restore(a)->tree).item<float>(), 0);
}

TEST(Checkpoints, DamagedOnesArePassedOver) {
  const Scratch s;
  Checkpoints run(s.path("x"));
  for (const int step : {1, 2, 3}) run.save(step, state_of(static_cast<float>(step)));
  run.wait();
  {
    std::fstream file(run.path_of(3), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end).put('\x7f');
  }
  EXPECT_THAT(io_error([&] { run.restore_step(3, state_of(0)); }),
              HasSubstr("is damaged: its checksum differs"));
  EXPECT_EQ(run.restore(state_of(0))->step, 2);
  std::filesystem::resize_file(run.path_of(3), 40);
  EXPECT_EQ(run.restore(state_of(0))->step, 2);
  std::filesystem::resize_file(run.path_of(2), 0);
  EXPECT_EQ(run.restore(state_of(0))->step, 1);
  std::filesystem::resize_file(run.path_of(1), 0);
  EXPECT_THAT(io_error([&] { run.restore(state_of(0)); }),
              HasSubstr("none of the checkpoints can be read; of the newest: "));
}

TEST(Checkpoints, OtherModelsAreErrors) {
  const Scratch s;
  Checkpoints run(s.path("x"));
  run.save(1, state_of(1));
  EXPECT_THROW(run.restore(std::vector{zeros({3})}), TreeError);
  State other = state_of(1);
  other.weight = zeros({4});
  EXPECT_THROW(run.restore(other), ShapeError);
}

TEST(Checkpoints, OtherFilesStay) {
  const Scratch s;
  std::filesystem::create_directory(s.path("x"));
  // Of no process that can be, of this one, and what only looks alike.
  const std::string mine = ".spruce-" + std::to_string(getpid()) + "-77.tmp";
  for (const std::string& name :
       {std::string(".spruce-2147483646-0.tmp"), mine, std::string("step_7.safetensors.bak"),
        std::string("step_x.safetensors")})
    s.file("x/" + name, "");
  Checkpoints run(s.path("x"), 1);
  run.save(1, state_of(1));
  run.save(2, state_of(1));
  EXPECT_THAT(run.steps(), ElementsAre(2));
  EXPECT_FALSE(std::filesystem::exists(s.path("x/.spruce-2147483646-0.tmp")));
  for (const std::string& name :
       {mine, std::string("step_7.safetensors.bak"), std::string("step_x.safetensors")})
    EXPECT_TRUE(std::filesystem::exists(s.path("x/" + name))) << name;
}

TEST(Checkpoints, WhatGoesWrongIsThrown) {
  const Scratch s;
  EXPECT_THROW(Checkpoints(s.path("x"), -1), ValueError);
  EXPECT_THAT(io_error([&] { Checkpoints(s.file("file", "")); }),
              HasSubstr("Checkpoints: the fold"));
  Checkpoints run(s.path("x"));
  EXPECT_THROW(run.save(-1, state_of(1)), ValueError);
  struct Named {
    Array a;
    std::string name;
  };
  EXPECT_THAT(message<ValueError>([&] {
                run.save(1, Named{ones({1}), "\xff"});
              }),
              HasSubstr("Checkpoints::save: the static field name that is '\xff' is no UTF-8"));
  std::filesystem::remove_all(s.path("x"));
  run.save(1, state_of(1));  // on its thread
  const std::string line = "checkpoints_test.cc:" + std::to_string(__LINE__ - 1);
  EXPECT_THAT(message<IoError>([&] { run.wait(); }, nullptr),
              testing::AllOf(HasSubstr("Checkpoints::save"), HasSubstr(line)));
  std::filesystem::create_directory(s.path("x"));
  run.save(2, state_of(1));  // what was thrown once is not thrown again
  run.wait();
  EXPECT_THAT(run.steps(), ElementsAre(2));
}

// --- a process that is killed ------------------------------------------------------------------

constexpr const char* kFolder = "SPRUCE_TEST_CHECKPOINTS";
constexpr int kKills = 50;
constexpr int64_t kSteps = 900;

struct Net {
  nn::Linear first, second;
  Array operator()(const Array& x, nn::Context& ctx) const {
    return second(nn::Dropout{0.2f}(nn::tanh(first(x)), ctx));
  }
};

// A run of kSteps steps whose every bit depends on all steps before (Adam's moments, the key of
// dropout, the order of the batches), which goes on where the folder says.
void train(const std::string& folder) {
  struct Set {
    Array x, y;
  };
  const Array x = random::normal(Key(1), {64, 16});
  const Set set{x, sin(sum(x, 1, {.keepdims = true}))};
  const auto optimizer = optim::adam({.learning_rate = 1e-2});
  struct Run {
    Net net;
    decltype(optimizer.init(Net())) state;
    Key key;
  };
  Run run{{nn::Linear::init(Key(2), 16, 32), nn::Linear::init(Key(3), 32, 1)}, {}, Key(7)};
  run.state = optimizer.init(run.net);
  Checkpoints checkpoints(folder, 2);
  int64_t done = 0;
  if (auto last = checkpoints.restore(run)) {
    run = last->tree;
    done = last->step;
  }
  const auto step = jit([&](const Run& r, const Set& batch) {
    const auto keys = random::split<2>(r.key);  // the next, and that of dropout
    const auto loss = [&](const Net& net) {
      nn::Context ctx;
      ctx.training = true;
      ctx.key = keys[1];
      return mean(square(net(batch.x, ctx) - batch.y));
    };
    const auto [updates, next] = optimizer.update(grad(loss)(r.net), r.state, r.net);
    return Run{optim::apply_updates(r.net, updates), next, keys[0]};
  });
  const data::BatchesOptions options{
      .batch_size = 8, .epochs = 0, .key = Key(3), .prefetch = 2, .first_step = done};
  for (const auto& batch : data::batches(set, options)) {
    if (batch.step == kSteps) break;
    run = step(std::move(run), batch.examples);
    checkpoints.save(batch.step + 1, run);
  }
  checkpoints.wait();
}

// The process that the test below starts and kills.
TEST(CheckpointsProcess, Train) {
  const char* folder = std::getenv(kFolder);
  if (folder == nullptr) GTEST_SKIP() << "a part of CheckpointsKilled";
  train(folder);
}

pid_t start(const std::string& folder) {
  std::string program = "/proc/self/exe", filter = "--gtest_filter=CheckpointsProcess.Train";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  setenv(kFolder, folder.c_str(), 1);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1, 0);
  pid_t process = 0;
  const int problem = posix_spawn(&process, program.c_str(), &quiet, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&quiet);
  unsetenv(kFolder);
  EXPECT_EQ(problem, 0);
  return process;
}

int finish(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

// The newest step in a folder that a process may be writing to, 0 before the first.
int64_t newest(const std::string& folder) {
  int64_t out = 0;
  std::error_code none;  // there may be no folder yet
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step_")) out = std::max<int64_t>(out, std::stoll(name.substr(5)));
  }
  return out;
}

TEST(CheckpointsKilled, GoOnToTheSameBits) {
  using std::this_thread::sleep_for, std::chrono::microseconds;
  const Scratch s;
  const std::string folder = s.path("killed");
  train(s.path("whole"));
  std::mt19937 random(20261124);
  int resumed = 0;  // how often there was something to go on from
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    const int64_t before = newest(folder);
    resumed += before > 0;
    const pid_t process = start(folder);
    // One in five while it starts, or soon after; the others in a step, or while its checkpoint is
    // written and renamed, or an older one removed.
    const bool early = random() % 5 == 0;
    const int64_t target = before + 1 + static_cast<int64_t>(random() % 8);
    const auto until = std::chrono::steady_clock::now() + microseconds(random() % 80'000);
    while (newest(folder) < target && !(early && std::chrono::steady_clock::now() > until)) {
      int status = 0;
      ASSERT_EQ(waitpid(process, &status, WNOHANG), 0) << "it ended by itself: " << status;
      sleep_for(microseconds(100));
    }
    sleep_for(microseconds(random() % 1'000));
    kill(process, SIGKILL);
    const int status = finish(process);
    ASSERT_TRUE(WIFSIGNALED(status)) << "kill " << kill_number << " came too late";
  }
  EXPECT_GT(resumed, kKills / 2);
  EXPECT_LT(newest(folder), kSteps);
  EXPECT_EQ(finish(start(folder)), 0);
  EXPECT_THAT(Checkpoints(folder).steps(), ElementsAre(kSteps - 1, kSteps));
  const std::string last = "/step_000000000900.safetensors";
  EXPECT_EQ(s.read("whole" + last), s.read("killed" + last));
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("step_"));
}

TEST(Checkpoints, ThatWereMovedFromSaySo) {
  Checkpoints first(testing::TempDir() + "moved_checkpoints");
  const Checkpoints second = std::move(first);
  EXPECT_THROW(first.wait(), ValueError);
  EXPECT_THROW(first.save(1, array(1.0f)), ValueError);
  second.wait();
}

}  // namespace checkpoints_test
}  // namespace spruce::io
