// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/map_trainable.h"

#include <limits>

#include "spruce/core/empty_array_error.h"
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/compile/elementwise.h"

namespace spruce::optim {
namespace internal {
namespace {

constexpr const char* kOneModel = "; gradients, parameters and state must come from one model";

}  // namespace

void throw_leaves(const std::string& path, const Array& a, const Array& b) {
  const std::string where = path.empty() ? "" : " at " + path;
  if (!a.defined() || !b.defined()) {
    throw TreeError("optim: " + to_string((a.defined() ? a : b).aval()) + " meets an empty array" +
                    where + kOneModel);
  }
  const std::string both =
      "optim: " + to_string(a.aval()) + " meets " + to_string(b.aval()) + where;
  if (!is_floating(a.dtype()) || !is_floating(b.dtype()))
    throw DtypeError(both + "; what is trained and its gradients are floating: use astype");
  if (!(a.shape() == b.shape())) throw ShapeError(both + kOneModel);
  throw DtypeError(both +
                   "; gradients and state must have one dtype: convert the gradients with astype, "
                   "or keep the parameters in f32 and compute in half precision by nn::mixed");
}

void MapChecked::operator()(tree::internal::LeafFunction f, tree::internal::AnyMutableTree out,
                            tree::internal::AnyTree x,
                            std::span<const tree::internal::AnyTree> rest) const {
  struct Checked {
    Alike alike;
    tree::internal::LeafFunction f;
    tree::internal::AnyTree x;
    size_t others;

    static bool trainable(const Array& a) { return is_trainable(a, tree::Leaf::kArray); }
    bool fits(const Array& a, const Array& b) const {
      if (!trainable(a)) return !trainable(b);
      if (alike == Alike::kNothing) return b.defined();
      return trainable(b) && a.shape() == b.shape() &&
             (alike != Alike::kTypes || a.aval().strong_dtype() == b.aval().strong_dtype());
    }
    // Integers stay as they are, but not where another tree has something to train.
    static Array call(void* self, const Array& a, const std::vector<Array>* others, size_t i) {
      const auto& checked = *static_cast<const Checked*>(self);
      for (size_t k = 0; k < checked.others; ++k) {
        if (!checked.fits(a, others[k][i]))
          throw_leaves(checked.x.entries()[i].path, a, others[k][i]);
      }
      if (!trainable(a)) return a;
      bool numbers = a.weak();
      for (size_t k = 0; k < checked.others; ++k) numbers = numbers || others[k][i].weak();
      return numbers ? checked.call_strong(a, others, i)
                     : checked.f.call(checked.f.function, a, others, i);
    }
    // Parameters that begin as C++ numbers are trained as arrays of their dtype.
    Array call_strong(const Array& a, const std::vector<Array>* weak, size_t i) const {
      const auto strong = [](const Array& x) { return astype(x, x.aval().strong_dtype()); };
      std::vector<std::vector<Array>> arrays;
      for (size_t k = 0; k < others; ++k) arrays.push_back({strong(weak[k][i])});
      return f.call(f.function, strong(a), arrays.data(), 0);
    }
  } checked{alike, f, x, rest.size()};
  const auto select = [](tree::Leaf kind, const Array&) { return kind == tree::Leaf::kArray; };
  tree::internal::MapSelected{"optim", loc, select}({&checked, Checked::call}, out, x, rest);
}

void throw_moved_from(const char* op) {
  throw TreeError(std::string(op) +
                  ": all arrays of the parameters are undefined: " + spruce::internal::kMovedFrom);
}

void check_shape(const char* op, const char* part, const Array& a, const Array& in_state,
                 const Shape& expected) {
  if (in_state.shape() == expected) return;
  throw ShapeError(std::string(op) + ": the " + part + " for " + to_string(a.aval()) + " is " +
                   to_string(in_state.aval()) + ", its shape must be " + to_string(expected) +
                   "; make the state by init(params) of this optimizer");
}

Array all_finite(const std::vector<Array>& grads) {
  Array finite = ones({}, bool_);
  for (const Array& g : grads) finite = finite & all(isfinite(g));
  return finite;
}

void check_steps(const char* op, const char* name, int64_t value, int64_t least) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (value >= least && value <= kMost) return;
  throw ValueError(std::string(op) + ": " + name + " is " + std::to_string(value) +
                   ", it must be within " + std::to_string(least) + ".." + std::to_string(kMost));
}

void check_size(const char* op, size_t in_state, size_t in_grads) {
  if (in_state == in_grads) return;
  throw TreeError(std::string(op) + ": the state is of " + std::to_string(in_state) +
                  " arrays and there are gradients of " + std::to_string(in_grads) +
                  "; make the state by init() with these parameters");
}

void throw_part(const char* op, const char* part, bool in_state, const std::string& option) {
  throw TreeError(std::string(op) + ": " + option + ", and the state has " +
                  (in_state ? "a " : "no ") + part +
                  "; make the state by init(params) of this optimizer");
}

}  // namespace internal

Array zero_count() { return zeros({}, int32); }

Array next_count(const Array& count) {
  return minimum(count, std::numeric_limits<int32_t>::max() - 1) + 1;
}

void check_count(const char* op, const Array& count) {
  if (count.defined() && count.dtype() == int32 && count.rank() == 0) return;
  throw TreeError(std::string(op) + ": the count of the state is " +
                  (count.defined() ? to_string(count.aval()) : "an empty array") +
                  ", it must be i32[]; make the state by init(params) of this optimizer");
}

Array bias_correction(const Hyperparam& decay, const Array& count, Dtype dtype) {
  const Dtype wide = dtype == float64 ? float64 : float32;
  return astype(1.0f - power(decay.in(wide), astype(count, wide)), dtype);
}

Array running_mean(const Array& x, const Array& mean, const Hyperparam& decay) {
  if (!decay.is_constant()) return (1 - decay) * x + decay * mean;
  static const auto& sum = *new auto(
      elementwise([](const Array& a, const Array& b, const Array& alpha, const Array& beta) {
        // One after the other: compilers differ in the order of operands, and graphs would show it.
        const Array second = beta * b, first = alpha * a;
        return first + second;
      }));
  return sum(x, mean, 1 - decay.constant(), decay.constant());
}

}  // namespace spruce::optim
