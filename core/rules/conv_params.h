// SPDX-License-Identifier: Apache-2.0
// The parameters of convolutions and of reductions over windows.
#pragma once

#include "spruce/core/shape.h"

namespace spruce {

/// How a convolution runs. Each list has one entry a spatial axis; an empty one stands for ones
/// (for padding: zeros).
struct ConvParams {
  Shape strides = {};      ///< of the window
  Shape padding_low = {};  ///< zeros in front of the (dilated) input; negative: elements taken away
  Shape padding_high = {};  ///< the same behind it
  Shape lhs_dilation = {};  ///< distance of neighbours of the input: what lies between is zero
  Shape rhs_dilation = {};  ///< distance of neighbours of the window
  int64_t feature_group_count = 1;  ///< the features are this many groups, each with its own
                                    ///< convolution
  int64_t batch_group_count = 1;    ///< the same for the batch: group i gives the features of group
                                    ///< i of the output
  bool lhs_swapped = false;         ///< the input is [C, N, ...]
  bool rhs_swapped = false;         ///< the window is [I, O / feature_group_count, ...], as of a
                                    ///< transposed convolution
  bool out_swapped = false;         ///< the output is [O, N, ...]
  bool reversed = false;            ///< the window is read backwards along every spatial axis
};

/// The windows of a reduction. Each list has one entry for every axis; an empty one stands for ones
/// (padding: zeros).
struct WindowParams {
  Shape window = {};           ///< sizes
  Shape strides = {};          ///< steps from one window to the next
  Shape padding_low = {};      ///< elements that do not count, in front of the (dilated) input; may
                               ///< be negative
  Shape padding_high = {};     ///< the same behind it
  Shape base_dilation = {};    ///< distance of neighbours of the input: nothing lies between
  Shape window_dilation = {};  ///< distance of neighbours of the window
};

}  // namespace spruce
