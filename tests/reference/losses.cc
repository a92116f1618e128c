// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {
namespace {

namespace nn = spruce::nn;

nn::Reduction reduction(const Params& p) {
  const std::string name = p.has("reduction") ? p.text("reduction") : "mean";
  return name == "mean"  ? nn::Reduction::kMean
         : name == "sum" ? nn::Reduction::kSum
                         : nn::Reduction::kNone;
}

nn::CrossEntropyOptions cross_entropy_options(const Params& p) {
  nn::CrossEntropyOptions options{.reduction = reduction(p)};
  options.ignore_index = p.integer("ignore_index", options.ignore_index);
  options.label_smoothing = p.number("label_smoothing", 0);
  return options;
}

template <class F>
Operation elementwise(const F& f) {
  return scaled([f](const Arrays& in, const Params& p) {
    return Arrays{f(in[0], in[1], {.reduction = reduction(p)}, sp::Loc::current())};
  });
}

}  // namespace

void add_losses(Table& t) {
  t["nn.cross_entropy"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{nn::cross_entropy(in[0], in[1], cross_entropy_options(p))};
  });
  t["nn.cross_entropy_weighted"] = scaled([](const Arrays& in, const Params& p) {
    nn::CrossEntropyOptions options = cross_entropy_options(p);
    options.weight = in[2];
    return Arrays{nn::cross_entropy(in[0], in[1], options)};
  });
  t["nn.cross_entropy_of_shares"] = t["nn.cross_entropy"];
  t["nn.bce_with_logits_weighted"] = scaled([](const Arrays& in, const Params& p) {
    const nn::BceOptions options{.weight = in[2], .reduction = reduction(p), .pos_weight = in[3]};
    return Arrays{nn::bce_with_logits(in[0], in[1], options)};
  });
  t["nn.nll_loss"] = scaled([](const Arrays& in, const Params& p) {
    const int64_t ignored = p.integer("ignore_index", -100);
    return Arrays{nn::nll_loss(in[0], in[1], {.ignore_index = ignored, .reduction = reduction(p)})};
  });
  t["nn.mse_loss"] = elementwise(nn::mse_loss);
  t["nn.l1_loss"] = elementwise(nn::l1_loss);
  t["nn.bce_with_logits"] = elementwise(nn::bce_with_logits);
}

}  // namespace reference
