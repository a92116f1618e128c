// SPDX-License-Identifier: Apache-2.0
// Loops and branches that every transform goes through.
#pragma once

#include "spruce/transforms/control/branches/cond.h"
#include "spruce/transforms/control/branches/switch.h"
#include "spruce/transforms/control/loops/associative_scan.h"
#include "spruce/transforms/control/loops/fori_loop.h"
#include "spruce/transforms/control/loops/map.h"
#include "spruce/transforms/control/loops/scan.h"
#include "spruce/transforms/control/loops/while_loop.h"
