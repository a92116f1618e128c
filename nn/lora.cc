// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/lora.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/observe.h"
#include "spruce/transforms/derive/stop_gradient.h"

namespace spruce::nn {

LoRA LoRA::init(const Key& key, const Linear& base, const LoRAOptions& o, Loc loc) {
  const OpScope at("LoRA::init", loc);
  spruce::internal::require_defined("LoRA::init", "base.weight", base.weight);
  if (o.r < 1) {
    throw ValueError("LoRA::init: r is " + std::to_string(o.r) + ", it must be at least 1");
  }
  spruce::internal::check_range("LoRA::init", "dropout", o.dropout,
                                spruce::internal::Range::kShare);
  const Dtype dtype = base.weight.dtype();
  const int64_t out = base.weight.shape(0), in = base.weight.shape(1);
  return {base, init::internal::first_value(o.init.weight, key, {o.r, in}, in, dtype),
          zeros({out, o.r}, dtype), o.alpha / static_cast<double>(o.r), o.dropout};
}

Array LoRA::operator()(const Array& x, Loc loc) const {
  Context evaluation;
  return (*this)(x, evaluation, loc);
}

Array LoRA::operator()(const Array& x, Context& ctx, Loc loc) const {
  const OpScope at("LoRA", loc);
  const Array kept = internal::dropped(x, dropout, ctx, "LoRA", *this);
  const Array bias = base.bias ? stop_gradient(*base.bias) : Array();
  const Array y =
      linear(x, stop_gradient(base.weight), bias) + linear(linear(kept, lora_A), lora_B) * scale;
  return internal::observed(*this, "LoRA", y, [&] {
    const int64_t weights = base.weight.size() + lora_A.size() + lora_B.size();
    return x.size() / std::max<int64_t>(base.weight.shape(1), 1) * weights;
  });
}

Linear LoRA::merged(Loc loc) const {
  const OpScope at("LoRA::merged", loc);
  return {base.weight + matmul(lora_B, lora_A) * scale, base.bias};
}

}  // namespace spruce::nn
