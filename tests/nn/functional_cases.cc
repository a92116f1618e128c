// SPDX-License-Identifier: Apache-2.0
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace {

struct Case {
  const char *op, *options, *inputs, *y, *gradients;
};

constexpr Case kCases[] = {
#include "tests/nn/functional_cases.inc"
#include "tests/nn/layer_cases.inc"
#include "tests/nn/optax_loss_cases.inc"
};

std::vector<std::string> parts(const std::string& text, char by) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, by);) out.push_back(item);
  return out;
}

// "2,3@0.7;4@0.4"; a shape of rank 0 is empty.
Inputs inputs_of(const std::string& text) {
  Inputs out;
  for (const std::string& one : parts(text, ';')) {
    const size_t at = one.find('@');
    sp::Shape shape;
    for (const std::string& n : parts(one.substr(0, at), ',')) shape.push_back(std::stoll(n));
    out.push_back(torch_cases::wave(shape, std::stod(one.substr(at + 1))));
  }
  return out;
}

}  // namespace

void check(const std::string& op, size_t least, const Function& f) {
  size_t count = 0;
  for (const Case& c : kCases) {
    if (op != c.op) continue;
    ++count;
    const Options options(c.options);
    torch_cases::compare({.op = op,
                          .options = std::string(c.options) + "; " + c.inputs,
                          .in = inputs_of(c.inputs),
                          .y = c.y,
                          .gradients = parts(c.gradients, ';')},
                         [&](const Inputs& in) { return f(in, options); });
  }
  EXPECT_GE(count, least) << op;
}

Array signs(const sp::Shape& shape, const Array& x) {
  return sp::astype(sp::where(torch_cases::wave(shape, 1.3) > 0, 1.0, -1.0), x.dtype());
}

Array weight_of(const Options& o, const Array& x) {
  return o.flag("weight") ? sp::array({0.5, 2.0, 1.25}, x.dtype()) : Array();
}

sp::Shape list_of(const Options& o, const std::string& name) {
  sp::Shape out;
  for (const std::string& n : parts(o.text(name), 'x')) out.push_back(std::stoll(n));
  return out;
}

nn::WindowArg sizes_of(const Options& o, const std::string& name) {
  const sp::Shape out = list_of(o, name);
  return out.rank() == 1 ? nn::WindowArg(out[0]) : nn::WindowArg(out);
}

}  // namespace functional_cases
