// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/graph/donors.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace spruce::internal {
namespace {

// A call looks at each of them.
constexpr size_t kMostOthers = 8;
// Of results and operands of one equation. Of loops over thousands of leaves only predecessors are
// donors then, instead of all pairs being looked at.
constexpr size_t kMostPairs = size_t{1} << 20;

}  // namespace

Donors::Donors(const Graph& graph, size_t first_state, const InputAt& input_at, InPlace in_place)
    : first_state_(first_state),
      in_place_(std::move(in_place)),
      last_(graph.inputs.size(), -1),
      taken_(graph.inputs.size(), 0),
      donors_(graph.outputs.size(), -1),
      others_(graph.outputs.size()) {
  for (const ValueId v : graph.inputs)
    bytes_.push_back(graph.avals[static_cast<size_t>(v)].bytes());
  struct Read {
    size_t step, operand, input;
  };
  std::vector<Read> reads;
  for (size_t n = 0; n < graph.equations.size(); ++n) {
    for (size_t k = 0; k < graph.equations[n].inputs.size(); ++k) {
      const int64_t i = input_at(n, k);
      if (i < 0) continue;
      reads.push_back({n, k, static_cast<size_t>(i)});
      last_[static_cast<size_t>(i)] = static_cast<int64_t>(n);
    }
  }
  for (const Read& r : reads) {
    const auto step = static_cast<int64_t>(r.step);
    if (last_[r.input] != step) continue;
    reads_.try_emplace(step, Reads{{}, kMostPairs})
        .first->second.operands[r.input]
        .push_back(r.operand);
  }
}

bool Donors::fits(size_t input, const OwnResult& r) const {
  if (r.output < 0 || last_[input] != r.step || bytes_[input] != r.bytes) return false;
  const std::vector<size_t>& operands = reads_.at(r.step).operands.at(input);
  return std::all_of(operands.begin(), operands.end(), [&](size_t operand) {
    return in_place_(static_cast<size_t>(r.step), operand, static_cast<size_t>(r.output));
  });
}

void Donors::give(size_t input, const OwnResult& r) {
  donors_[r.k] = static_cast<int64_t>(input);
  taken_[input] = 1;
  const auto reads = reads_.find(last_[input]);
  if (reads != reads_.end()) reads->second.operands.erase(input);
}

bool Donors::give_predecessor(const OwnResult& r, bool in_place, bool dead) {
  const size_t input = first_state_ + r.k;
  if (donors_[r.k] >= 0 || input >= taken_.size() || taken_[input]) return false;
  const bool now = in_place && fits(input, r);
  if (!now && !(dead && this->dead(input, r))) return false;
  give(input, r);
  if (now) find_others(r);
  return true;
}

void Donors::give_predecessors(std::span<const OwnResult> results) {
  for (const OwnResult& r : results) give_predecessor(r, true, true);
}

bool Donors::give_in_place(std::span<const OwnResult> results) {
  bool any = false;
  for (const OwnResult& r : results) any = give_predecessor(r, true, false) || any;
  for (const OwnResult& r : results) any = give_what_it_reads(r) || any;
  return any;
}

bool Donors::give_what_it_reads(const OwnResult& r) {
  const auto reads = reads_.find(r.step);
  if (donors_[r.k] >= 0 || r.output < 0 || reads == reads_.end()) return false;
  for (const auto& [input, operands] : reads->second.operands) {
    if (reads->second.pairs_left == 0) return false;
    --reads->second.pairs_left;
    if (taken_[input] || !fits(input, r)) continue;
    give(input, r);
    find_others(r);
    return true;
  }
  return false;
}

void Donors::find_others(const OwnResult& r) {
  Reads& reads = reads_.at(r.step);
  for (const auto& [input, operands] : reads.operands) {
    if (reads.pairs_left == 0 || others_[r.k].size() == kMostOthers) return;
    --reads.pairs_left;
    if (!taken_[input] && fits(input, r)) others_[r.k].push_back(static_cast<int64_t>(input));
  }
}

void Donors::give_dead(std::span<const OwnResult> results) {
  for (const OwnResult& r : results) give_predecessor(r, false, true);
  std::vector<size_t> inputs(taken_.size());
  std::iota(inputs.begin(), inputs.end(), size_t{0});
  std::erase_if(inputs, [&](size_t i) { return taken_[i] != 0; });
  std::stable_sort(inputs.begin(), inputs.end(),
                   [&](size_t i, size_t j) { return last_[i] < last_[j]; });
  std::multimap<int64_t, size_t> free;  // by bytes
  auto next = inputs.begin();
  std::vector<OwnResult> in_order(results.begin(), results.end());
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const OwnResult& a, const OwnResult& b) { return a.step < b.step; });
  for (const OwnResult& r : in_order) {
    if (donors_[r.k] >= 0) continue;
    for (; next != inputs.end() && last_[*next] < r.step; ++next)
      free.emplace(bytes_[*next], *next);
    const auto found = free.find(r.bytes);
    if (found == free.end()) continue;
    give(found->second, r);
    free.erase(found);
  }
}

}  // namespace spruce::internal
