// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/plan.h"

#include <algorithm>

#include "spruce/data/batches.h"

namespace spruce::data::internal {
namespace {

void check_range(const char* name, int64_t value, int64_t least) {
  if (value >= least) return;
  throw ValueError(std::string("batches: ") + name + " is " + std::to_string(value) +
                   "; it has to be at least " + std::to_string(least));
}

}  // namespace

Planner::Planner(Sampler sampler, const BatchesOptions& options)
    : sampler_(std::move(sampler)), options_(options), step_(options.first_step) {
  check_range("batch_size", options.batch_size, 1);
  check_range("epochs", options.epochs, 0);
  check_range("prefetch", options.prefetch, 0);
  check_range("first_step", options.first_step, 0);
  check_range("the size of the sampler", sampler_.size, 0);
  internal::check_order("batches", sampler_);
  const int64_t whole = sampler_.size / options.batch_size;
  const bool rest = sampler_.size % options.batch_size > 0 && options.rest != Rest::kDrop;
  per_epoch_ = whole + (rest ? 1 : 0);
  if (per_epoch_ == 0) {
    throw ValueError("batches: " + std::to_string(sampler_.size) + " examples give no batch of " +
                     std::to_string(options.batch_size) +
                     (sampler_.size > 0 ? "; take a smaller batch_size, or keep the rest" : ""));
  }
}

std::optional<BatchPlan> Planner::next(Loc loc) {
  const int64_t epoch = step_ / per_epoch_;
  if (options_.epochs > 0 && epoch >= options_.epochs) return std::nullopt;
  if (epoch != epoch_) {
    order_ = sampler_.order(epoch);
    const LocScope at(loc);
    if (static_cast<int64_t>(order_.size()) != sampler_.size) {
      throw ValueError("batches: the sampler gives " + std::to_string(order_.size()) +
                       " numbers in epoch " + std::to_string(epoch) + " and its size is " +
                       std::to_string(sampler_.size));
    }
    epoch_ = epoch;
  }
  BatchPlan out;
  out.epoch = epoch;
  out.index = step_ % per_epoch_;
  out.step = step_++;
  const int64_t from = out.index * options_.batch_size;
  out.count = std::min(options_.batch_size, sampler_.size - from);
  out.indices.assign(order_.begin() + from, order_.begin() + from + out.count);
  if (options_.rest == Rest::kPad) {
    for (size_t k = 0; static_cast<int64_t>(out.indices.size()) < options_.batch_size; ++k)
      out.indices.push_back(order_[k % order_.size()]);
  }
  return out;
}

void check_no_key(const BatchesOptions& options) {
  if (!options.key.defined()) return;
  throw ValueError(
      "batches: the order is that of the sampler, so .key would do nothing; give it to shuffled()");
}

Array mask_of(int64_t size, int64_t count) {
  const Array mask = spruce::internal::make_array({Dtype::kBool, false, {size}});
  auto* at = static_cast<bool*>(spruce::internal::mutable_data(mask));
  std::fill(at, at + count, true);
  std::fill(at + count, at + size, false);
  return mask;
}

}  // namespace spruce::data::internal
