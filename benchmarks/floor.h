// SPDX-License-Identifier: Apache-2.0
// How fast a row could be at best: what it must compute and move, over what the machine can do.
#pragma once

#include "benchmarks/bench.h"

namespace bench {

/// What a graph cannot do without.
struct Work {
  double flops = 0;  ///< multiplications and additions of matrix products and convolutions
  double bytes = 0;  ///< arguments read once and results written once
};
Work work_of(const sp::Graph& graph);

/// What this machine does with the threads that the library may use.
struct Machine {
  struct Copy {
    double bytes;  ///< size of the block, times two: read and written
    double rate;   ///< bytes each second, copied or changed in place
  };
  double flops = 0;          ///< each second, in the best of several f32 matrix products
  std::vector<Copy> copies;  ///< by size: small blocks stay in caches

  /// The least time for that work, at the copy rate of the size nearest to its own.
  double seconds(const Work& work) const;
};
Machine measure_machine();

}  // namespace bench
