// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Before a function that is compiled for the instruction set of the loop that calls it.
#define SPRUCE_INLINE __attribute__((always_inline)) inline
