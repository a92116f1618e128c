// SPDX-License-Identifier: Apache-2.0
// Modules for tests: one with a nested module, own arrays, running statistics and dropout.
#pragma once

#include <string>
#include <vector>

#include "spruce/spruce.h"

namespace spruce::nn {

class Block : public Module {
 public:
  explicit Block(const Key& key) {
    fc_ = register_module("fc", Linear::init(key, 4, 8));
    norm_ = register_module("norm", BatchNorm::init(8));
  }
  Array forward(const Array& x) override { return norm_(fc_(x)); }

 private:
  Stateful<Linear> fc_;
  Stateful<BatchNorm> norm_;
};

/// f32[n, 4] -> f32[n, 2]; the buffer `calls` counts calls in training.
class Net : public Module {
 public:
  explicit Net(const Key& key) {
    const auto [k1, k2] = random::split<2>(key);
    register_buffer("calls", zeros({}));
    register_parameter("gain", array(2.0f));
    block = register_module("block", std::make_shared<Block>(k1));
    drop_ = register_module("drop", Dropout{0.5f});
    out = register_module("out", Linear::init(k2, 8, 2));
  }
  Array forward(const Array& x) override {
    if (training()) update_buffer("calls", buffer("calls") + 1.0f);
    return parameter("gain") * out(drop_((*block)(x)));
  }

  std::shared_ptr<Block> block;
  Stateful<Linear> out;

 private:
  Stateful<Dropout> drop_;
};

/// A module whose parts are registered from outside.
class Holder : public Module {
 public:
  Array forward(const Array& x) override { return x; }
  using Module::register_module;
};

inline std::vector<std::string> names(const NamedArrays& arrays) {
  std::vector<std::string> out;
  for (const auto& [name, value] : arrays) out.push_back(name);
  return out;
}

}  // namespace spruce::nn
