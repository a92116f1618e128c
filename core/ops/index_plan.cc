// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/index_plan.h"

#include <algorithm>

#include "spruce/core/ops/function.h"

namespace spruce::internal {
namespace {

class Planner {
 public:
  Planner(const char* op, const Aval& x) : op_(op), x_(x) {}

  IndexPlan plan(std::span<const Index> indices) {
    count(indices);
    for (const Index& index : indices) add(index);
    while (axis_ < x_.shape.rank()) whole();
    for (AxisIndex& a : plan_.axes) {
      if (!a.array.defined()) continue;
      plan_.arrays = true;
      plan_.group = broadcast_shapes(op_, plan_.group, a.array.shape());
    }
    if (separated_) plan_.group_at = 0;
    return std::move(plan_);
  }

 private:
  // How many axes the ellipsis (or the end) stands for.
  void count(std::span<const Index> indices) {
    int named = 0, ellipses = 0;
    for (const Index& index : indices) {
      switch (index.kind()) {
        case Index::Kind::kEllipsis:
          ++ellipses;
          break;
        case Index::Kind::kNewAxis:
          break;
        case Index::Kind::kArray:
          require_defined(op_, "index", index.array());
          named += is_bool(index.array().dtype()) ? index.array().rank() : 1;
          break;
        default:
          ++named;
      }
    }
    if (ellipses > 1)
      throw IndexError(std::string(op_) + ": an index can have one ellipsis, got " +
                       std::to_string(ellipses));
    if (named > x_.shape.rank()) {
      throw IndexError(std::string(op_) + ": " + std::to_string(named) +
                       (named == 1 ? " index is" : " indices are") + " too many for " +
                       to_string(x_) + ", which has rank " + std::to_string(x_.shape.rank()));
    }
    left_ = x_.shape.rank() - named;
  }

  void add(const Index& index) {
    switch (index.kind()) {
      case Index::Kind::kInteger:
        return add_point(index.integer());
      case Index::Kind::kSlice:
        return add_slice(index.slice());
      case Index::Kind::kArray:
        return add_array(index.array());
      case Index::Kind::kNewAxis:
        plan_.kept.push_back(IndexPlan::kNew);
        end_group();
        return;
      case Index::Kind::kEllipsis:
        for (; left_ > 0; --left_) whole();
        end_group();
    }
  }

  int push(AxisIndex a, int64_t base_size) {
    plan_.base.push_back(base_size);
    plan_.axes.push_back(std::move(a));
    return static_cast<int>(plan_.axes.size()) - 1;
  }

  void whole() {
    const int64_t n = x_.shape[axis_++];
    plan_.kept.push_back(push({.size = n}, n));
    end_group();
  }

  // Integers and arrays that stand side by side leave the axes of the arrays in their place; else
  // these come first.
  void in_group() {
    if (!in_group_) {
      separated_ = separated_ || grouped_;
      if (!grouped_) plan_.group_at = plan_.kept.size();
      grouped_ = in_group_ = true;
    }
  }
  void end_group() { in_group_ = false; }

  void add_point(int64_t i) {
    const int64_t n = x_.shape[axis_];
    if (i >= n || i < -n) {
      (void)wrapped(op_, Array(i), axis_, x_);  // throws
    }
    push({.start = i < 0 ? i + n : i, .size = 1, .point = true}, n);
    ++axis_;
    in_group();
  }

  void add_slice(const Slice& s) {
    if (s.step == 0)
      throw ValueError(std::string(op_) +
                       ": the step of a slice is 0; use a positive or negative one");
    const int64_t n = x_.shape[axis_++];
    const bool forward = s.step > 0;
    const int64_t low = forward ? 0 : -1, high = forward ? n : n - 1;
    const auto end = [&](std::optional<int64_t> value, int64_t open) {
      if (!value) return open;
      return std::clamp(*value < 0 ? std::max(*value, -n - 1) + n : *value, low, high);
    };
    const int64_t start = end(s.start, forward ? low : high),
                  stop = end(s.stop, forward ? high : low);
    const int64_t span = forward ? stop - start : start - stop;
    // A step that leaves the axis at once may be cut to its size (and cannot overflow then).
    const int64_t step = std::clamp(s.step, -std::max<int64_t>(n, 1), std::max<int64_t>(n, 1));
    const int64_t size = span <= 0 ? 0 : (span - 1) / (forward ? step : -step) + 1;
    plan_.kept.push_back(
        push({.start = size == 0 ? 0 : start, .size = size, .step = size <= 1 ? 1 : step}, n));
    end_group();
  }

  void add_array(const Array& a) {
    if (is_bool(a.dtype())) {
      add_mask(a);
    } else {
      Array i = wrapped(op_, a, axis_, x_);
      const int64_t n = x_.shape[axis_];
      ++axis_;
      if (i.rank() == 0 && known(i).defined())
        push({.start = known_integers(i)[0], .size = 1, .point = true}, n);
      else
        push({.array = std::move(i)}, n);
    }
    in_group();
  }

  void add_mask(const Array& mask) {
    const Array values = on_host(mask);
    if (!values.defined()) {
      throw TracerError(std::string(op_) +
                        ": the shape of x[mask] depends on the values of the mask, " +
                        mask.impl()->describe() + " of type " + to_string(mask.aval()) +
                        ", which are not known while its function is traced; use where(mask, x, "
                        "other), which keeps the shape");
    }
    int64_t merged = 1;
    for (int k = 0; k < mask.rank(); ++k) {
      const int64_t n = x_.shape[axis_ + k];
      if (mask.shape()[k] != n) {
        throw IndexError(std::string(op_) + ": the mask " + to_string(mask.aval()) +
                         " does not fit " + to_string(x_) + ": axis " + std::to_string(k) +
                         " of the mask has size " + std::to_string(mask.shape()[k]) + ", axis " +
                         std::to_string(axis_ + k) + " of the array has " + std::to_string(n));
      }
      merged *= n;
    }
    axis_ += mask.rank();
    push({.array = true_places(values)}, merged);
  }

  const char* op_;
  const Aval& x_;
  IndexPlan plan_;
  int axis_ = 0;  // of x
  int left_ = 0;
  bool grouped_ = false, in_group_ = false, separated_ = false;
};

}  // namespace

Shape IndexPlan::result(bool with_new) const {
  Shape shape;
  for (size_t k = 0; k <= kept.size(); ++k) {
    if (arrays && k == group_at) {
      for (const int64_t n : group) shape.push_back(n);
    }
    if (k == kept.size()) break;
    if (kept[k] != kNew)
      shape.push_back(axes[static_cast<size_t>(kept[k])].size);
    else if (with_new)
      shape.push_back(1);
  }
  return shape;
}

IndexPlan plan_index(const char* op, const Aval& x, std::span<const Index> indices) {
  return Planner(op, x).plan(indices);
}

}  // namespace spruce::internal
