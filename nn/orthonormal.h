// SPDX-License-Identifier: Apache-2.0
// Matrices with orthonormal columns.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn::internal {

/// The factor Q of the QR decomposition of f[n, m], n >= m, whose R has a positive diagonal: the
/// columns made orthonormal one after the other (Gram and Schmidt, each twice). Not differentiated.
Array orthonormal_columns(const Array& x);

}  // namespace spruce::nn::internal
