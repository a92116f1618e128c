// SPDX-License-Identifier: Apache-2.0
// Names of types as they are printed. Of the library.
#pragma once

#include <string>
#include <typeinfo>

namespace spruce::nn::internal {

/// "Linear" of spruce::nn::Linear: the name without namespaces. Layers that are templates have the
/// names of PyTorch's classes: "Dropout2d", "ReLU", "CrossEntropyLoss".
std::string type_name(const std::type_info& type);

}  // namespace spruce::nn::internal
