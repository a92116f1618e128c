// SPDX-License-Identifier: Apache-2.0
// How layers tell what they gave: to capture() and summary(), which know the paths of a model.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spruce/nn/layer_places.h"

namespace spruce::nn::internal {

/// Collects the calls of the layers of a model while it lives, on this thread; one further out
/// collects them too.
class LayerObserver {
 public:
  /// One call of a layer.
  struct Call {
    std::string path;       ///< where the layer stands in the model
    const char* type;       ///< "Linear"
    Array output;           ///< the first one
    int64_t multiply_adds;  ///< of the layer itself, without those of layers inside
  };

  /// Where a layer stands that a module has made for a call: known to the observers of this thread
  /// while it lives.
  class Part {
   public:
    template <class T>
    Part(const T& layer, const std::string& path) : Part(LayerPlaces::of(layer), path) {}
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Part(const LayerPlaces& places, const std::string& path);
  };

  /// Observes the layers of a module.
  LayerObserver() : outer_(current_) { current_ = this; }
  /// Observes the parts of `model`, which has to live as long.
  template <class T>
  explicit LayerObserver(const T& model) : LayerObserver() {
    parts_.emplace_back(std::string(), LayerPlaces::of(model));
  }
  ~LayerObserver() { current_ = outer_; }
  LayerObserver(const LayerObserver&) = delete;
  LayerObserver& operator=(const LayerObserver&) = delete;

  /// Whether there is one on this thread.
  static bool exists() { return current_ != nullptr; }
  /// Notes a call of the layer that is `size` bytes long.
  static void called(const void* layer, size_t size, const char* type, const Array& output,
                     int64_t multiply_adds);

  /// In the order of their ends.
  std::vector<Call> calls;

 private:
  std::vector<std::pair<std::string, LayerPlaces>> parts_;  // with their paths
  LayerObserver* outer_;
  static inline thread_local LayerObserver* current_ = nullptr;
};

/// `output`, which the layer gave, told to the observer where there is one.
template <class L>
Array observed(const L& layer, const char* type, Array output) {
  if (LayerObserver::exists()) [[unlikely]]
    LayerObserver::called(&layer, sizeof(L), type, output, 0);
  return output;
}
/// The same with a function that counts the multiply-adds of the call.
template <class L, class Count>
Array observed(const L& layer, const char* type, Array output, const Count& count) {
  if (LayerObserver::exists()) [[unlikely]]
    LayerObserver::called(&layer, sizeof(L), type, output, count());
  return output;
}

}  // namespace spruce::nn::internal
