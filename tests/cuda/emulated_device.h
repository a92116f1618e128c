// SPDX-License-Identifier: Apache-2.0
// cuda:0 on the emulator.
#pragma once

#include "spruce/core/device.h"

namespace spruce::test_device {

/// cuda:0 without a GPU; with SPRUCE_TEST_GPU=1 in the environment, that of the machine. With
/// SPRUCE_TEST_DEVICE=cuda in the environment of a test program it is the default device of the
/// main thread.
Device& emulated_device();

}  // namespace spruce::test_device
