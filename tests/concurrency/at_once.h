// SPDX-License-Identifier: Apache-2.0
// Runs a function on several threads that start together.
#pragma once

#include <barrier>
#include <exception>
#include <thread>
#include <vector>

namespace spruce::testing {

inline constexpr int kThreads = 8;

/// Calls f(0) ... f(kThreads - 1), each on its own thread; throws what the first of them threw.
template <class F>
void at_once(const F& f) {
  std::barrier start(kThreads);
  std::vector<std::exception_ptr> errors(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      try {
        f(i);
      } catch (...) {
        errors[static_cast<size_t>(i)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace spruce::testing
