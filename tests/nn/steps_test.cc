// SPDX-License-Identifier: Apache-2.0
// Layers with buffers: three calls in training, one in evaluation, and the buffers afterwards.
#include "spruce/nn/group_norm.h"
#include "spruce/nn/parametrizations.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace steps_test {

constexpr size_t kCalls = 4;

// One call, after which the layer has its new buffers. PyTorch keeps those without a gradient.
template <class L>
Array call(L& layer, const Array& x, bool training) {
  nn::Context ctx{.training = training};
  const Array y = layer(x, ctx);
  layer = ctx.updated(layer);
  return y;
}

// The norm with weight and bias divided by 4; results, then num_batches_tracked, running_mean and
// running_var.
template <class L>
Array run_norm(L layer, const Inputs& in) {
  size_t at = kCalls;
  for (std::optional<Array>* p : {&layer.bias, &layer.weight}) {
    if (p->has_value()) *p = in[at++] / 4.0;
  }
  std::vector<Array> out;
  for (size_t i = 0; i < kCalls; ++i) {
    out.push_back(call(layer, in[i], i + 1 < kCalls));
    for (std::optional<sp::Buffer>* b : {&layer.running_mean, &layer.running_var}) {
      if (b->has_value()) (*b)->value = sp::stop_gradient((*b)->value);
    }
  }
  if constexpr (std::is_same_v<L, nn::BatchNorm>) {
    if (layer.num_batches_tracked)
      out.push_back(layer.num_batches_tracked->value.astype(in[0].dtype()));
  }
  if (layer.running_mean) out.push_back(layer.running_mean->value);
  if (layer.running_var) out.push_back(layer.running_var->value);
  return joined(out);
}

TEST(Steps, BatchNormAsPyTorch) {
  check("batch_norm_steps", 24, [](const Inputs& in, const Options& o) {
    nn::BatchNormLayerOptions options{.eps = 1e-3,
                                      .momentum = std::nullopt,
                                      .affine = o.flag("affine"),
                                      .track_running_stats = o.flag("track"),
                                      .dtype = in[0].dtype()};
    if (o.text("momentum") != "none") options.momentum = o.number("momentum");
    return run_norm(nn::BatchNorm::init(in[0].shape(1), options), in);
  });
}

template <int kAxes>
Array run_instance_norm(const Inputs& in, const Options& o) {
  return run_norm(nn::InstanceNorm<kAxes>::init(in[0].shape(-1 - kAxes),
                                                {.eps = 1e-3,
                                                 .momentum = o.number("momentum"),
                                                 .affine = o.flag("affine"),
                                                 .track_running_stats = o.flag("track"),
                                                 .dtype = in[0].dtype()}),
                  in);
}

TEST(Steps, InstanceNormAsPyTorch) {
  check("instance_norm_steps", 30, [](const Inputs& in, const Options& o) {
    const int64_t axes = o.integer("axes");
    return axes == 1   ? run_instance_norm<1>(in, o)
           : axes == 2 ? run_instance_norm<2>(in, o)
                       : run_instance_norm<3>(in, o);
  });
}

// A layer whose weight is divided by its largest singular value.
template <class L>
struct Spectral {
  L layer;
  sp::Buffer u, v;
  int64_t count, dim;

  Array operator()(const Array& x, nn::Context& ctx) const {
    const auto r =
        nn::spectral_norm(layer.weight, {ctx.latest(u), ctx.latest(v)},
                          {.n_power_iterations = count, .dim = dim, .training = ctx.training});
    ctx.update(u, r.state.u);
    ctx.update(v, r.state.v);
    L normal = layer;
    normal.weight = r.weight;
    return normal(x);
  }
};

template <class L>
Array run_spectral(L layer, const Inputs& in, const Options& o) {
  layer.bias = in[kCalls] / 4.0;
  layer.weight = in[kCalls + 1] / 4.0;
  const int64_t dim = o.integer("dim"), rows = layer.weight.shape(static_cast<int>(dim));
  const auto unit = [&](int64_t n, double step) {
    return sp::Buffer{
        nn::normalize(torch_cases::wave({n}, step), {.dim = 0}).astype(in[0].dtype())};
  };
  Spectral<L> net{layer, unit(rows, 0.9), unit(layer.weight.size() / rows, 1.1), o.integer("count"),
                  dim};
  std::vector<Array> out;
  for (size_t i = 0; i < kCalls; ++i) out.push_back(call(net, in[i], i + 1 < kCalls));
  out.insert(out.end(), {net.u.value, net.v.value});
  return joined(out);
}

TEST(Steps, SpectralNormAsPyTorch) {
  check("spectral_norm_steps", 6, [](const Inputs& in, const Options& o) {
    const std::string& kind = o.text("kind");
    const sp::Key key(0);
    if (kind == "linear") return run_spectral(nn::Linear::init(key, 4, 5), in, o);
    if (kind == "conv2d") return run_spectral(nn::Conv2d::init(key, 2, 3, 2), in, o);
    return run_spectral(nn::ConvTranspose2d::init(key, 2, 3, 2), in, o);
  });
}

}  // namespace steps_test
}  // namespace functional_cases
