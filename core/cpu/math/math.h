// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/cpu/math/activation.h"
#include "spruce/core/cpu/math/erf.h"
#include "spruce/core/cpu/math/exp.h"
#include "spruce/core/cpu/math/gamma.h"
#include "spruce/core/cpu/math/hyperbolic.h"
#include "spruce/core/cpu/math/inverse_trig.h"
#include "spruce/core/cpu/math/isa.h"
#include "spruce/core/cpu/math/log.h"
#include "spruce/core/cpu/math/power.h"
#include "spruce/core/cpu/math/trig.h"
