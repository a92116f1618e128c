// SPDX-License-Identifier: Apache-2.0
// Convolutions on cuda:0 (the emulator): as products of the library, piece by piece, for groups of
// few features, and by tiles.
#include "spruce/core/rules/conv.h"
#include "tests/cuda/emulator/emulator.h"
#include "tests/cuda/large_case.h"

namespace spruce {
namespace convolutions_test {

using large_cases_test::check;
using large_cases_test::numbers;

ConvParams params(int64_t stride, int64_t low, int64_t high, int64_t dilation = 1,
                  int64_t window_dilation = 1) {
  ConvParams p;
  p.strides = {stride, stride}, p.padding_low = {low, low}, p.padding_high = {high, high};
  p.lhs_dilation = {dilation, dilation}, p.rhs_dilation = {window_dilation, window_dilation};
  return p;
}

void conv(Dtype d, const Shape& x, const Shape& w, const ConvParams& p, double tolerance = 0) {
  if (tolerance == 0) tolerance = d == float32 ? 1e-4 : 0;
  check("conv_general", {numbers(d, x, -1, 1), numbers(d, w, -1, 1)}, Params::make(p), tolerance);
}

TEST(CudaConvolutions, Windows) {
  for (const Dtype d : {float32, bfloat16, float64, int32}) {
    conv(d, {2, 5, 9, 11}, {7, 5, 3, 3}, params(1, 1, 1));
    conv(d, {2, 5, 9, 11}, {7, 5, 3, 2}, params(2, 0, 1));
    conv(d, {2, 5, 9, 11}, {7, 5, 3, 3}, params(1, 2, 2, 2));
    conv(d, {2, 5, 9, 11}, {7, 5, 2, 3}, params(2, -1, 3, 3, 2));
  }
}

TEST(CudaConvolutions, WindowsOfOneElement) {
  for (const Dtype d : {float32, float16}) {
    conv(d, {3, 5, 4, 6}, {7, 5, 1, 1}, params(1, 0, 0));
    conv(d, {3, 5, 3, 3}, {7, 5, 1, 1}, params(1, 0, 0));
    conv(d, {3, 5, 4, 2}, {1, 5, 1, 1}, params(1, 0, 0));
    conv(d, {3, 1, 4, 2}, {5, 1, 1, 1}, params(1, 0, 0));
    conv(d, {3, 5, 1, 1}, {7, 5, 1, 1}, params(1, 0, 0));
    conv(d, {3, 5, 5, 5}, {7, 5, 1, 1}, params(2, 0, 0));
    ConvParams p = params(1, 0, 0);
    p.feature_group_count = 2;
    conv(d, {3, 8, 4, 4}, {20, 4, 1, 1}, p);
  }
}

// The forms of gradients: by the input, and by the window.
TEST(CudaConvolutions, Gradients) {
  for (const Dtype d : {float32, bfloat16}) {
    ConvParams input = params(1, 2, 1, 2);
    input.rhs_swapped = input.reversed = true;
    conv(d, {2, 6, 5, 5}, {6, 9, 3, 3}, input);
    input.feature_group_count = 2;
    conv(d, {2, 6, 5, 5}, {6, 9, 3, 3}, input);
    ConvParams window = params(1, 1, 1, 1, 2);
    window.lhs_swapped = window.rhs_swapped = window.out_swapped = true;
    conv(d, {4, 5, 9, 9}, {4, 9, 4, 4}, window);
    window.batch_group_count = 2;
    conv(d, {4, 6, 9, 9}, {4, 20, 4, 4}, window);
  }
}

TEST(CudaConvolutions, GroupsOfFewFeatures) {
  for (const Dtype d : {float32, float16}) {
    for (const int64_t features : {1, 3}) {
      ConvParams p = params(1, 1, 1);
      p.feature_group_count = 6;
      conv(d, {2, 6, 8, 9}, {6 * features, 1, 3, 3}, p);
      p = params(2, 1, 1, 2, 1);
      p.feature_group_count = 3;
      conv(d, {2, 6, 8, 9}, {3 * features, 2, 3, 3}, p);
      // Sums that are long.
      ConvParams window = params(1, 1, 1);
      window.lhs_swapped = window.rhs_swapped = window.out_swapped = true;
      window.batch_group_count = 4;
      conv(d, {3, 8, 19, 19}, {3, 4 * features, 19, 19}, window, d == float32 ? 0 : 5e-2);
    }
  }
}

// The matrix is larger than its piece: images, places of one image, and parts of the sum.
TEST(CudaConvolutions, InPieces) {
  ConvParams p = params(1, 1, 1);
  conv(float32, {5, 64, 120, 120}, {1, 64, 3, 3}, p, 1e-3);
  conv(float32, {1, 40, 230, 230}, {1, 40, 3, 3}, p, 1e-3);
}

TEST(CudaConvolutions, SumsInPieces) {
  for (const Dtype d : {float32, bfloat16}) {
    ConvParams window = params(1, 1, 1);
    window.lhs_swapped = window.rhs_swapped = window.out_swapped = true;
    conv(d, {2, 12, 400, 400}, {2, 2, 400, 400}, window, d == float32 ? 1e-3 : 6e-2);
  }
}

TEST(CudaConvolutions, OtherRanksAndNothing) {
  ConvParams line;
  line.strides = {2}, line.padding_low = {3}, line.padding_high = {1}, line.lhs_dilation = {1};
  line.rhs_dilation = {1};
  conv(float32, {2, 3, 50}, {9, 3, 5}, line);
  conv(float32, {0, 3, 50}, {9, 3, 5}, line);
  conv(float32, {2, 0, 50}, {9, 0, 5}, line);
  conv(float32, {1, 1, 5}, {1, 1, 5}, line);
  ConvParams space;
  space.strides = {1, 2, 1}, space.padding_low = {1, 0, 1}, space.padding_high = {0, 1, 1};
  space.lhs_dilation = {1, 1, 2}, space.rhs_dilation = {1, 2, 1};
  conv(bfloat16, {2, 3, 5, 7, 6}, {12, 3, 2, 3, 3}, space);
}

TEST(CudaConvolutions, WhatTheLibraryHasNoAlgorithmForIsOurs) {
  test_device::emulated_device();
  cuda_emulator::set_has_algorithms(false);
  conv(float32, {2, 5, 9, 13}, {7, 5, 3, 3}, params(1, 1, 1));
  cuda_emulator::set_has_algorithms(true);
}

}  // namespace convolutions_test
}  // namespace spruce
