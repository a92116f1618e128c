// SPDX-License-Identifier: Apache-2.0
// What a layer needs besides its input: the mode, a key, and a place for new buffers. A local
// value, never global.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "spruce/core/interpreter.h"
#include "spruce/core/random/random.h"
#include "spruce/core/tree/tree.h"
#include "spruce/nn/layer_places.h"

namespace spruce::nn {

/// One call's surroundings. Make a new one for each call; the model must live as long:
///   Context ctx{.training = true, .key = key};
///   const Array y = model(x, ctx.of(model));
///   const Model next = ctx.updated(model);
///
/// Each use of the key gets a stream of its own, by the path of the layer that draws and by how
/// often that path has drawn before, so that a layer that is added elsewhere changes nothing:
///   - below of(model), in a Module and in functionalize() the path is that of the layer in the
///     model, "blocks.0.drop", as tree::entries() and named_modules() write it;
///   - in a sequential(), repeat() or parallel() it begins with the number of the part, and goes on
///     with the path of the layer in the struct that is the part;
///   - the layers of transformers know their own parts, Residual its layer;
///   - a layer that is in none of these, or that is copied before it is called, is unknown: it has
///     the path of what is known around it, none at the outside. There the count of uses alone
///     tells layers apart, so that one more layer in front changes the streams of those behind.
///
/// New buffers go by path too, as soon as of() has said what is called: updated() gives them to the
/// object itself, to a copy of it, and to what it has been moved to. A copy of a layer that is made
/// in the forward is known by the arrays that it shares with the layer. Without of(), with of() of
/// several objects in one context, and of an nn::Model they go by the address of the field, and
/// updated() takes the very object that was called. A context that serves several models knows that
/// from of(), once for each.
struct Context {
  bool training = false;  ///< whether dropout drops and running statistics are updated
  Key key = {};  ///< source of the layers' random numbers; only needed where a layer draws some

  /// A new buffer value, noted by a layer for its own field.
  struct Update {
    const Array* place;  ///< the field, in the model that is called; not owned
    Array value;         ///< what it is to become
    /// Which of `buffers` it is: one; several where a copied layer has an array that they share.
    std::vector<size_t> buffer = {};
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

  /// What is being called: a part with a name, or an object whose layers are known by their places.
  struct Scope {
    std::string name = {};                                 ///< of a part, with dots or without
    const void* object = nullptr;                          ///< not owned
    size_t size = 0;                                       ///< of the object in bytes
    internal::LayerPlaces (*find)(const void*) = nullptr;  ///< where its layers stand
    std::optional<internal::LayerPlaces> places = {};      ///< that, once it is needed
  };
  std::vector<Scope> scopes = {};            ///< of the library, from the outside to the inside
  std::map<std::string, int64_t> uses = {};  ///< how many keys were handed out to each path
  /// Those of what of() was called with; none before, and none of several objects.
  std::optional<std::vector<internal::BufferPlace>> buffers = {};
  bool several = false;                  ///< whether of() was called with several objects
  std::vector<const Array*> known = {};  ///< the buffers of those objects
  /// Of the library: the transform that it was made in, by the id of the interpreter.
  uint64_t made_in = Interpreter::current_id();

  /// This context, which from now on knows the paths of the layers and buffers in `model`, a tree
  /// that has to live as long as it is called. Of what is no tree, such as an nn::Model, the parts
  /// are known anyway.
  template <class M>
  Context& of(const M& model) {
    push(model);
    look(&model);
    return *this;
  }
  /// Not of a model that ends before the call does.
  template <class M>
  Context& of(const M&& model) = delete;

