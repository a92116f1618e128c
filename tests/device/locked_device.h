// SPDX-License-Identifier: Apache-2.0
// A second device without hardware: its kernels are those of the CPU, and its memory can be touched
// inside of kernels and copies only. Code that reads or writes it elsewhere ends with SIGSEGV.
#pragma once

#include "spruce/core/device.h"

namespace spruce::test_device {

/// "locked:0". With SPRUCE_TEST_DEVICE=locked in the environment of a test program it is the
/// default device of the main thread.
Device& locked_device();
/// "locked:1", for what must not mix.
Device& other_locked_device();
/// How many kernels and compiled graphs have run on both.
struct LockedRuns {
  int64_t kernels = 0;
  int64_t graphs = 0;
};
LockedRuns locked_runs();

}  // namespace spruce::test_device
