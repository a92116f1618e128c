// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/branches/branch_residuals.h"

#include <algorithm>

#include "spruce/core/rules/shape.h"

namespace spruce::internal {
namespace {

constexpr size_t kFew = 8;            // that are handed on one by one
constexpr int64_t kMostBytes = 4096;  // of one that is joined with others

bool is_short(const Aval& a) {
  return !a.weak && a.shape.rank() <= 1 && a.numel() > 0 && a.bytes() <= kMostBytes;
}

bool joins(const BranchResiduals::Joined& j, const Aval& a) {
  return is_short(a) && a.dtype == j.dtype && a.device == j.device;
}

std::vector<Aval> own_types(const LinearBody& b, size_t outputs) {
  std::vector<Aval> types = output_avals(b.forward);
  types.erase(types.begin(), types.begin() + static_cast<ptrdiff_t>(outputs));
  return types;
}

// In the place of a residual that a branch does not have. The linear part may divide by it: under
// vmap all branches run, and a NaN of one that is not chosen would reach what is chosen on the way
// back.
ValueId add_placeholder(Graph& g, const Aval& type) {
  return add_filled(g, type, is_floating(type.dtype) ? 1 : 0);
}

ValueId append(Graph& g, const Primitive& p, Params params, std::vector<ValueId> in,
               const Aval& type) {
  const ValueId out = g.add_value(type);
  g.equations.push_back({&p, std::move(params), std::move(in), {out}, {}});
  return out;
}

// One branch while its residuals are taken over.
class Spreading {
 public:
  Spreading(LinearBody& body, size_t outputs) : forward_(body.forward), linear_(body.linear) {
    const auto first = forward_.outputs.begin() + static_cast<ptrdiff_t>(outputs);
    own_.assign(first, forward_.outputs.end());
    forward_.outputs.erase(first, forward_.outputs.end());
    const auto tangents = linear_.inputs.begin() + static_cast<ptrdiff_t>(own_.size());
    places_.assign(linear_.inputs.begin(), tangents);
    tangents_.assign(tangents, linear_.inputs.end());
    linear_.inputs.clear();
    used_.assign(own_.size(), false);
  }

  void join(const BranchResiduals::Joined& j) {
    const Aval whole{j.dtype, false, {j.length}, j.device};
    const ValueId place = linear_.add_value(whole);
    linear_.inputs.push_back(place);
    std::vector<ValueId> pieces;
    int64_t at = 0;
    for (size_t n = 0; n < own_.size(); ++n) {
      if (!joins(j, type(n))) continue;
      used_[n] = true;
      const int64_t size = type(n).numel();
      const Aval row{j.dtype, false, {size}, j.device};
      const bool number = type(n).shape.rank() == 0;
      const Params as_row = Params::make(ReshapeParams{{size}});
      pieces.push_back(number ? append(forward_, reshape_p, as_row, {own_[n]}, row) : own_[n]);
      const ValueId piece = number ? linear_.add_value(row) : places_[n];
      begin_.push_back(
          {&slice_p, Params::make(SliceParams{{at}, {at + size}, {1}}), {place}, {piece}, {}});
      if (number)
        begin_.push_back({&reshape_p, Params::make(ReshapeParams{{}}), {piece}, {places_[n]}, {}});
      at += size;
    }
    if (at < j.length)
      pieces.push_back(add_placeholder(forward_, {j.dtype, false, {j.length - at}, j.device}));
    forward_.outputs.push_back(pieces.size() == 1 ? pieces[0]
                                                  : append(forward_, concatenate_p,
                                                           Params::make(ConcatenateParams{0}),
                                                           std::move(pieces), whole));
  }

  void hand_on(const Aval& wanted) {
    size_t n = 0;
    while (n < own_.size() && (used_[n] || !(type(n) == wanted))) ++n;
    if (n < own_.size()) {
      used_[n] = true;
      forward_.outputs.push_back(own_[n]);
      linear_.inputs.push_back(places_[n]);
    } else {
      forward_.outputs.push_back(add_placeholder(forward_, wanted));
      linear_.inputs.push_back(linear_.add_value(wanted));
    }
  }

  void finish() {
    linear_.inputs.insert(linear_.inputs.end(), tangents_.begin(), tangents_.end());
    linear_.equations.insert(linear_.equations.begin(), std::make_move_iterator(begin_.begin()),
                             std::make_move_iterator(begin_.end()));
  }

 private:
  const Aval& type(size_t n) const { return forward_.avals[static_cast<size_t>(own_[n])]; }

  Graph &forward_, &linear_;
  std::vector<ValueId> own_, places_;  // in the two graphs
  std::vector<ValueId> tangents_;
  std::vector<Equation> begin_;  // of the linear part
  Mask used_;
};

}  // namespace

BranchResiduals common_residuals(const std::vector<LinearBody>& bodies, size_t outputs) {
  BranchResiduals all;
  const auto known = [&](const Aval& a) {
    return std::any_of(all.joined.begin(), all.joined.end(),
                       [&](const BranchResiduals::Joined& j) { return joins(j, a); });
  };
  for (const LinearBody& b : bodies) {
    for (const Aval& a : own_types(b, outputs)) {
      if (is_short(a) && !known(a)) all.joined.push_back({a.dtype, a.device, 0});
    }
  }
  std::erase_if(all.joined, [&](BranchResiduals::Joined& j) {
    size_t most = 0;
    for (const LinearBody& b : bodies) {
      size_t count = 0;
      int64_t length = 0;
      for (const Aval& a : own_types(b, outputs)) {
        if (!joins(j, a)) continue;
        ++count;
        length += a.numel();
      }
      most = std::max(most, count);
      j.length = std::max(j.length, length);
    }
    return most <= kFew;
  });
  for (const LinearBody& b : bodies) {
    std::vector<Aval> left = all.single;
    for (const Aval& a : own_types(b, outputs)) {
      if (known(a)) continue;
      const auto it = std::find(left.begin(), left.end(), a);
      if (it == left.end())
        all.single.push_back(a);
      else
        left.erase(it);
    }
  }
  return all;
}

void spread_residuals(LinearBody& body, size_t outputs, const BranchResiduals& all) {
  Spreading spreading(body, outputs);
  for (const BranchResiduals::Joined& j : all.joined) spreading.join(j);
  for (const Aval& type : all.single) spreading.hand_on(type);
  spreading.finish();
}

}  // namespace spruce::internal
