// SPDX-License-Identifier: Apache-2.0
// Values and gradients of torch.nn.functional (make_functional_cases.py), and how to compare with
// them: eager, compiled, mapped and in f32.
#pragma once

#include "tests/nn/torch_cases.h"

namespace functional_cases {

namespace sp = spruce;
namespace nn = spruce::nn;
using sp::Array;
using torch_cases::Options;

using Inputs = std::vector<Array>;
using Function = std::function<Array(const Inputs& in, const Options& options)>;

/// Compares all cases of an operation; at least `least` of them must exist.
void check(const std::string& op, size_t least, const Function& f);

/// 1, -1, -1, 1, ... as the script's signs(), in the dtype of x.
Array signs(const sp::Shape& shape, const Array& x);
/// (0.5, 2, 1.25) in the dtype of x where the option is set, else nothing.
Array weight_of(const Options& o, const Array& x);

/// The numbers of an option "2x3".
sp::Shape list_of(const Options& o, const std::string& name);
/// The same as one number for all axes, where there is one, or one for each.
nn::WindowArg sizes_of(const Options& o, const std::string& name);

}  // namespace functional_cases
