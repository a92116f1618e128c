// SPDX-License-Identifier: Apache-2.0
#include "tests/device/locked_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/default_device.h"
#include "spruce/core/memory.h"
#include "spruce/core/primitive.h"
#include "spruce/transforms/compile/plan.h"

namespace spruce::test_device {
namespace {

std::atomic<int64_t> kernels{0}, graphs{0};

// Arrays have addresses that nobody may touch; what they stand for is elsewhere, where kernels find
// it and where none gets past the last page of a block.
class LockedMemory {
 public:
  LockedMemory() {
    const auto map = [](int protection) {
      constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
      void* p = ::mmap(nullptr, kBytes, protection, kKind, -1, 0);
      if (p == MAP_FAILED) throw std::bad_alloc();
      return static_cast<char*>(p);
    };
    locked_ = map(PROT_NONE);
    open_ = map(PROT_READ | PROT_WRITE);
  }
  void* allocate(size_t bytes) {
    const size_t n = whole_pages(bytes);
    const std::lock_guard lock(mutex_);
    std::vector<char*>& released = released_[n];
    char* p = locked_ + used_;
    if (!released.empty()) {
      p = released.back();
      released.pop_back();
    } else {
      if (kBytes - used_ < n + page_) throw std::bad_alloc();
      ::mprotect(open_ + used_ + n, page_, PROT_NONE);
      used_ += n + page_;
    }
    blocks_[p] = n;
    return p;
  }
  void release(void* p) {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(static_cast<char*>(p));
    const auto [begin, n] = *it;
    if (n > kKept) ::madvise(open_ + (begin - locked_), n, MADV_DONTNEED);
    released_[n].push_back(begin);
    blocks_.erase(it);
  }
  // Where a kernel finds what an array has at `p`. Memory of the host, numbers among the inputs, is
  // not known here.
  void* open(const void* p) {
    auto* at = static_cast<char*>(const_cast<void*>(p));
    if (at < locked_ || at >= locked_ + kBytes) return at;
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.upper_bound(at);
    if (it == blocks_.begin() || at >= std::prev(it)->first + std::prev(it)->second) {
      std::fputs("a kernel was given memory that has been released\n", stderr);
      std::abort();
    }
    return open_ + (at - locked_);
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 36;  // addresses; pages come with their first use
  static constexpr size_t kKept = 1 << 20;           // a larger block gives its pages back
  size_t whole_pages(size_t bytes) const { return (bytes / page_ + 1) * page_; }

  const size_t page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::mutex mutex_;
  char *locked_ = nullptr, *open_ = nullptr;
  size_t used_ = 0;
  std::map<char*, size_t> blocks_;                 // sizes
  std::map<size_t, std::vector<char*>> released_;  // by size
};

LockedMemory& memory() {
  static LockedMemory* m = new LockedMemory;
  return *m;
}

std::vector<View> opened(std::span<const View> views) {
  std::vector<View> out;
  for (const View& v : views) out.push_back({memory().open(v.data), v.aval});
  return out;
}

class LockedExecutable final : public Executable {
 public:
  explicit LockedExecutable(const Graph& graph) : plan_(graph, true) {}
  void run(std::span<const View> in, std::span<const View> out, bool& began) const override {
    ++graphs;
    void* workspace = internal::pool_allocate(plan_.workspace_bytes());
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const View& v : in) from.push_back(memory().open(v.data));
    for (const View& v : out) to.push_back(memory().open(v.data));
    plan_.bind(workspace);
    began = true;
    plan_.run(workspace, from.data(), to.data());
    internal::pool_release(workspace, plan_.workspace_bytes());
  }
  int64_t donor(size_t k) const override { return plan_.results()[k].donor; }

 private:
  internal::Plan plan_;
};

class LockedDevice final : public Device {
 public:
  explicit LockedDevice(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  void* allocate(size_t bytes) override { return memory().allocate(bytes); }
  void deallocate(void* data, size_t) noexcept override { memory().release(data); }
  void copy_from_host(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(memory().open(to), from, bytes);
  }
  void copy_to_host(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, memory().open(from), bytes);
  }
  void run(const Primitive& p, const KernelArgs& args) override {
    if (p.cpu == nullptr) throw DeviceError(std::string(p.name) + ": no kernel on " + name_);
    ++kernels;
    const std::vector<View> in = opened(args.in), out = opened(args.out);
    p.cpu({in, out, args.params, args.workspace});
  }
  std::unique_ptr<const Executable> compile(const Graph& graph) override {
    return std::make_unique<const LockedExecutable>(graph);
  }

 private:
  std::string name_;
};

// A whole program on the device, from its first line on.
[[maybe_unused]] const bool started = [] {
  const char* wanted = std::getenv("SPRUCE_TEST_DEVICE");
  const bool locked = wanted != nullptr && std::string_view(wanted) == "locked";
  if (locked) static const DefaultDevice scope(locked_device());
  return locked;
}();

}  // namespace

Device& locked_device() {
  static LockedDevice* d = new LockedDevice("locked:0");
  return *d;
}

Device& other_locked_device() {
  static LockedDevice* d = new LockedDevice("locked:1");
  return *d;
}

LockedRuns locked_runs() { return {kernels, graphs}; }

}  // namespace spruce::test_device
