// SPDX-License-Identifier: Apache-2.0
// What the branches of a cond keep for reverse mode. All must hand on the same arrays, so that
// those of one type share a place, and a branch gives ones where it has none.
#pragma once

#include <vector>

#include "spruce/transforms/control/body/body_rules.h"

namespace spruce::internal {

/// The arrays that every branch hands on from its forward to its linear part.
struct BranchResiduals {
  /// Numbers and short vectors of one dtype, joined: where branches lie within each other, each
  /// hands on what all those inside of it keep, and so it is one array and not as many as there are
  /// branches.
  struct Joined {
    Dtype dtype;
    uint8_t device;
    int64_t length;
  };
  std::vector<Joined> joined;
  std::vector<Aval> single;
};

/// What fits the residuals of all branches, which have `outputs` outputs of their own.
BranchResiduals common_residuals(const std::vector<LinearBody>& bodies, size_t outputs);
/// Gives both graphs of a branch those residuals in the place of its own.
void spread_residuals(LinearBody& body, size_t outputs, const BranchResiduals& all);

}  // namespace spruce::internal
