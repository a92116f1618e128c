// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spruce/core/op_scope.h"

namespace spruce::data {
namespace {

std::vector<int64_t> permutation(const Key& key, int64_t n) {
  const std::vector<int32_t> drawn = random::permutation(key, n).to_vector<int32_t>();
  return {drawn.begin(), drawn.end()};
}

void check_key(const char* op, const Key& key) {
  if (!key.defined())
    throw ValueError(std::string(op) + ": the key is not there; give sp::Key(seed)");
  if (key.shape().rank() != 0) {
    throw ShapeError(std::string(op) + ": " + to_string(key) + " is a batch of keys; give one key");
  }
}

void check_count(const char* op, int64_t n) {
  if (n < 0 || n > INT32_MAX) {
    throw ValueError(std::string(op) + ": the number of examples is " + std::to_string(n) +
                     "; it has to be in 0 .. 2147483647");
  }
}

std::vector<double> uniform(const Key& key, int64_t n) {
  return random::uniform(key, {n}, {.dtype = float64}).to_vector<double>();
}

}  // namespace

namespace internal {

void check_order(const char* op, const Sampler& sampler) {
  if (sampler.order) return;
  throw ValueError(std::string(op) +
                   ": the sampler has no order; make one by shuffled() or in_order()");
}

}  // namespace internal

Sampler in_order(int64_t n, Loc loc) {
  const OpScope at("in_order", loc);
  check_count("in_order", n);
  return {n, [n](int64_t) {
            std::vector<int64_t> out(static_cast<size_t>(n));
            std::iota(out.begin(), out.end(), int64_t{0});
            return out;
          }};
}

Sampler shuffled(int64_t n, const Key& key, Loc loc) {
  const OpScope at("shuffled", loc);
  check_count("shuffled", n);
  check_key("shuffled", key);
  return {n, [n, key](int64_t epoch) { return permutation(random::fold_in(key, epoch), n); }};
}

Sampler weighted(std::span<const double> weights, const Key& key, const WeightedOptions& options,
                 Loc loc) {
  const OpScope at("weighted", loc);
  check_key("weighted", key);
  std::vector<double> sums;
  double total = 0;
  int64_t positive = 0;
  for (const double w : weights) {
    if (!(w >= 0) || !std::isfinite(w)) {
      throw ValueError("weighted: weight " + std::to_string(sums.size()) + " is " +
                       std::to_string(w) + "; weights have to be finite and not negative");
    }
    positive += w > 0;
    sums.push_back(total += w);
  }
  const auto n = static_cast<int64_t>(sums.size());
  const int64_t count = options.count == -1 ? n : options.count;
  check_count("weighted", count);
  if (!std::isfinite(total) || (count > 0 && positive == 0)) {
    throw ValueError("weighted: the weights add up to " + std::to_string(total) +
                     "; at least one has to be positive, and their sum finite");
  }
  if (options.replace) {
    return {count, [sums, count, key, total](int64_t epoch) {
              // u * total may round up to the total; the last one with a weight ends there.
              const auto last = std::lower_bound(sums.begin(), sums.end(), total);
              std::vector<int64_t> out;
              for (const double u : uniform(random::fold_in(key, epoch), count)) {
                const auto place = std::upper_bound(sums.begin(), sums.end(), u * total);
                out.push_back(std::min(place, last) - sums.begin());
              }
              return out;
            }};
  }
  if (count > positive) {
    throw ValueError("weighted: " + std::to_string(count) + " examples cannot be drawn from " +
                     std::to_string(positive) +
                     " with a positive weight; draw fewer or with .replace = true");
  }
  const std::vector<double> w(weights.begin(), weights.end());
  return {count, [w, n, count, key](int64_t epoch) {
            const std::vector<double> u = uniform(random::fold_in(key, epoch), n);
            // The smallest of exponential times with rates w come first.
            std::vector<std::pair<double, int64_t>> times;
            for (size_t i = 0; i < w.size(); ++i) {
              if (w[i] > 0) times.emplace_back(-std::log1p(-u[i]) / w[i], static_cast<int64_t>(i));
            }
            std::sort(times.begin(), times.end());
            std::vector<int64_t> out;
            for (size_t i = 0; i < static_cast<size_t>(count); ++i) out.push_back(times[i].second);
            return out;
          }};
}

Sampler distributed(Sampler all, const DistributedOptions& o, Loc loc) {
  const OpScope at("distributed", loc);
  internal::check_order("distributed", all);
  if (o.processes < 1 || o.rank < 0 || o.rank >= o.processes) {
    throw ValueError("distributed: rank " + std::to_string(o.rank) + " of " +
                     std::to_string(o.processes) +
                     " processes; ranks count from 0 to processes - 1");
  }
  const int64_t whole = all.size / o.processes, over = all.size % o.processes;
  const int64_t size = whole + (over > 0 && !o.drop_last ? 1 : 0);
  return {size, [all = std::move(all), o, size](int64_t epoch) {
            const std::vector<int64_t> order = all.order(epoch);
            std::vector<int64_t> out;
            for (int64_t k = 0; k < size; ++k) {
              const auto place = static_cast<size_t>(o.rank + k * o.processes);
              out.push_back(order[place % order.size()]);
            }
            return out;
          }};
}

Sampler by_length(std::span<const int64_t> lengths, const Key& key, int64_t batch_size,
                  int64_t pool, Loc loc) {
  const OpScope at("by_length", loc);
  check_key("by_length", key);
  if (batch_size < 1 || pool < batch_size) {
    throw ValueError("by_length: batches of " + std::to_string(batch_size) + " in pools of " +
                     std::to_string(pool) + "; both have to be positive, and a pool holds a batch");
  }
  for (const int64_t n : lengths) {
    if (n < 0) throw ValueError("by_length: a length is " + std::to_string(n));
  }
  const std::vector<int64_t> of(lengths.begin(), lengths.end());
  const auto n = static_cast<int64_t>(of.size());
  check_count("by_length", n);
  return {n, [of, n, key, batch_size, pool](int64_t epoch) {
            const Key of_epoch = random::fold_in(key, epoch);
            std::vector<int64_t> order = permutation(random::fold_in(of_epoch, 0), n);
            const auto shorter = [&](int64_t a, int64_t b) {
              return of[static_cast<size_t>(a)] < of[static_cast<size_t>(b)];
            };
            for (int64_t from = 0; from < n; from += std::min(pool, n - from)) {
              std::stable_sort(order.begin() + from,
                               order.begin() + from + std::min(pool, n - from), shorter);
            }
            // The last, incomplete batch stays the last.
            const int64_t batches = n / batch_size;
            std::vector<int64_t> out;
            for (const int64_t b : permutation(random::fold_in(of_epoch, 1), batches)) {
              out.insert(out.end(), order.begin() + b * batch_size,
                         order.begin() + (b + 1) * batch_size);
            }
            out.insert(out.end(), order.begin() + batches * batch_size, order.end());
            return out;
          }};
}

Sampler of_subset(Sampler sampler, std::vector<int64_t> subset, Loc loc) {
  const OpScope at("of_subset", loc);
  internal::check_order("of_subset", sampler);
  const auto check = [n = subset.size()](int64_t i) {
    if (i >= 0 && static_cast<uint64_t>(i) < n) return;
    throw ValueError("of_subset: the sampler gives " + std::to_string(i) + " and the subset has " +
                     std::to_string(n) + " examples");
  };
  const int64_t size = sampler.size;
  return {size, [sampler = std::move(sampler), subset = std::move(subset), check](int64_t epoch) {
            std::vector<int64_t> out = sampler.order(epoch);
            for (int64_t& i : out) {
              check(i);
              i = subset[static_cast<size_t>(i)];
            }
            return out;
          }};
}

}  // namespace spruce::data
