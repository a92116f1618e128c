// SPDX-License-Identifier: Apache-2.0
// A function of a batch, computed in parts that take less memory.
#pragma once

#include "spruce/core/ops/index.h"
#include "spruce/optim/map_trainable.h"
#include "spruce/transforms/control/loops/scan.h"

namespace spruce::optim {

/// What becomes of the results of the parts of a batch.
enum class Accumulation : uint8_t {
  kSum,         ///< their sum
  kMean,        ///< their mean
  kConcatenate  ///< one behind the other along axis 0
};
/// Options of microbatch.
struct MicrobatchOptions {
  int64_t size = 1;                ///< examples in one part; has to divide the batch
  std::vector<int> argnums = {0};  ///< the arguments that have an axis of examples in front
  Accumulation accumulation = Accumulation::kSum;  ///< what becomes of the results
};

namespace internal {

void check_microbatch(const MicrobatchOptions& options, size_t arguments);
// The leaves f[batch, ...] as f[parts, size, ...]. Throws ShapeError where they do not agree.
std::vector<Array> in_parts(const std::vector<Array>& leaves, int64_t size);
// f[parts, size, ...] as f[parts * size, ...].
Array of_parts(const Array& a);

}  // namespace internal

/// f over the parts of a batch, one after the other, in one compiled loop.
template <class F>
class Microbatch {
 public:
  /// Throws ValueError for a size below 1.
  Microbatch(F f, MicrobatchOptions options, Loc loc)
      : f_(std::move(f)), o_(std::move(options)), loc_(loc) {
    const LocScope at(loc);
    internal::check_steps("microbatch", "size", o_.size);
  }

  /// f(args...) accumulated over the parts; undefined arrays of the result stay as they are. Throws
  /// ShapeError where arrays of the batch differ in their first axis, or where that is no multiple
  /// of `size`, and for a result of rank 0 with kConcatenate; ValueError where an argnum is not
  /// that of an argument.
  template <class... Args>
  auto operator()(const Args&... args) const {
    const OpScope at("microbatch", loc_);
    internal::check_microbatch(o_, sizeof...(Args));
    std::tuple<Args...> all(args...);
    std::vector<Array> leaves;
    for_each_of_batch(all, [&](Array& a) { leaves.push_back(a); });
    const std::vector<Array> parts = internal::in_parts(leaves, o_.size);
    const auto of_part = [&](const std::vector<Array>& part) {
      std::tuple<Args...> now = all;
      size_t next = 0;
      for_each_of_batch(now, [&](Array& a) { a = part[next++]; });
      return std::apply(f_, now);
    };
    using Out = std::decay_t<decltype(of_part(parts))>;
    if (o_.accumulation == Accumulation::kConcatenate) {
      const auto step = [&](const Array& nothing, const std::vector<Array>& part) {
        return std::pair{nothing, of_part(part)};
      };
      const Out stacked = scan(step, zero_count(), parts).second;
      return Out(map_defined([](const Array& a) { return internal::of_parts(a); }, stacked));
    }
    // The first part by itself gives the form of the sum.
    std::vector<Array> first, rest;
    for (const Array& a : parts) {
      first.push_back(a[0]);
      rest.push_back(a[slice(1, none)]);
    }
    Out sums = of_part(first);
    const int64_t count = parts.front().shape()[0];
    if (count > 1) {
      const auto step = [&](const Out& before, const std::vector<Array>& part) {
        return std::pair{added(before, of_part(part)), none};
      };
      sums = scan(step, sums, rest).first;
    }
    if (o_.accumulation == Accumulation::kMean) {
      sums = map_defined([&](const Array& a) { return a / static_cast<double>(count); }, sums);
    }
    return sums;
  }

 private:
  template <class Tuple, class G>
  void for_each_of_batch(Tuple& all, const G& g) const {
    [&]<size_t... I>(std::index_sequence<I...>) {
      (
          [&] {
            for (const int argnum : o_.argnums) {
              if (argnum != static_cast<int>(I)) continue;
              tree::internal::for_each_leaf(std::get<I>(all), [&](Array& a, tree::Leaf) {
                if (a.defined()) g(a);
              });
            }
          }(),
          ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Tuple>>{});
  }
  template <class Out>
  static Out added(const Out& a, const Out& b) {
    return map_defined([](const Array& x, const Array& y) { return x + y; }, a, b);
  }
  // Undefined arrays stay as they are.
  template <class G, class Out, class... Rest>
  static Out map_defined(const G& g, const Out& x, const Rest&... rest) {
    return tree::map(
        [&](const Array& a, const auto&... others) { return a.defined() ? g(a, others...) : a; }, x,
        rest...);
  }

  F f_;
  MicrobatchOptions o_;
  Loc loc_;
};
/// microbatch(grads_of_loss, {.size = 32, .argnums = {1}})(params, batch): what
/// grads_of_loss(params, batch) gives where the loss is a sum over examples, from parts of 32 of
/// them: a loop that needs the memory of one part. For a loss that is a mean the accumulation is
/// kMean, for one result an example kConcatenate. Each batch has to be a multiple of `size`: the
/// last one of an epoch, which data::Rest::kKeep leaves shorter, is a ShapeError; kDrop leaves it
/// out, kPad fills it up. It works under every transform; f is run twice for its types, for a sum.
/// Throws ValueError for a size below 1.
template <class F>
Microbatch<F> microbatch(F f, MicrobatchOptions options, Loc loc = Loc::current()) {
  return Microbatch<F>(std::move(f), std::move(options), loc);
}

}  // namespace spruce::optim
