// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/prune.h"

#include <cmath>
#include <limits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/sort.h"
#include "spruce/core/random/check.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/shape.h"
#include "spruce/nn/wide.h"

namespace spruce::nn::prune {
namespace {

void check(const char* op, const Array& weight, const Amount& amount, const PruneOptions& o) {
  spruce::internal::require_defined(op, "weight", weight);
  if (amount.is_share()) {
    spruce::internal::check_range(op, "amount", amount.value(), spruce::internal::Range::kShare);
  } else if (amount.value() < 0) {
    throw ValueError(std::string(op) + ": amount is " +
                     std::to_string(static_cast<int64_t>(amount.value())) +
                     "; it is a share, 0.3, or how many go, 0 or more");
  }
  if (o.mask.defined() && o.mask.dtype() != bool_) {
    throw DtypeError(std::string(op) + ": mask is " + to_string(o.mask.aval()) +
                     "; it must be bool, true where an element stays");
  }
  for (const Array* a : {&o.mask, &o.importance_scores}) {
    if (a->defined() && a->shape() != weight.shape()) {
      throw ShapeError(std::string(op) + ": the weight is " + to_string(weight.aval()) + " and " +
                       (a == &o.mask ? "the mask " : "importance_scores ") + to_string(a->aval()) +
                       "; they must have one shape");
    }
  }
}

// Which of `scores`, a vector, stay: all but the smallest of those that `old` has.
Array kept(const char* op, const Array& scores, const Amount& amount, const Array& old) {
  const int64_t size = scores.size();
  if (!amount.is_share() && amount.value() > static_cast<double>(size)) {
    throw ValueError(std::string(op) + ": amount is " +
                     std::to_string(static_cast<int64_t>(amount.value())) + ", and there are " +
                     std::to_string(size) + " to take from");
  }
  const float infinity = std::numeric_limits<float>::infinity();
  const Array ordered =
      old.defined() ? where(old, scores, full({}, infinity, scores.dtype())) : scores;
  const Array rank = argsort(argsort(ordered));
  if (!old.defined()) {
    const double count = amount.is_share()
                             ? std::nearbyint(amount.value() * static_cast<double>(size))
                             : amount.value();
    return greater_equal(rank, static_cast<int64_t>(count));
  }
  const Array count = amount.is_share()
                          ? round(astype(sum(astype(old, int32)), float64) * amount.value())
                          : full({}, amount.value(), float64);
  return logical_and(old, greater_equal(astype(rank, float64), count));
}

Array flat(const Array& x) { return reshape(x, {-1}); }

Array unstructured(const char* op, const Array& scores, const Array& weight, const Amount& amount,
                   const PruneOptions& o) {
  const Array old = o.mask.defined() ? flat(o.mask) : Array();
  return reshape(kept(op, flat(scores), amount, old), weight.shape());
}

int axis_of(const char* op, const Array& weight, int dim) {
  if (weight.rank() < 2) {
    throw ShapeError(std::string(op) +
                     ": takes a weight of rank 2 or more, which has channels; got " +
                     to_string(weight.aval()));
  }
  return normalize_axis(op, dim, weight.rank());
}

// Channels of `scores` f[channels] that stay, as a mask of the weight.
Array structured(const char* op, const Array& scores, const Array& weight, const Amount& amount,
                 int axis, const PruneOptions& o) {
  const Axes others = rules::other_axes(weight.rank(), {axis});
  const Array old = o.mask.defined() ? any(o.mask, others) : Array();
  Shape along = Shape::filled(weight.rank(), 1);
  along[axis] = weight.shape(axis);
  const Array mask = broadcast_to(reshape(kept(op, scores, amount, old), along), weight.shape());
  return o.mask.defined() ? logical_and(mask, o.mask) : mask;
}

const Array& looked_at(const Array& weight, const PruneOptions& o) {
  return o.importance_scores.defined() ? o.importance_scores : weight;
}

}  // namespace

Array l1_unstructured(const Array& weight, Amount amount, const PruneOptions& o, Loc loc) {
  const char* op = "l1_unstructured";
  const OpScope at(op, loc);
  check(op, weight, amount, o);
  return unstructured(op, abs(looked_at(weight, o)), weight, amount, o);
}

Array random_unstructured(const Key& key, const Array& weight, Amount amount, const PruneOptions& o,
                          Loc loc) {
  const char* op = "random_unstructured";
  const OpScope at(op, loc);
  check(op, weight, amount, o);
  const Array drawn = random::uniform(random::internal::key_beside(key, weight), weight.shape());
  return unstructured(op, drawn, weight, amount, o);
}

Array ln_structured(const Array& weight, Amount amount, double n, int dim, const PruneOptions& o,
                    Loc loc) {
  const char* op = "ln_structured";
  const OpScope at(op, loc);
  check(op, weight, amount, o);
  if (!(n > 0)) {
    throw ValueError(std::string(op) + ": n is " + spruce::internal::number_text(n) +
                     "; the order of a norm is positive, or infinity");
  }
  const int axis = axis_of(op, weight, dim);
  const Axes others = rules::other_axes(weight.rank(), {axis});
  const Array size = abs(internal::wide(looked_at(weight, o)));
  // The root of the sum keeps the order.
  const Array norms = std::isinf(n) ? max(size, others) : sum(power(size, n), others);
  return structured(op, norms, weight, amount, axis, o);
}

Array random_structured(const Key& key, const Array& weight, Amount amount, int dim,
                        const PruneOptions& o, Loc loc) {
  const char* op = "random_structured";
  const OpScope at(op, loc);
  check(op, weight, amount, o);
  const int axis = axis_of(op, weight, dim);
  const Array drawn =
      random::uniform(random::internal::key_beside(key, weight), {weight.shape(axis)});
  return structured(op, drawn, weight, amount, axis, o);
}

std::vector<Array> global_unstructured(const std::vector<Array>& weights, Amount amount, Loc loc) {
  const char* op = "global_unstructured";
  const OpScope at(op, loc);
  if (weights.empty()) throw ValueError(std::string(op) + ": there are no weights");
  std::vector<Array> all;
  for (const Array& w : weights) {
    check(op, w, amount, {});
    all.push_back(flat(abs(w)));
  }
  const Array mask = kept(op, concatenate(all, 0), amount, {});
  std::vector<Array> out;
  int64_t begin = 0;
  for (const Array& w : weights) {
    out.push_back(reshape(mask[slice(begin, begin + w.size())], w.shape()));
    begin += w.size();
  }
  return out;
}

Array apply_mask(const Array& weight, const Array& mask, Loc loc) {
  const OpScope at("apply_mask", loc);
  return where(mask, weight, zeros_like(weight));
}

}  // namespace spruce::nn::prune
