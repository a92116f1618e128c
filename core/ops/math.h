// SPDX-License-Identifier: Apache-2.0
// Elementwise functions. They broadcast as NumPy does and promote dtypes by docs/promotion.md.
#pragma once

#include "spruce/core/ops/binary.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/unary.h"
