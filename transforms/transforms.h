// SPDX-License-Identifier: Apache-2.0
// All transforms.
#pragma once

#include "spruce/transforms/checkpoint/checkpoint.h"
#include "spruce/transforms/collectives.h"
#include "spruce/transforms/compile/cost.h"
#include "spruce/transforms/compile/elementwise.h"
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/compile/profile.h"
#include "spruce/transforms/compile/save_function.h"
#include "spruce/transforms/control/control.h"
#include "spruce/transforms/custom.h"
#include "spruce/transforms/effects/debugging.h"
#include "spruce/transforms/effects/host_call.h"
#include "spruce/transforms/eval_shape.h"
#include "spruce/transforms/grad.h"
#include "spruce/transforms/implicit/cg.h"
#include "spruce/transforms/implicit/root.h"
#include "spruce/transforms/jacobian.h"
#include "spruce/transforms/jvp.h"
#include "spruce/transforms/stop_gradient.h"
#include "spruce/transforms/vjp.h"
#include "spruce/transforms/vmap.h"
