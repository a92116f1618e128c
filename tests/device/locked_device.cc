// SPDX-License-Identifier: Apache-2.0
#include "tests/device/locked_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
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

// Pages that nobody may touch but while they are open.
class LockedMemory {
 public:
  void* allocate(size_t bytes) {
    const size_t n = whole_pages(bytes);
    void* p = ::mmap(nullptr, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<char*>(p)] = {n, 0};
    return p;
  }
  void release(void* p) noexcept {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(static_cast<char*>(p));
    ::munmap(p, it->second.bytes);
    blocks_.erase(it);
  }
  void open(const void* p) { change(p, 1); }
  void close(const void* p) { change(p, -1); }

 private:
  struct Block {
    size_t bytes;
    int open;
  };
  static size_t whole_pages(size_t bytes) {
    static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes / page + 1) * page;
  }
  // Memory of the host, numbers among the inputs, is not known here.
  void change(const void* p, int by) {
    const std::lock_guard lock(mutex_);
    auto it = blocks_.upper_bound(static_cast<char*>(const_cast<void*>(p)));
    if (it == blocks_.begin()) return;
    --it;
    auto& [begin, block] = *it;
    if (static_cast<const char*>(p) >= begin + block.bytes) return;
    const bool was_open = block.open > 0;
    block.open += by;
    if (was_open != (block.open > 0))
      ::mprotect(begin, block.bytes, block.open > 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

  std::mutex mutex_;
  std::map<char*, Block> blocks_;
};

LockedMemory& memory() {
  static LockedMemory* m = new LockedMemory;
  return *m;
}

class Opened {
 public:
  explicit Opened(std::initializer_list<std::span<const View>> views) : views_(views) {
    for (const auto& span : views_) {
      for (const View& v : span) memory().open(v.data);
    }
  }
  ~Opened() {
    for (const auto& span : views_) {
      for (const View& v : span) memory().close(v.data);
    }
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  std::vector<std::span<const View>> views_;
};

class LockedExecutable final : public Executable {
 public:
  explicit LockedExecutable(const Graph& graph) : plan_(graph, true) {}
  void run(std::span<const View> in, std::span<const View> out, bool& began) const override {
    ++graphs;
    const Opened opened({in, out});
    void* workspace = internal::pool_allocate(plan_.workspace_bytes());
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const View& v : in) from.push_back(v.data);
    for (const View& v : out) to.push_back(v.data);
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
    memory().open(to);
    if (bytes > 0) std::memcpy(to, from, bytes);
    memory().close(to);
  }
  void copy_to_host(void* to, const void* from, size_t bytes) override {
    memory().open(from);
    if (bytes > 0) std::memcpy(to, from, bytes);
    memory().close(from);
  }
  void run(const Primitive& p, const KernelArgs& args) override {
    if (p.cpu == nullptr) throw DeviceError(std::string(p.name) + ": no kernel on " + name_);
    ++kernels;
    const Opened opened({args.in, args.out});
    p.cpu(args);
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
