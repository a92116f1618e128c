// SPDX-License-Identifier: Apache-2.0
// All optimizers.
#pragma once

#include "spruce/optim/adam.h"
#include "spruce/optim/clip.h"
#include "spruce/optim/rmsprop.h"
#include "spruce/optim/schedules.h"
#include "spruce/optim/sgd.h"
#include "spruce/optim/transformation.h"
