// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {
namespace {

namespace nn = spruce::nn;

// One number, or one for each spatial axis.
nn::WindowArg window(const Params& p, const std::string& name, int64_t fallback) {
  if (!p.has(name)) return fallback;
  const std::vector<int64_t> values = p.integers(name);
  return values.size() == 1 ? nn::WindowArg(values[0]) : nn::WindowArg(sp::Shape(values));
}

nn::PaddingArg padding(const Params& p) {
  if (!p.has("padding")) return 0;
  if (p.text("padding") == "same") return "same";
  if (p.text("padding") == "valid") return "valid";
  const std::vector<int64_t> v = p.integers("padding");
  if (v.size() == 1) return v[0];
  return v.size() == 2 ? nn::PaddingArg{v[0], v[1]} : nn::PaddingArg{v[0], v[1], v[2]};
}

Array bias(const Arrays& in, size_t at) { return in.size() > at ? in[at] : Array(); }

template <class F>
Operation convolution(const F& f) {
  return scaled([f](const Arrays& in, const Params& p) {
    const nn::ConvOptions options{.stride = window(p, "stride", 1),
                                  .padding = padding(p),
                                  .dilation = window(p, "dilation", 1),
                                  .groups = p.integer("groups", 1)};
    return Arrays{f(in[0], in[1], bias(in, 2), options, sp::Loc::current())};
  });
}

template <class Options>
Options pool_options(const Params& p) {
  Options options{.padding = window(p, "padding", 0)};
  if (p.has("stride")) options.stride = window(p, "stride", 0);
  options.ceil_mode = p.flag("ceil_mode");
  return options;
}

template <class F>
Operation max_pool(const F& f) {
  return exact([f](const Arrays& in, const Params& p) {
    auto options = pool_options<nn::MaxPoolOptions>(p);
    options.dilation = window(p, "dilation", 1);
    return Arrays{f(in[0], window(p, "kernel_size", 0), options, sp::Loc::current())};
  });
}

template <class F>
Operation avg_pool(const F& f) {
  return scaled([f](const Arrays& in, const Params& p) {
    auto options = pool_options<nn::AvgPoolOptions>(p);
    options.count_include_pad = p.flag("count_include_pad", true);
    return Arrays{f(in[0], window(p, "kernel_size", 0), options, sp::Loc::current())};
  });
}

// The last `axes` sizes of x.
sp::Shape normalized(const Array& x, const Params& p) {
  sp::Shape shape;
  for (int64_t i = x.rank() - p.integer("axes"); i < x.rank(); ++i) shape.push_back(x.shape(i));
  return shape;
}

void add_norms(Table& t) {
  t["nn.layer_norm"] = scaled([](const Arrays& in, const Params& p) {
    const double eps = p.number("eps", 1e-5);
    return Arrays{nn::layer_norm(in[0], normalized(in[0], p), in[1], in[2], {.eps = eps})};
  });
  t["nn.layer_norm_plain"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::layer_norm(in[0], normalized(in[0], p))};
  });
  t["nn.batch_norm_eval"] = scaled([](const Arrays& in, const Params& p) {
    const double eps = p.number("eps", 1e-5);
    return Arrays{nn::batch_norm(in[0], in[1], in[2], in[3], in[4], {.eps = eps}).output};
  });
  t["nn.batch_norm_training"] = scaled([](const Arrays& in, const Params& p) {
    const nn::BatchNormOptions options{.training = true, .eps = p.number("eps", 1e-5)};
    return Arrays{nn::batch_norm(in[0], {}, {}, in[1], in[2], options).output};
  });
  t["nn.batch_norm_updates"] = scaled([](const Arrays& in, const Params& p) {
    const nn::BatchNormOptions options{.training = true, .momentum = p.number("momentum", 0.1)};
    const auto result = nn::batch_norm(in[0], in[1], in[2], {}, {}, options);
    return Arrays{result.running_mean, result.running_var};
  });
}

}  // namespace

void add_layers(Table& t) {
  add_norms(t);
  t["nn.conv1d"] = convolution(nn::conv1d);
  t["nn.conv2d"] = convolution(nn::conv2d);
  t["nn.conv3d"] = convolution(nn::conv3d);
  t["nn.max_pool1d"] = max_pool(nn::max_pool1d);
  t["nn.max_pool2d"] = max_pool(nn::max_pool2d);
  t["nn.max_pool3d"] = max_pool(nn::max_pool3d);
  t["nn.avg_pool1d"] = avg_pool(nn::avg_pool1d);
  t["nn.avg_pool2d"] = avg_pool(nn::avg_pool2d);
  t["nn.avg_pool3d"] = avg_pool(nn::avg_pool3d);
  t["nn.linear"] = scaled([](const Arrays& in, const Params&) {
    return Arrays{nn::linear(in[0], in[1], bias(in, 2))};
  });
  t["nn.embedding"] =
      exact([](const Arrays& in, const Params&) { return Arrays{nn::embedding(in[0], in[1])}; });
  t["nn.dropout_eval"] = exact([](const Arrays& in, const Params& p) {
    const float share = static_cast<float>(p.number("p"));
    return Arrays{nn::dropout(in[0], {.p = share, .training = false})};
  });
}

}  // namespace reference
