// SPDX-License-Identifier: Apache-2.0
// Where the layers of a model stand, by their addresses. Of the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/tree/tree.h"

namespace spruce::nn::internal {

/// Whether a type is a tree.
template <class T>
inline constexpr bool kIsTree =
    decltype(tree::internal::find_culprit<T>())::kFault == tree::internal::TreeFault::kNone;

/// Two paths as one: "a.b", or the one that is not empty.
std::string join_path(const std::string& a, const std::string& b);

/// A buffer of a model.
struct BufferPlace {
  std::string path;     ///< in the model, "norm.running_mean"
  const Array* place;   ///< the field; not owned
  Shape shape;          ///< of the array
  const void* content;  ///< what copies of the field share with it; null where it is undefined
};

/// The arrays and static values of a model with the paths of the structs that they stand in.
class LayerPlaces {
 public:
  /// Of a model, which has to stay where it is.
  template <class T>
  static LayerPlaces of(const T& model) {
    Visitor visitor;
    tree::internal::walk(model, visitor);
    return LayerPlaces(std::move(visitor.places), std::move(visitor.buffers));
  }
  /// The same behind one type.
  template <class T>
  static LayerPlaces of_pointer(const void* model) {
    return of(*static_cast<const T*>(model));
  }

  /// The path of the layer that is `size` bytes long; none where it is no part of the model, as of
  /// a copy, or holds nothing.
  std::optional<std::string> path_of(const void* layer, size_t size) const;
  /// The buffers, in the order of the leaves.
  const std::vector<BufferPlace>& buffers() const { return buffers_; }

 private:
  struct Place {
    uintptr_t address;
    std::string parent;
  };
  struct Visitor : tree::internal::PathKeeper {
    std::vector<Place> places;
    std::vector<BufferPlace> buffers;
    std::vector<bool> opaque;  // components that are within one value, such as a WindowArg
    bool next_is_opaque = false;

    void key(std::string_view) { next_is_opaque = true; }
    template <class Name>
    void enter(Name name) {
      PathKeeper::enter(name);
      opaque.push_back(next_is_opaque);
      next_is_opaque = false;
    }
    void leave() {
      PathKeeper::leave();
      opaque.pop_back();
    }
    void leaf(const Array& a, tree::Leaf kind);
    template <class S>
    void fixed(const S& s) {
      note(&s);
    }
    void size(size_t) {}
    void note(const void* address);
  };

  LayerPlaces(std::vector<Place> places, std::vector<BufferPlace> buffers)
      : places_(std::move(places)), buffers_(std::move(buffers)) {}
  std::vector<Place> places_;
  std::vector<BufferPlace> buffers_;
};

}  // namespace spruce::nn::internal
