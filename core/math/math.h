// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/activation.h"
#include "spruce/core/math/erf.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/math/gamma.h"
#include "spruce/core/math/hyperbolic.h"
#include "spruce/core/math/inverse_trig.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/log.h"
#include "spruce/core/math/power.h"
#include "spruce/core/math/trig.h"
