// SPDX-License-Identifier: Apache-2.0
// All operations on arrays.
#pragma once

#include "spruce/core/ops/aliases.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/cumulative.h"
#include "spruce/core/ops/decompositions.h"
#include "spruce/core/ops/dynamic_slice.h"
#include "spruce/core/ops/einsum.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/norm.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/short_forms.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/ops/statistics.h"
#include "spruce/core/ops/take.h"
