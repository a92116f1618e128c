// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {
namespace {

namespace nn = spruce::nn;

template <class F>
Operation plain(const F& f) {
  return scaled([f](const Arrays& in, const Params&) { return Arrays{f(in[0])}; });
}

}  // namespace

void add_activations(Table& t) {
  t["nn.relu"] = plain(nn::relu);
  t["nn.relu6"] = plain(nn::relu6);
  t["nn.silu"] = plain(nn::silu);
  t["nn.selu"] = plain(nn::selu);
  t["nn.hardswish"] = plain(nn::hardswish);
  t["nn.hardsigmoid"] = plain(nn::hardsigmoid);
  t["nn.mish"] = plain(nn::mish);
  t["nn.softsign"] = plain(nn::softsign);
  t["nn.logsigmoid"] = plain(nn::logsigmoid);
  t["nn.hardshrink"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::hardshrink(in[0], {.lambd = p.number("lambd", 0.5)})};
  });
  t["nn.softshrink"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::softshrink(in[0], {.lambd = p.number("lambd", 0.5)})};
  });
  t["nn.softmin"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::softmin(in[0], {.dim = p.integer("axis")})};
  });
  t["nn.tanhshrink"] = plain(nn::tanhshrink);
  t["nn.gelu"] = scaled([](const Arrays& in, const Params& p) {
    const bool tanh = p.has("approximate") && p.text("approximate") == "tanh";
    const auto form = tanh ? nn::GeluApproximation::kTanh : nn::GeluApproximation::kNone;
    return Arrays{nn::gelu(in[0], {.approximate = form})};
  });
  t["nn.elu"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::elu(in[0], {.alpha = p.number("alpha", 1)})};
  });
  t["nn.celu"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::celu(in[0], {.alpha = p.number("alpha", 1)})};
  });
  t["nn.leaky_relu"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::leaky_relu(in[0], {.negative_slope = p.number("negative_slope", 0.01)})};
  });
  t["nn.hardtanh"] = scaled([](const Arrays& in, const Params& p) {
    const double low = p.number("min_val", -1), high = p.number("max_val", 1);
    return Arrays{nn::hardtanh(in[0], {.min_val = low, .max_val = high})};
  });
  t["nn.softplus"] = scaled([](const Arrays& in, const Params& p) {
    const double beta = p.number("beta", 1), threshold = p.number("threshold", 20);
    return Arrays{nn::softplus(in[0], {.beta = beta, .threshold = threshold})};
  });
  t["nn.softmax"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::softmax(in[0], {.dim = p.integer("axis")})};
  });
  t["nn.log_softmax"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::log_softmax(in[0], {.dim = p.integer("axis")})};
  });
  t["nn.glu"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::glu(in[0], {.dim = p.integer("axis")})};
  });
}

}  // namespace reference
