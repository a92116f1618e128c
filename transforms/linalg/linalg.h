// SPDX-License-Identifier: Apache-2.0
// Linear algebra that is made of decompositions.
#pragma once

#include "spruce/transforms/linalg/determinant.h"
#include "spruce/transforms/linalg/least_squares.h"
#include "spruce/transforms/linalg/powers.h"
#include "spruce/transforms/linalg/solve.h"
