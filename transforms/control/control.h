// SPDX-License-Identifier: Apache-2.0
// Loops and branches that every transform goes through.
#pragma once

#include "spruce/transforms/control/associative_scan.h"
#include "spruce/transforms/control/cond.h"
#include "spruce/transforms/control/fori_loop.h"
#include "spruce/transforms/control/map.h"
#include "spruce/transforms/control/scan.h"
#include "spruce/transforms/control/switch.h"
#include "spruce/transforms/control/while_loop.h"
