// SPDX-License-Identifier: Apache-2.0
// What a layer needs besides its input: the mode, a key, and a place for new buffers. A local
// value, never global.
#pragma once

#include <memory>
#include <vector>

#include "spruce/core/random/random.h"
#include "spruce/core/tree/tree.h"

namespace spruce::nn {

/// One call's surroundings. Make a new one for each call; the model must live as long:
///   Context ctx{.training = true, .key = key};
///   const Array y = model(x, ctx);
///   const Model next = ctx.updated(model);
struct Context {
  bool training = false;  ///< whether dropout drops and running statistics are updated
  Key key = {};  ///< source of the layers' random numbers; only needed where a layer draws some

  /// A new buffer value, noted by a layer for its own field.
  struct Update {
    const Array* place;  ///< the field, in the model that is called; not owned
    Array value;         ///< what it is to become
  };
  /// The copy of a buffer that an nn::Model holds, and where it was copied from: an update of the
  /// one is an update of the other.
  struct Copy {
    const Array* place;   ///< in the copy, which `owner` keeps
    const Array* origin;  ///< where it was copied from; not owned, and never read
  };
  std::vector<Update> updates = {};                      ///< filled by layers
  int64_t keys_used = 0;                                 ///< how many keys were handed out
  std::vector<Copy> copies = {};                         ///< filled by nn::Model
  std::vector<std::shared_ptr<const void>> owners = {};  ///< of the copies

  /// A fresh key for the layer `who`: fold_in(key, 0), fold_in(key, 1), ... Throws ValueError if
  /// there is no key.
  Key next_key(const char* who);
  /// Notes that `buffer`, a field of the model that is being called, has a new value.
  void update(const Buffer& buffer, const Array& value) {
    updates.push_back({origin(&buffer.value), value});
  }
  /// The value of a buffer in this call: the one noted last, or else the buffer's own.
  const Array& latest(const Buffer& buffer) const;
  /// A copy of the model with the new buffers. `model` must be the very object that was called, or
  /// the parameters of the nn::Model that was. Throws TreeError if one of the buffers is not part
  /// of it.
  template <class T>
  T updated(const T& model, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    T out = model;
    std::vector<const Array*> places;
    tree::internal::for_each_leaf(model, [&](const Array& a, tree::Leaf) { places.push_back(&a); });
    std::vector<size_t> found(updates.size(), 0);
    size_t i = 0;
    tree::internal::for_each_leaf(out, [&](Array& a, tree::Leaf kind) {
      if (kind == tree::Leaf::kBuffer) replace(*places[i], a, found);
      ++i;
    });
    check_found(found);
    return out;
  }

 private:
  const Array* origin(const Array* place) const;
  void replace(const Array& place, Array& value, std::vector<size_t>& found) const;
  void check_found(const std::vector<size_t>& found) const;
};

/// Calls a layer or any other function of an array, with the context and the line where it takes
/// them.
template <class L>
Array call_layer(const L& layer, const Array& x, Context& ctx, Loc loc = Loc::current()) {
  const FunctionScope within(loc);
  if constexpr (std::is_invocable_v<const L&, const Array&, Context&, Loc>)
    return layer(x, ctx, loc);
  else if constexpr (std::is_invocable_v<const L&, const Array&, Context&>)
    return layer(x, ctx);
  else if constexpr (std::is_invocable_v<const L&, const Array&, Loc>)
    return layer(x, loc);
  else if constexpr (requires { layer(x, {}, loc); })  // options between them
    return layer(x, {}, loc);
  else
    return layer(x);
}

}  // namespace spruce::nn
