// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/parallel.h"

#include <gmock/gmock.h>
#include <spruce/spruce.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

namespace spruce {
namespace parallel_test {

class ThreadCount {
 public:
  explicit ThreadCount(int n) : saved_(threads()) { set_threads(n); }
  ~ThreadCount() { set_threads(saved_); }

 private:
  int saved_;
};

float work() {
  const Array x = ones({512, 512});
  const auto f = jit([](const Array& a) { return sum(exp(a * 0.5f) + a) + sum(matmul(a, a)); });
  return f(x).item<float>() + sum(sin(ones({1 << 21}))).item<float>();
}

// How the child of a fork() that runs `f` ends: 0 if f was true; a signal where it hangs.
int status_of_child(const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Fork, AChildComputesAfterThreadedWorkOfItsParent) {
  const ThreadCount four(4);
  const float want = work();
  EXPECT_EQ(status_of_child([&] { return work() == want; }), 0);
  EXPECT_EQ(work(), want);  // and the parent goes on with its threads
  EXPECT_EQ(threads(), 4);
}

TEST(Fork, AChildThatAsksForThreadsComputesToo) {
  const ThreadCount four(4);
  const float want = work();
  EXPECT_EQ(status_of_child([&] {
              set_threads(3);
              float other = 0;
              std::thread([&] { other = work(); }).join();  // a new thread has threads of its own
              const auto grandchild = [&] { return work() == want; };
              return work() == want && other == want && status_of_child(grandchild) == 0;
            }),
            0);
}

std::string error_of(int n) {
  try {
    set_threads(n);
  } catch (const ValueError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Threads, TheirNumberIsCheckedAndTheUsersLineNamed) {
  const int before = threads();
  EXPECT_THAT(error_of(0), testing::StartsWith("set_threads: 0 threads; at least one is needed\n"));
  EXPECT_THAT(error_of(100000), testing::StartsWith("set_threads: 100000 threads; at most 1024 "));
  EXPECT_THAT(error_of(0), testing::HasSubstr("parallel_test.cc:"));
  EXPECT_EQ(threads(), before);
}

// Run by the test below, in a process of its own.
TEST(Threads, DISABLED_AreNoMoreThanCores) {
  EXPECT_GE(threads(), 1);
  EXPECT_LE(threads(), static_cast<int>(std::thread::hardware_concurrency()));
  if (std::string(getenv("OMP_NUM_THREADS")) == "1") {
    EXPECT_EQ(threads(), 1);
  }
}

TEST(Threads, OmpNumThreadsIsBoundByTheNumberOfCores) {
  const char* variable = getenv("OMP_NUM_THREADS");
  const std::string saved = variable == nullptr ? "" : variable;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  for (const char* n : {"100000", "1"}) {
    setenv("OMP_NUM_THREADS", n, 1);
    EXPECT_EQ(std::system(("'" + program +
                           "' --gtest_also_run_disabled_tests "
                           "--gtest_filter=Threads.DISABLED_AreNoMoreThanCores >/dev/null")
                              .c_str()),
              0)
        << n;
  }
  if (variable == nullptr)
    unsetenv("OMP_NUM_THREADS");
  else
    setenv("OMP_NUM_THREADS", saved.c_str(), 1);
}

}  // namespace parallel_test
}  // namespace spruce
