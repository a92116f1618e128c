// SPDX-License-Identifier: Apache-2.0
// Splitting work over the threads of the OpenMP pool, which oneDNN shares.
#pragma once

#include <cstdint>
#include <type_traits>

#include "spruce/core/error.h"

namespace spruce {

/// The most threads that set_threads takes.
inline constexpr int kMostThreads = 1024;

/// How many threads one operation may use. The default is the number of cores that the process may
/// run on, or OMP_NUM_THREADS where that is less. Results do not depend on it. A child of fork()
/// has none of the threads of its parent: once the parent has used several, operations in the
/// thread that goes on in the child run on one thread, whatever is set. Throws ValueError for n
/// outside of 1 to kMostThreads.
void set_threads(int n, Loc loc = Loc::current());
/// How many threads one operation may use now, at least 1.
int threads();

namespace cpu {

/// What parallel_ranges calls: `context` as it was given, and a range.
using RangeFn = void (*)(void* context, int64_t begin, int64_t end);
/// parallel_for() without its template; a range may be all of 0..n.
void parallel_ranges(int64_t n, int64_t grain, RangeFn f, void* context);

/// Calls `f(begin, end)` on disjoint ranges that cover 0..n, on several threads where n exceeds
/// `grain` (elements that are worth a thread). Ranges begin at multiples of 64. Runs inline in a
/// thread that is already part of a team. An exception of `f` reaches the caller.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= grain) {
    if (n > 0) f(int64_t{0}, n);
    return;
  }
  parallel_ranges(
      n, grain,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&f)));
}

/// The same for n pieces of work that may be few: ranges begin anywhere.
template <class F>
void parallel_pieces(int64_t n, int64_t grain, F&& f) {
  if (n <= grain) {
    if (n > 0) f(int64_t{0}, n);
    return;
  }
  parallel_for(n * 64, grain * 64, [&](int64_t begin, int64_t end) { f(begin / 64, end / 64); });
}

}  // namespace cpu
}  // namespace spruce
