// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/debug.h"

#include <atomic>
#include <cmath>

#include "spruce/core/environment.h"
#include "spruce/core/interpreter.h"

namespace spruce {
namespace {

std::atomic<bool>& flag() {
  static std::atomic<bool> on{internal::environment("SPRUCE_DEBUG_NANS", {"0", "1"}) == "1"};
  return on;
}

bool has_nan(const Array& x) {
  if (!is_floating(x.dtype())) return false;
  const Array a = internal::on_host(x);
  return visit_dtype(a.dtype(), [&]<class T>(T) {
    const T* elements = static_cast<const T*>(internal::mutable_data(a));
    for (int64_t i = 0, n = a.size(); i < n; ++i) {
      if constexpr (std::is_same_v<T, double>) {
        if (std::isnan(elements[i])) return true;
      } else {
        if (std::isnan(static_cast<float>(elements[i]))) return true;
      }
    }
    return false;
  });
}

}  // namespace

void set_debug_nans(bool on) { flag().store(on, std::memory_order_relaxed); }
bool debug_nans() { return flag().load(std::memory_order_relaxed); }

namespace internal {

void check_nans(const Primitive& p, std::span<const Array> in, std::span<const Array> out) {
  for (const Array& a : in) {
    if (has_nan(a)) return;
  }
  for (const Array& a : out) {
    if (has_nan(a)) {
      throw ValueError(describe_call(p, in) + ": the result " + to_string(a.aval()) +
                       " has a NaN and the inputs have none; look at the inputs of this operation "
                       "(SPRUCE_DEBUG_NANS=1 checks each result)");
    }
  }
}

}  // namespace internal
}  // namespace spruce
