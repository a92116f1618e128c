// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <vector>

#ifdef SPRUCE_HAS_OPENMP
#include <omp.h>
#include <pthread.h>
#else
#include <thread>
#endif

namespace spruce {
namespace {

int default_threads() {
#ifdef SPRUCE_HAS_OPENMP
  return std::clamp(omp_get_max_threads(), 1, omp_get_num_procs());
#else
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#endif
}

std::atomic<int>& thread_count() {
  static std::atomic<int> n{default_threads()};
  return n;
}

#ifdef SPRUCE_HAS_OPENMP
// In a child of fork(): libgomp would hand work to threads of the parent, which the child does not
// have, and wait for them. Without active levels it never asks for a second thread, neither for us
// nor for oneDNN.
void stay_on_one_thread() {
  omp_set_max_active_levels(0);
  thread_count().store(1, std::memory_order_relaxed);
}

void watch_forks() {
  [[maybe_unused]] static const int kWatched = pthread_atfork(nullptr, nullptr, stay_on_one_thread);
}
#else
thread_local bool in_team = false;
#endif

}  // namespace

void set_threads(int n, Loc loc) {
  const LocScope at(loc);
  if (n < 1)
    throw ValueError("set_threads: " + std::to_string(n) + " threads; at least one is needed");
  if (n > kMostThreads) {
    throw ValueError("set_threads: " + std::to_string(n) + " threads; at most " +
                     std::to_string(kMostThreads) +
                     " are possible, and more than there are cores make nothing faster");
  }
  thread_count().store(n, std::memory_order_relaxed);
#ifdef SPRUCE_HAS_OPENMP
  omp_set_num_threads(n);
#endif
}

int threads() { return thread_count().load(std::memory_order_relaxed); }

namespace cpu {

void parallel_ranges(int64_t n, int64_t grain, RangeFn f, void* context) {
  const int64_t wanted =
      std::min<int64_t>(threads(), (n + grain - 1) / std::max<int64_t>(grain, 1));
#ifdef SPRUCE_HAS_OPENMP
  const bool nested = omp_in_parallel() != 0;
#else
  const bool nested = in_team;
#endif
  if (wanted <= 1 || nested) {
    f(context, 0, n);
    return;
  }
  const int64_t chunk = ((n + wanted - 1) / wanted + 63) / 64 * 64;
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  const auto part = [&](int64_t i) {
    const int64_t begin = i * chunk, end = std::min(n, begin + chunk);
    if (begin >= end) return;
    try {
      f(context, begin, end);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
#ifdef SPRUCE_HAS_OPENMP
  watch_forks();
#pragma omp parallel for num_threads(static_cast <int>(wanted)) schedule(static, 1)
  for (int64_t i = 0; i < wanted; ++i) part(i);
#else
  std::vector<std::thread> team;
  for (int64_t i = 1; i < wanted; ++i) {
    team.emplace_back([&part, i] {
      in_team = true;
      part(i);
    });
  }
  part(0);
  for (std::thread& t : team) t.join();
#endif
  if (error) std::rethrow_exception(error);
}

}  // namespace cpu
}  // namespace spruce
