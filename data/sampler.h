// SPDX-License-Identifier: Apache-2.0
// In which order examples are visited: functions of the epoch, with nothing hidden.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "spruce/core/random/random.h"

namespace spruce::data {

/// The order of the examples of each epoch. A value: the same sampler gives the same order for the
/// same epoch, on every machine and after every restart.
struct Sampler {
  int64_t size = 0;  ///< how many numbers an epoch has
  /// The numbers of the examples of epoch 0, 1, ...: `size` of them. It is called from the thread
  /// that makes batches.
  std::function<std::vector<int64_t>(int64_t epoch)> order{};
};

namespace internal {
/// Throws ValueError naming `op` for a sampler that was only default-constructed.
void check_order(const char* op, const Sampler& sampler);
}  // namespace internal

/// 0, 1, ..., n - 1 in every epoch. Throws ValueError for a negative n.
Sampler in_order(int64_t n, Loc loc = Loc::current());
/// A new order for every epoch: random::permutation(random::fold_in(key, epoch), n). Throws
/// ValueError for a negative n or a key that is not there.
Sampler shuffled(int64_t n, const Key& key, Loc loc = Loc::current());

/// Options of weighted.
struct WeightedOptions {
  int64_t count = -1;   ///< how many numbers an epoch has; -1: as many as there are weights
  bool replace = true;  ///< an example may be drawn more than once in an epoch
};
/// Examples drawn with probabilities in the proportion of `weights`, which need not add up to 1:
/// what makes rare classes as frequent as others. Without replacement by the largest of log(w) plus
/// Gumbel noise (Efraimidis and Spirakis 2006). Throws ValueError for weights that are negative,
/// not finite, or all 0, and for a count that cannot be drawn.
Sampler weighted(std::span<const double> weights, const Key& key,
                 const WeightedOptions& options = {}, Loc loc = Loc::current());
/// The same for weights in a vector.
inline Sampler weighted(const std::vector<double>& weights, const Key& key,
                        const WeightedOptions& options = {}, Loc loc = Loc::current()) {
  return weighted(std::span<const double>(weights), key, options, loc);
}

/// Options of distributed.
struct DistributedOptions {
  int64_t rank = 0;        ///< which of the processes this is, 0 .. processes - 1
  int64_t processes = 1;   ///< how many there are
  bool drop_last = false;  ///< leave out what does not divide evenly; else the first are repeated
};
/// The share of one process: every `processes`-th number of what `all` gives, from `rank` on. All
/// processes have shares of one size, so none waits for another at the end. With the same key in
/// all of them the shares are disjoint but for what is repeated (torch's DistributedSampler).
/// Throws ValueError for a rank outside of 0 .. processes - 1.
Sampler distributed(Sampler all, const DistributedOptions& options, Loc loc = Loc::current());

/// Sequences of like length side by side, so that batches need little padding: the order of
/// `shuffled`, cut into pools of `pool` numbers, each sorted by length and cut into batches of
/// `batch_size`, whose order is shuffled. Batches are then to be made with the same batch_size.
/// Throws ValueError for a negative length, a batch_size below 1, or a pool below batch_size.
Sampler by_length(std::span<const int64_t> lengths, const Key& key, int64_t batch_size,
                  int64_t pool, Loc loc = Loc::current());

/// What `sampler` gives as numbers of `subset`: samplers over parts of a set. Throws ValueError
/// unless the numbers of `sampler` count the subset.
Sampler of_subset(Sampler sampler, std::vector<int64_t> subset, Loc loc = Loc::current());

}  // namespace spruce::data
