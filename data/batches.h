// SPDX-License-Identifier: Apache-2.0
// Batches of examples, one after the other: what a training loop runs over.
#pragma once

#include <chrono>
#include <memory>

#include "spruce/data/plan.h"
#include "spruce/data/prefetch.h"
#include "spruce/data/rows.h"

namespace spruce::data {

/// Some examples, and where in the run they stand.
template <class T>
struct Batch {
  T examples;         ///< the first axis of each leaf counts the examples of the batch
  Array mask;         ///< bool[batch]: false for what only fills the batch up
  int64_t count = 0;  ///< how many examples are not padding
  int64_t epoch = 0;  ///< from 0
  int64_t index = 0;  ///< of the batch in its epoch, from 0
  int64_t step = 0;   ///< of the batch in the run, from 0
};

/// The batches of a run, as a range: for (const auto& batch : batches(set, {.batch_size = 64})).
/// Each begin() starts the run again, and gives the same batches again.
template <class T>
class Batches {
 public:
  /// What makes a batch of the examples with those numbers.
  using Load = std::function<T(std::span<const int64_t>)>;
  /// See batches().
  Batches(Load load, Sampler sampler, const BatchesOptions& options)
      : load_(std::move(load)),
        sampler_(std::move(sampler)),
        options_(options),
        line_(LocScope::current()),
        per_epoch_(internal::Planner(sampler_, options).batches_per_epoch()) {}

  /// How many batches an epoch has.
  int64_t per_epoch() const { return per_epoch_; }
  /// How many batches all epochs have, those that are skipped among them; -1: there is no end.
  int64_t size() const { return options_.epochs == 0 ? -1 : per_epoch_ * options_.epochs; }

  /// Goes through the batches once; it can be moved and not copied.
  class Iterator {
   public:
    using value_type = Batch<T>;
    using difference_type = std::ptrdiff_t;

    /// The batch; good until the next one is asked for.
    const Batch<T>& operator*() const { return *current_; }
    const Batch<T>* operator->() const { return &*current_; }
    /// The next batch. Throws what loading it threw.
    Iterator& operator++() {
      const auto asked = std::chrono::steady_clock::now();
      current_ = prefetch_ ? prefetch_->next() : make_();
      waited_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
      return *this;
    }
    void operator++(int) { ++*this; }
    /// How many seconds the program waited for this batch: for the thread with .prefetch, for the
    /// batch to be made without.
    double waited() const { return waited_; }
    friend bool operator==(const Iterator& i, std::default_sentinel_t) { return !i.current_; }

   private:
    friend class Batches;
    explicit Iterator(const Batches& of) {
      make_ = [planner = std::make_shared<internal::Planner>(of.sampler_, of.options_),
               load = of.load_, line = of.line_]() -> std::optional<Batch<T>> {
        std::optional<internal::BatchPlan> plan = planner->next(line);
        if (!plan) return std::nullopt;
        const auto size = static_cast<int64_t>(plan->indices.size());
        return Batch<T>{load(plan->indices), internal::mask_of(size, plan->count),
                        plan->count,         plan->epoch,
                        plan->index,         plan->step};
      };
      if (of.options_.prefetch > 0)
        prefetch_ = std::make_unique<Prefetch<Batch<T>>>(make_, of.options_.prefetch);
      ++*this;
    }

    std::function<std::optional<Batch<T>>()> make_;
    std::unique_ptr<Prefetch<Batch<T>>> prefetch_;
    std::optional<Batch<T>> current_;
    double waited_ = 0;
  };

  /// The first batch of a new run.
  Iterator begin() const { return Iterator(*this); }
  /// Behind the last one.
  std::default_sentinel_t end() const { return {}; }

 private:
  Load load_;
  Sampler sampler_;
  BatchesOptions options_;
  Loc line_;  // of the user's code, for errors of another thread
  int64_t per_epoch_;
};

namespace internal {
/// Throws ValueError for a key beside a sampler.
void check_no_key(const BatchesOptions& options);
}  // namespace internal

/// Batches of a tree of arrays in memory, any[n, ...] each: in order, or shuffled anew in every
/// epoch if there is a key. Throws ValueError for options out of range and where no batch is full,
/// and as example_count().
template <class T>
Batches<T> batches(T examples, const BatchesOptions& options, Loc loc = Loc::current()) {
  const OpScope at("batches", loc);
  const int64_t n = internal::example_count("batches", tree::entries(examples));
  Sampler sampler = options.key.defined() ? shuffled(n, options.key) : in_order(n);
  return Batches<T>(
      [examples = std::move(examples), loc](std::span<const int64_t> indices) {
        return take_examples(examples, indices, loc);
      },
      std::move(sampler), options);
}
/// The same in the order of a sampler; options.key has to stay empty.
template <class T>
Batches<T> batches(T examples, Sampler sampler, const BatchesOptions& options,
                   Loc loc = Loc::current()) {
  const OpScope at("batches", loc);
  internal::check_no_key(options);
  internal::example_count("batches", tree::entries(examples));
  return Batches<T>(
      [examples = std::move(examples), loc](std::span<const int64_t> indices) {
        return take_examples(examples, indices, loc);
      },
      std::move(sampler), options);
}
/// Batches that `load` makes of the numbers of examples: files that are read, examples that are
/// computed. With .prefetch it is called on another thread, one call at a time.
template <class F>
requires std::invocable<F&, std::span<const int64_t>>
auto batches_by(F load, Sampler sampler, const BatchesOptions& options, Loc loc = Loc::current()) {
  const OpScope at("batches_by", loc);
  internal::check_no_key(options);
  using T = std::decay_t<std::invoke_result_t<F&, std::span<const int64_t>>>;
  return Batches<T>(std::move(load), std::move(sampler), options);
}

}  // namespace spruce::data
