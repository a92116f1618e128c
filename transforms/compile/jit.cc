// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/jit.h"

#include <absl/hash/hash.h>

#include <utility>

#include "spruce/core/tree/named_arrays.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce::tree::internal {

template <>
void walk(const NamedArrays& x, spruce::internal::KeyVisitor& v) {
  v.fixed(x.holds_buffers());
  for (const auto& [name, value] : x) {
    v.key(name);
    v.leaf(value, Leaf::kArray);
  }
}

}  // namespace spruce::tree::internal

namespace spruce::internal {

struct JitCache::Entry {
  std::string key;
  std::unique_ptr<const Compiled> compiled;
};

// Open addressing, at most half full. A slot is written once.
struct JitCache::Table {
  explicit Table(size_t size)
      : mask(size - 1), slots(std::make_unique<std::atomic<const Entry*>[]>(size)) {}
  const Entry* find(std::string_view key) const noexcept {
    for (size_t i = absl::HashOf(key) & mask;; i = (i + 1) & mask) {
      const Entry* e = slots[i].load(std::memory_order_acquire);
      if (e == nullptr || e->key == key) return e;
    }
  }
  void add(const Entry* entry) const noexcept {
    size_t i = absl::HashOf(std::string_view(entry->key)) & mask;
    while (slots[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & mask;
    slots[i].store(entry, std::memory_order_release);
  }
  size_t mask;
  std::unique_ptr<std::atomic<const Entry*>[]> slots;
};

JitCache::JitCache(std::string name, bool warns) : log_(std::move(name), warns) {
  tables_.push_back(std::make_unique<const Table>(8));
  table_.store(tables_.back().get(), std::memory_order_release);
}

JitCache::~JitCache() = default;

const Compiled* JitCache::find(std::string_view key) const noexcept {
  const Entry* e = table_.load(std::memory_order_acquire)->find(key);
  return e == nullptr ? nullptr : e->compiled.get();
}

const Compiled* JitCache::insert(std::string_view key, std::unique_ptr<const Compiled> compiled) {
  const std::lock_guard lock(mutex_);
  if (const Compiled* found = find(key)) return found;
  auto entry = std::make_unique<Entry>();
  entry->key = key;
  entry->compiled = std::move(compiled);
  if (2 * (entries_.size() + 1) > tables_.back()->mask + 1) {
    tables_.push_back(std::make_unique<const Table>(2 * (tables_.back()->mask + 1)));
    for (const auto& e : entries_) tables_.back()->add(e.get());
    table_.store(tables_.back().get(), std::memory_order_release);
  }
  entries_.push_back(std::move(entry));
  tables_.back()->add(entries_.back().get());
  return entries_.back()->compiled.get();
}

namespace {

// Nothing destroys it: functions are called in destructors of a thread's other objects too.
struct OfThread {
  std::string* spare = nullptr;
  bool ended = false;
};
thread_local constinit OfThread of_thread;

struct EndOfThread {
  ~EndOfThread() {
    delete std::exchange(of_thread.spare, nullptr);
    of_thread.ended = true;
  }
};

std::string& take_string() {
  if (std::string* s = std::exchange(of_thread.spare, nullptr)) {
    s->clear();
    return *s;
  }
  if (!of_thread.ended) {
    thread_local const EndOfThread end;
    (void)end;
  }
  return *new std::string;
}

}  // namespace

KeyMemory::KeyMemory() : bytes(take_string()) {}
KeyMemory::~KeyMemory() {
  OfThread& t = of_thread;
  if (t.spare == nullptr && !t.ended)
    t.spare = &bytes;
  else
    delete &bytes;
}

Array placeholder(tree::Leaf kind) {
  return make_array(kind == tree::Leaf::kKey ? Aval{Dtype::kUint32, false, Shape{2}}
                                             : Aval{Dtype::kBool, false, Shape{0}});
}

Graph prepare(Graph graph) {
  check(graph, Loc::none());
  return passes::dead_code(passes::common_subexpressions(std::move(graph)));
}

}  // namespace spruce::internal
