// SPDX-License-Identifier: Apache-2.0
// All of Spruce. Users write `namespace sp = spruce;`.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/array_view.h"
#include "spruce/core/debug.h"
#include "spruce/core/default_device.h"
#include "spruce/core/dlpack.h"
#include "spruce/core/graph/dot.h"
#include "spruce/core/graph/graph.h"
#include "spruce/core/io/io.h"
#include "spruce/core/memory.h"
#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/core/tree/to_device.h"
#include "spruce/core/tree/tree.h"
#include "spruce/nn/nn.h"
#include "spruce/optim/optim.h"
#include "spruce/transforms/transforms.h"
