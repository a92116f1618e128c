// SPDX-License-Identifier: Apache-2.0
// All of the library spruce_cuda: GPUs as devices.
#pragma once

#include "spruce/cuda/cuda.h"
#include "spruce/cuda/sharing.h"