  /// A fresh key for `layer`, whose name in errors is `who`: with the path of the layer and the
  /// number k of keys that the path has had before it is fold_in(fold_in(fold_in(key, low), high),
  /// k), where low and high are the halves of the path's FNV-1a hash of 64 bits; fold_in(key, k)
  /// for the path "". Throws ValueError if there is no key, and in the body of a loop that the
  /// context and its key are from outside of: the body runs once, and each step would draw the
  /// same.
  template <class L>
  Key next_key(const char* who, const L& layer) {
    return key_at(who, &layer, sizeof(L));
  }
  /// The same for what has no place in the model: by the path of what is known around it.
  Key next_key(const char* who) { return key_at(who, nullptr, 0); }
  /// Notes that `buffer`, a field of the model that is being called, has a new value.
  void update(const Buffer& buffer, const Array& value);
  /// The value of a buffer in this call: the one noted last, or else the buffer's own.
  const Array& latest(const Buffer& buffer) const;
  /// A copy of the model with the new buffers, found by their paths (see above). Where they are
  /// not known `model` must be the very object that was called, or the parameters of the nn::Model
  /// that was. Throws TreeError if one of the buffers is part neither of it nor of another object
  /// that of() was called with, or may be one of several, ShapeError where it has another shape,
  /// TracerError where a new value is of a loop or another transform that has ended.
  template <class T>
  T updated(const T& model, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    T out = model;
    const std::vector<Array> next = successors(internal::LayerPlaces::of(model).buffers());
    size_t i = 0;
    tree::internal::for_each_leaf(out, [&](Array& a, tree::Leaf kind) {
      if (kind == tree::Leaf::kBuffer) a = next[i++];
    });
    return out;
  }

  /// Of the library: knows the buffers of `model` by their paths, as of() does.
  template <class T>
  void know_buffers(const T& model) {
    buffers = internal::LayerPlaces::of(model).buffers();
  }

  /// Of the library: notes what is called, a part or an object, until it is taken away.
  template <class T>
  void push(const T& object) {
    if constexpr (std::is_class_v<T> && !std::is_empty_v<T>) {
      if constexpr (internal::kIsTree<T>)
        push_object(&object, sizeof(T), &internal::LayerPlaces::of_pointer<T>);
    }
  }
  /// Of the library: the same for a part with a name.
  void push_name(std::string name);

 private:
  Key key_at(const char* who, const void* layer, size_t size);
  void check_alive(const Update& update, const std::string& path) const;
  void look(const void* model);
  std::string path_of(const void* layer, size_t size);
  std::optional<std::string> find(size_t first, size_t end, const void* layer, size_t size);
  void push_object(const void* object, size_t size, internal::LayerPlaces (*find)(const void*));
  const Array* origin(const Array* place) const;
  std::vector<size_t> known_as(const Array& buffer) const;
  std::vector<Array> successors(const std::vector<internal::BufferPlace>& of) const;
  bool goes_to(const Update& update, const internal::BufferPlace& buffer) const;  // by address
  void check_found(const std::vector<bool>& found) const;
};

namespace internal {

/// While it lives, an object or a part is what the context calls. Nothing without a key.
class ObjectScope {
 public:
  template <class T>
  ObjectScope(Context& ctx, const T& object) : ctx_(ctx), before_(ctx.scopes.size()) {
    if (ctx.key.data().defined()) ctx.push(object);
  }
  /// A part with a number.
  ObjectScope(Context& ctx, size_t index) : ctx_(ctx), before_(ctx.scopes.size()) {
    if (ctx.key.data().defined()) ctx.push_name(std::to_string(index));
  }
  ~ObjectScope() {
    if (ctx_.scopes.size() > before_) leave();
  }
  ObjectScope(const ObjectScope&) = delete;
  ObjectScope& operator=(const ObjectScope&) = delete;

 private:
  void leave();
  Context& ctx_;
  size_t before_;
};

}  // namespace internal

/// Calls a layer or any other function of an array, with the context and the line where it takes
/// them.
template <class L>
Array call_layer(const L& layer, const Array& x, Context& ctx, Loc loc = Loc::current()) {
  const FunctionScope within(loc);
  if constexpr (std::is_invocable_v<const L&, const Array&, Context&, Loc>) {
    const internal::ObjectScope inside(ctx, layer);
    return layer(x, ctx, loc);
  } else if constexpr (std::is_invocable_v<const L&, const Array&, Context&>) {
    const internal::ObjectScope inside(ctx, layer);
    return layer(x, ctx);
  } else if constexpr (std::is_invocable_v<const L&, const Array&, Loc>)
    return layer(x, loc);
  else if constexpr (requires { layer(x, {}, loc); })  // options between them
    return layer(x, {}, loc);
  else
    return layer(x);
}

}  // namespace spruce::nn
