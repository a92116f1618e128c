// SPDX-License-Identifier: Apache-2.0
// An intrusive, thread-safe reference-counted pointer.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "spruce/core/cxx20.h"

namespace spruce {

/// Base of what a Ref points to: a count that starts at zero.
class RefCounted {
 public:
  /// A count of zero; the first Ref makes it one.
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  /// Neither copied nor assigned: the count belongs to one object.
  RefCounted& operator=(const RefCounted&) = delete;

  /// Counts one more reference. Without any the object is new and no other thread knows it, so that
  /// a plain store will do.
  void retain() const {
    if (refs_.load(std::memory_order_relaxed) == 0)
      refs_.store(1, std::memory_order_relaxed);
    else
      refs_.fetch_add(1, std::memory_order_relaxed);
  }
  /// True if this was the last reference.
  bool release() const {
    if (refs_.load(std::memory_order_acquire) == 1) return true;
    return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// True if exactly one reference is held: whoever holds it may change the object.
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

 private:
  mutable std::atomic<int32_t> refs_{0};
};

/// Shared ownership of a T, which derives from RefCounted and has `static void destroy(const T*)`.
template <class T>
class Ref {
 public:
  /// Null.
  Ref() = default;
  /// Shares `p`, which may be null; copies count one more reference, moves none.
  explicit Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  /// A Ref to `p` that is not counted. It must never be destroyed, only copied, and while it is in
  /// use another Ref must hold the object.
  static Ref lent(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  /// Gives up its own reference for that of `o`.
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_ && p_->release()) T::destroy(p_);
  }

  /// The object, null for none; still owned by the Ref.
  T* get() const { return p_; }
  /// A member of the object, which must be there.
  T* operator->() const { return p_; }
  /// The object, which must be there.
  T& operator*() const { return *p_; }
  /// True unless null.
  explicit operator bool() const { return p_ != nullptr; }
  /// True for the same object.
  friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

}  // namespace spruce
