// SPDX-License-Identifier: Apache-2.0
// vmap: a function over one more axis.
#pragma once

#include <optional>

#include "spruce/core/axis_arg.h"
#include "spruce/core/tree/tree.h"
#include "spruce/transforms/function/checked_function.h"
#include "spruce/transforms/function/empty_leaves.h"
#include "spruce/transforms/vmap/batch.h"

namespace spruce {

/// Which axis is mapped: one for a whole tree, none, or a list with one entry for each argument,
/// field or element. {0, none} maps axis 0 of the first argument; {none, {0, 1}} axis 0 of the
/// first field of the second and axis 1 of the second field.
class AxisSpec {
 public:
  /// That axis of every array, negative ones counted from the end.
  template <std::integral T>
  AxisSpec(T axis) : axis_(internal::axis_of(axis)), kind_(Kind::kAxis) {}
  /// Not mapped: the same for all elements.
  AxisSpec(None) : kind_(Kind::kNone) {}
  /// std::nullopt is refused.
  template <std::same_as<std::nullopt_t> T>
  AxisSpec(T) {
    static_assert(internal::kNever<T>,
                  "spruce: an argument that is not mapped has spruce::none in its place: vmap(f, "
                  "{.in_axes = {0, none}})");
  }
  /// One entry for each argument, field or element.
  AxisSpec(std::initializer_list<AxisSpec> parts) : parts_(parts), kind_(Kind::kList) {}

  /// True for a list of entries.
  bool is_list() const { return kind_ == Kind::kList; }
  /// True for none: not mapped.
  bool is_none() const { return kind_ == Kind::kNone; }
  /// The axis, if it is one.
  int64_t axis() const { return axis_; }
  /// The entries of a list.
  const std::vector<AxisSpec>& parts() const { return parts_; }

 private:
  enum class Kind : uint8_t { kAxis, kNone, kList };
  std::vector<AxisSpec> parts_;
  int64_t axis_ = 0;
  Kind kind_;
};

/// Options of vmap.
struct VmapOptions {
  AxisSpec in_axes = 0;   ///< one axis for all arguments, or a list with one entry for each
  AxisSpec out_axes = 0;  ///< the same for the result; none where it does not depend on the mapped
                          ///< arguments
  std::string axis_name = {};  ///< a name by which psum, pmean and axis_index reach the axis
};

namespace internal {

/// A leaf with the axis that the specification names for it (none: not mapped).
struct MappedLeaf {
  std::string path;
  Array value;
  tree::Leaf kind;
  bool mapped;
  int64_t axis;
};

// Walks a tree beside its specification.
class SpecVisitor {
 public:
  SpecVisitor(const char* what, const AxisSpec& spec) : what_(what) {
    stack_.push_back({&spec, 0});
  }

  std::vector<MappedLeaf> leaves;

  template <class A>
  void leaf(A& a, tree::Leaf kind) {
    add(a, kind);
  }
  template <class S>
  void fixed(const S&) {}
  void size(size_t) {}
  void key(std::string_view) {}
  void enter(std::string_view name) {
    path_.enter(name);
    descend();
  }
  void enter(size_t i) {
    path_.enter(i);
    descend();
  }
  void leave() {
    path_.leave();
    ascend();
  }
  /// Throws TreeError if a list of the specification has more entries than the tree.
  void finish() { check_used(stack_.back()); }

 private:
  struct Level {
    const AxisSpec* spec;
    size_t used;
  };
  void add(const Array& a, tree::Leaf kind);
  void descend();
  void ascend();
  void check_used(const Level& level) const;
  std::string place() const;  // where the walk is, for messages

  const char* what_;
  tree::internal::PathKeeper path_;
  std::vector<Level> stack_;
};

/// The size of the mapped axis. Throws ShapeError or TreeError where sizes differ or nothing is
/// mapped.
int64_t mapped_size(const std::vector<MappedLeaf>& leaves);
/// What the function gets for a leaf.
Array map_in(const BatchInterpreter& batch, const MappedLeaf& leaf);
/// What the caller gets for a leaf of the result.
Array map_out(const BatchInterpreter& batch, const MappedLeaf& leaf);

// map_in or map_out for one leaf after another.
struct MapAxes {
  Array (*map)(const BatchInterpreter& batch, const MappedLeaf& leaf);
  const BatchInterpreter& batch;
  const MappedLeaf* next;
  void operator()(Array& a, tree::Leaf) { a = map(batch, *next++); }
};

template <class F>
class Vmap {
 public:
  Vmap(F f, VmapOptions options, Loc loc)
      : f_(std::move(f)), options_(std::move(options)), loc_(loc) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (check_run<F, Args...>())
      return run(args...);
    else
      return refused<Array>();
  }

 private:
  template <class... Args>
  auto run(const Args&... args) const {
    const LocScope at(loc_);
    std::tuple<Args...> traced(args...);
    SpecVisitor in("in_axes", options_.in_axes);
    tree::internal::walk(traced, in);
    in.finish();
    BatchInterpreter batch(mapped_size(in.leaves), options_.axis_name);
    tree::internal::for_each_leaf(traced, MapAxes{map_in, batch, in.leaves.data()});
    auto out = apply_under(batch, "vmap", f_, traced);
    SpecVisitor spec("out_axes", options_.out_axes);
    tree::internal::walk(out, spec);
    spec.finish();
    tree::internal::for_each_leaf(out, MapAxes{map_out, batch, spec.leaves.data()});
    return out;
  }

  F f_;
  VmapOptions options_;
  Loc loc_;
};

}  // namespace internal

/// The function applied to each slice of its arguments along the mapped axes, all at once; results
/// are stacked along out_axes. All mapped axes must have one size, which may be 0. A Key argument
/// is a batch of keys.
///
/// Under vmap an array is one slice: it has a shape, and no value that C++ could look at. Random
/// numbers come from a key for each slice (map over random::split(key, n)) or from one key that all
/// share. Throws ShapeError where sizes differ or an axis is out of range, TreeError where in_axes
/// does not fit the arguments.
template <class F>
auto vmap(F f, VmapOptions options = {}, Loc loc = Loc::current()) {
  (void)internal::check_function<F>();
  return internal::Vmap<F>(std::move(f), std::move(options), loc);
}
/// The same with in_axes alone: vmap(f, {0, none}) maps axis 0 of the first argument, vmap(f, 1)
/// axis 1 of all.
template <class F, class Axes = std::initializer_list<AxisSpec>>
auto vmap(F f, Axes in_axes, Loc loc = Loc::current()) {
  if constexpr (std::is_same_v<Axes, std::initializer_list<AxisSpec>>) {
    const AxisSpec axes = in_axes.size() == 0 ? AxisSpec(0) : AxisSpec(in_axes);
    return internal::Vmap<F>(std::move(f), VmapOptions{.in_axes = axes}, loc);
  } else if constexpr (std::is_convertible_v<Axes, AxisSpec>) {
    return internal::Vmap<F>(std::move(f), VmapOptions{.in_axes = in_axes}, loc);
  } else {
    return internal::refuse_arguments<Array, Axes>();
  }
}

}  // namespace spruce
