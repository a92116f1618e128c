// SPDX-License-Identifier: Apache-2.0
// All formats of files.
#pragma once

#include "spruce/core/io/idx.h"
#include "spruce/core/io/npy.h"
#include "spruce/core/io/safetensors.h"
#include "spruce/core/io/tree_io.h"
