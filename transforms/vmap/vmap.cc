// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/vmap/vmap.h"

#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/function/function_form.h"

namespace spruce::internal {
namespace {

// The shape that an axis of the specification counts in: that of the array, or of the batch of
// keys.
int user_rank(const MappedLeaf& leaf) {
  return leaf.value.rank() - (leaf.kind == tree::Leaf::kKey ? 1 : 0);
}

std::string name_of(const MappedLeaf& leaf) {
  return leaf.path.empty() ? "the result" : argument_name(leaf.path);
}

int axis_of(const MappedLeaf& leaf) {
  const int rank = user_rank(leaf);
  if (rank == 0 && leaf.kind == tree::Leaf::kKey) {
    throw ShapeError("vmap: " + name_of(leaf) +
                     " is one key, which has no axis to map over; give a key for each example, "
                     "random::split(key, n), or in_axes with none for it, so that all share it");
  }
  if (leaf.axis >= rank || leaf.axis < -rank) {
    throw ShapeError("vmap: in_axes names axis " + std::to_string(leaf.axis) + " of " +
                     name_of(leaf) + ", which is " + to_string(leaf.value.aval()) +
                     "; map an axis that it has, or none");
  }
  return static_cast<int>(leaf.axis < 0 ? leaf.axis + rank : leaf.axis);
}

}  // namespace

void SpecVisitor::add(const Array& a, tree::Leaf kind) {
  const AxisSpec& spec = *stack_.back().spec;
  if (spec.is_list()) {
    throw TreeError(std::string("vmap: ") + what_ + " has a list for " + place() +
                    ", which is a single array; give one axis or none");
  }
  leaves.push_back(
      {path_.path, a, kind, !spec.is_none() && a.defined(), spec.is_none() ? 0 : spec.axis()});
}

std::string SpecVisitor::place() const {
  if (std::string_view(what_) == "in_axes") return argument_name(path_.path);
  return "the result" + (path_.path.empty() ? "" : " at " + path_.path);
}

void SpecVisitor::descend() {
  Level& top = stack_.back();
  const AxisSpec* next = top.spec;
  if (top.spec->is_list()) {
    if (top.used >= top.spec->parts().size()) {
      throw TreeError(std::string("vmap: ") + what_ + " has " +
                      std::to_string(top.spec->parts().size()) +
                      " entries, and there is no entry for " + place() +
                      "; give one for each argument, field or element");
    }
    next = &top.spec->parts()[top.used];
  }
  ++top.used;
  stack_.push_back({next, 0});
}

void SpecVisitor::ascend() {
  // A list stands for what was below it only if the walk went down there.
  if (stack_.back().used > 0) check_used(stack_.back());
  stack_.pop_back();
}

void SpecVisitor::check_used(const Level& level) const {
  if (level.spec->is_list() && level.used < level.spec->parts().size()) {
    throw TreeError(std::string("vmap: ") + what_ + " has " +
                    std::to_string(level.spec->parts().size()) + " entries for " +
                    std::to_string(level.used) +
                    " arguments, fields or elements; give one for each");
  }
}

int64_t mapped_size(const std::vector<MappedLeaf>& leaves) {
  const MappedLeaf* first = nullptr;
  int64_t size = 0;
  for (const MappedLeaf& leaf : leaves) {
    if (!leaf.mapped) continue;
    const int64_t here = leaf.value.shape()[axis_of(leaf)];
    if (first == nullptr) {
      first = &leaf;
      size = here;
    } else if (here != size) {
      throw ShapeError("vmap: the mapped axes have different sizes: " + name_of(*first) + " is " +
                       to_string(first->value.aval()) + " with " + std::to_string(size) +
                       " on axis " + std::to_string(first->axis) + ", " + name_of(leaf) + " is " +
                       to_string(leaf.value.aval()) + " with " + std::to_string(here) +
                       " on axis " + std::to_string(leaf.axis) +
                       "; set in_axes to none for what is not mapped");
    }
  }
  if (first == nullptr)
    throw TreeError(
        "vmap: no argument is mapped: in_axes is none for every array; map at least one axis");
  return size;
}

Array map_in(const BatchInterpreter& batch, const MappedLeaf& leaf) {
  if (!leaf.mapped) return leaf.value;
  const int axis = axis_of(leaf);
  return batch.make(axis == 0 ? leaf.value : moveaxis(leaf.value, axis, 0));
}

Array map_out(const BatchInterpreter& batch, const MappedLeaf& leaf) {
  if (!leaf.value.defined()) return leaf.value;
  if (!leaf.mapped) {
    if (batch.owns(leaf.value)) {
      throw TreeError(
          "vmap: out_axes is none for " +
          (leaf.path.empty() ? std::string("the result") : "the result at " + leaf.path) + ", " +
          to_string(leaf.value.aval()) +
          ", which depends on the mapped arguments; give it an axis");
    }
    return leaf.value;
  }
  const Array stacked =
      rules::materialize_batch(batch.unwrap(leaf.value), batch.owns(leaf.value), batch.size());
  const int rank = stacked.rank() - (leaf.kind == tree::Leaf::kKey ? 1 : 0);
  if (leaf.axis >= rank || leaf.axis < -rank) {
    throw ShapeError("vmap: out_axes names axis " + std::to_string(leaf.axis) +
                     " of a result whose slices are " + to_string(leaf.value.aval()) +
                     "; it must be within the rank of the stacked result, " + std::to_string(rank));
  }
  const int axis = static_cast<int>(leaf.axis < 0 ? leaf.axis + rank : leaf.axis);
  return axis == 0 ? stacked : moveaxis(stacked, 0, axis);
}

}  // namespace spruce::internal
