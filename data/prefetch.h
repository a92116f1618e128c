// SPDX-License-Identifier: Apache-2.0
// Values made ahead by a thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "spruce/core/error.h"

namespace spruce::data {

/// Calls `make` on a thread of its own until it returns nothing, and keeps up to `ahead` results
/// ready. What `make` throws is thrown by next() where its result would have come, and there is
/// nothing behind it. next() is for one thread; the destructor waits for the call of `make` that is
/// under way.
template <class T>
class Prefetch {
 public:
  /// Begins at once. Throws ValueError for an `ahead` below 1.
  Prefetch(std::function<std::optional<T>()> make, int64_t ahead, Loc loc = Loc::current())
      : make_(std::move(make)), ahead_(static_cast<size_t>(ahead)) {
    if (ahead < 1) {
      const LocScope at(loc);
      throw ValueError("Prefetch: " + std::to_string(ahead) + " values ahead; take at least 1");
    }
    thread_ = std::thread([this] { run(); });
  }
  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Prefetch(const Prefetch&) = delete;
  /// Neither copied nor assigned: the thread refers to it.
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next value, waiting for it if need be; nothing at the end. Throws what `make` threw.
  std::optional<T> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || done_; });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return std::nullopt;
    }
    std::optional<T> out(std::move(ready_.front()));
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return out;
  }

 private:
  void run() {
    for (bool more = true; more;) {
      std::optional<T> made;
      std::exception_ptr error;
      try {
        made = make_();
      } catch (...) {
        error = std::current_exception();
      }
      std::unique_lock lock(mutex_);
      if (made) {
        changed_.wait(lock, [&] { return stopped_ || ready_.size() < ahead_; });
        ready_.push_back(std::move(*made));
        more = !stopped_;
      } else {
        error_ = error;
        done_ = true;
        more = false;
      }
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::function<std::optional<T>()> make_;
  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;  // of what follows
  std::deque<T> ready_;
  std::exception_ptr error_;
  bool done_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace spruce::data
