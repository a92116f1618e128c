// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/checkpoints.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "spruce/core/ops/ops.h"
#include "spruce/data/batches.h"
#include "tests/core/io/scratch.h"

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
  std::filesystem::remove_all(s.path("x"));
  run.save(1, state_of(1));  // on its thread
  EXPECT_THAT(io_error([&] { run.wait(); }), HasSubstr("Checkpoints::save"));
  std::filesystem::create_directory(s.path("x"));
  run.save(2, state_of(1));  // what was thrown once is not thrown again
  run.wait();
  EXPECT_THAT(run.steps(), ElementsAre(2));
}

// --- a process that is killed ------------------------------------------------------------------

constexpr const char* kFolder = "SPRUCE_TEST_CHECKPOINTS";
constexpr int64_t kSteps = 60;

struct Run {
  Array weight;
  Array mean;
  Key key;
};

// A run of kSteps steps whose every bit depends on all steps before, which goes on where the folder
// says.
void train(const std::string& folder) {
  const Array set = random::normal(Key(1), {64, 1 << 12});
  Checkpoints checkpoints(folder, 2);
  Run run{zeros({1 << 12}), zeros({1 << 12}), Key(7)};
  int64_t done = 0;
  if (auto last = checkpoints.restore(run)) {
    run = last->tree;
    done = last->step;
  }
  const data::BatchesOptions options{
      .batch_size = 8, .epochs = 0, .key = Key(3), .prefetch = 2, .first_step = done};
  for (const auto& batch : data::batches(set, options)) {
    if (batch.step == kSteps) break;
    const auto [next, noise] = random::split<2>(run.key);
    run.key = next;
    run.mean = 0.9f * run.mean + 0.1f * mean(batch.examples, 0);
    run.weight =
        run.weight - 0.1f * (run.weight - run.mean) + 0.01f * random::normal(noise, {1 << 12});
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

TEST(CheckpointsKilled, GoOnToTheSameBits) {
  const Scratch s;
  train(s.path("whole"));
  std::mt19937 random(20261123);
  for (int kill_number = 0; kill_number < 6; ++kill_number) {
    const pid_t process = start(s.path("killed"));
    // Whichever moment it is, the outcome has to be the same.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 90'000));
    kill(process, SIGKILL);
    finish(process);
  }
  EXPECT_EQ(finish(start(s.path("killed"))), 0);
  Checkpoints whole(s.path("whole")), killed(s.path("killed"));
  EXPECT_THAT(killed.steps(), ElementsAre(kSteps - 1, kSteps));
  EXPECT_EQ(s.read("whole/step_000000000060.safetensors"),
            s.read("killed/step_000000000060.safetensors"));
  for (const auto& entry : std::filesystem::directory_iterator(s.path("killed")))
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("step_"));
}

}  // namespace checkpoints_test
}  // namespace spruce::io
