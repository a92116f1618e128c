// SPDX-License-Identifier: Apache-2.0
// Visitors of one type: what they see of a tree is compiled once for each type of tree, and not for
// each pair of visitor and tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "spruce/core/tree/path.h"
#include "spruce/core/tree/static_text.h"

namespace spruce {
class Array;
}

namespace spruce::tree {

enum class Leaf : uint8_t;

namespace internal {

// A pointer to a function and a monostate have no text.
template <class S>
inline constexpr bool kHasText = !FunctionPointer<S> && !std::is_same_v<S, std::monostate>;

// A static value of any type.
class StaticValue {
 public:
  template <class S>
  explicit StaticValue(const S& s) : value_(&s), functions_(&kFunctions<S>) {}

  std::string text() const { return functions_->text(value_); }  // static_text()
  std::string exact_text() const { return functions_->exact_text(value_); }
  bool is_number() const { return functions_->is_number; }
  bool has_text() const { return functions_->has_text; }
  bool is_function() const { return functions_->is_function; }
  // What a function pointer points to; 0 for anything else.
  uintptr_t function() const { return functions_->function(value_); }

 private:
  struct Functions {
    std::string (*text)(const void*);
    std::string (*exact_text)(const void*);
    uintptr_t (*function)(const void*);
    bool is_number, has_text, is_function;
  };
  template <class S>
  struct Of {
    static std::string text(const void* s) { return static_text(*static_cast<const S*>(s)); }
    static std::string exact(const void* s) {
      return internal::exact_text(*static_cast<const S*>(s));
    }
    static uintptr_t function(const void* s) {
      if constexpr (FunctionPointer<S>)
        return reinterpret_cast<uintptr_t>(*static_cast<const S*>(s));
      else
        return 0;
    }
  };
  template <class S>
  static constexpr Functions kFunctions{Of<S>::text,     Of<S>::exact,
                                        Of<S>::function, std::is_arithmetic_v<S>,
                                        kHasText<S>,     FunctionPointer<S>};

  const void* value_;
  const Functions* functions_;
};

// A visitor as `walk` wants it.
class Observer {
 public:
  virtual void leaf(const Array&, Leaf) {}
  virtual void static_value(const StaticValue&) {}
  virtual void size(size_t) {}
  virtual void key(std::string_view) {}
  virtual void enter(std::string_view) {}
  virtual void enter(size_t) {}
  virtual void leave() {}

  // What a walk is given: one type for all of them.
  Observer& any() { return *this; }

  template <class S>
  void fixed(const S& s) {
    static_value(StaticValue(s));
  }

 protected:
  Observer() = default;
  ~Observer() = default;
};

// One that knows the path to where it is.
class PathObserver : public Observer {
 public:
  void enter(std::string_view name) override { place_.enter(name); }
  void enter(size_t i) override { place_.enter(i); }
  void leave() override { place_.leave(); }

 protected:
  const std::string& path() const { return place_.path; }

 private:
  PathKeeper place_;
};

}  // namespace internal
}  // namespace spruce::tree
