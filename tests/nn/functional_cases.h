// SPDX-License-Identifier: Apache-2.0
// Values and gradients of torch.nn.functional (make_functional_cases.py) and of torch.nn's layers
// (make_layer_cases.py), and how to compare with them.
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

/// Fails unless f throws an E whose message has `message` in it.
template <class E, class F>
void expect_error(const F& f, const std::string& message) {
  try {
    f();
    ADD_FAILURE() << "no error: " << message;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

/// All results in a row.
inline Array joined(const std::vector<Array>& parts) {
  std::vector<Array> flat;
  for (const Array& a : parts) flat.push_back(sp::ravel(a));
  return sp::concatenate(flat);
}

/// The layer with the parameters in[at], in[at + 1], ..., each divided by 4, in the order of
/// PyTorch's sorted names.
template <class L>
L filled(const L& layer, const Inputs& in, size_t at) {
  std::map<std::string, Array> parameters;
  const auto fill = [&](const auto& names) {
    for (const auto& [name, value] : names)
      if (value.size() > 0) parameters[name] = {};
    EXPECT_EQ(parameters.size(), in.size() - at);
    for (auto& [name, value] : parameters) value = at < in.size() ? in[at++] / 4.0 : sp::zeros({});
  };
  if constexpr (requires { layer.state_dict(); }) {
    fill(layer.state_dict());
    return layer.load_state_dict(parameters);
  } else {
    std::map<std::string, Array> names;
    for (const auto& entry : sp::tree::entries(layer)) names[entry.path] = entry.value;
    fill(names);
    return sp::tree::map_with_path(
        [&](const std::string& path, const Array& a) {
          return parameters.count(path) != 0 ? parameters.at(path) : a;
        },
        layer);
  }
}

}  // namespace functional_cases
