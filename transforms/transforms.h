// SPDX-License-Identifier: Apache-2.0
// All transforms.
#pragma once

#include "spruce/transforms/checkpoint/checkpoint.h"
#include "spruce/transforms/compile/cost.h"
#include "spruce/transforms/compile/elementwise.h"
#include "spruce/transforms/compile/jit.h"
#include "spruce/transforms/compile/profile.h"
#include "spruce/transforms/compile/save_function.h"
#include "spruce/transforms/control/control.h"
#include "spruce/transforms/derive/custom.h"
#include "spruce/transforms/derive/grad.h"
#include "spruce/transforms/derive/jacobian.h"
#include "spruce/transforms/derive/jvp.h"
#include "spruce/transforms/derive/stop_gradient.h"
#include "spruce/transforms/derive/vjp.h"
#include "spruce/transforms/effects/debugging.h"
#include "spruce/transforms/effects/host_call.h"
#include "spruce/transforms/implicit/cg.h"
#include "spruce/transforms/implicit/root.h"
#include "spruce/transforms/stage/eval_shape.h"
#include "spruce/transforms/vmap/collectives.h"
#include "spruce/transforms/vmap/vmap.h"
