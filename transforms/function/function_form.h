// SPDX-License-Identifier: Apache-2.0
// The form of a tree as lines of a file, and trees built from such lines in a program that has
// none to copy.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/io/function_file.h"
#include "spruce/core/tree/tree.h"

namespace spruce::internal {

/// "argument 0 at hidden.weight", from "0.hidden.weight".
std::string argument_name(const std::string& path);

/// Writes down what the walk over a tree comes by.
class FormWriter : public tree::internal::PathObserver {
 public:
  std::vector<io::FormLine> lines;

  void leaf(const Array& a, tree::Leaf kind) override;
  void static_value(const tree::internal::StaticValue& value) override;
  void size(size_t n) override;
  void key(std::string_view name) override;
};

template <class... Args>
std::vector<io::FormLine> form_of_arguments(const Args&... args) {
  FormWriter w;
  size_t i = 0;
  ((w.enter(i++), tree::internal::walk(args, w.any()), w.leave()), ...);
  return std::move(w.lines);
}

template <class T>
std::vector<io::FormLine> form_of_result(const T& x) {
  FormWriter w;
  tree::internal::walk(x, w.any());
  return std::move(w.lines);
}

/// Goes through the lines of a form while a tree is built.
class FormCursor {
 public:
  FormCursor(const std::vector<io::FormLine>& lines, std::vector<Array> leaves)
      : lines_(lines), leaves_(std::move(leaves)) {}

  /// What is read until leave() is below the field of this name, or below an element where it is
  /// empty. Lines that are below another field are errors where they are read; elements of tuples
  /// stand for fields.
  void enter(std::string_view field) { fields_.emplace_back(field); }
  void leave() { fields_.pop_back(); }
  /// The next leaf; undefined where it was undefined.
  Array leaf(const char* kind);
  /// The value of the next line, which has to be of that kind.
  const std::string& next(const char* kind);
  /// The next line is a size; throws unless it is `n`.
  void size(size_t n);
  /// The next size, no larger than what the lines can hold.
  size_t any_size();
  /// Throws TreeError: "load_function: the result at net.rate: ...".
  [[noreturn]] void fail(const std::string& what) const;
  void end() const;

 private:
  const std::vector<io::FormLine>& lines_;
  std::vector<Array> leaves_;
  size_t line_ = 0, leaf_ = 0;
  std::vector<std::string> fields_;

  void check_fields() const;
};

template <class S>
S static_from_text(const FormCursor& at, const std::string& text) {
  const std::optional<S> value = tree::internal::static_from_text<S>(text);
  if (!value) at.fail("`" + text + "` is no value of its type");
  return *value;
}

template <class Variant, size_t I = 0>
void emplace_alternative(Variant& v, size_t index, const FormCursor& at) {
  if constexpr (I == std::variant_size_v<Variant>) {
    at.fail("there is no alternative " + std::to_string(index));
  } else {
    if (index == I)
      v.template emplace<I>();
    else
      emplace_alternative<Variant, I + 1>(v, index, at);
  }
}

template <class T>
void build_below(T& x, FormCursor& at, std::string_view field = {});

/// Fills a default-constructed tree: containers get their lengths, leaves their arrays, static
/// fields their values. Follows tree::internal::walk.
template <class T>
void build(T& x, FormCursor& at) {
  using S = std::remove_const_t<T>;
  namespace walk = tree::internal;
  if constexpr (std::is_same_v<S, Array>) {
    x = at.leaf("leaf");
  } else if constexpr (std::is_same_v<S, spruce::Buffer>) {
    x.value = at.leaf("buffer");
  } else if constexpr (std::is_same_v<S, Key>) {
    Array data = at.leaf("key");
    if (data.defined()) x = Key::wrap(std::move(data));
  } else if constexpr (walk::Static<S>) {
    const std::string& text = at.next("static");
    if constexpr (std::is_const_v<T>) {
      if (walk::exact_text(x) != text) at.fail("it is const, and not " + text);
    } else if constexpr (walk::FunctionPointer<S> || std::is_same_v<S, const char*> ||
                         std::is_same_v<S, std::string_view>) {
      at.fail(
          "pointers cannot come from a file; use std::string, or leave the field out of the "
          "result");
    } else {
      x = static_from_text<S>(at, text);
    }
  } else if constexpr (TreeTraits<S>::kDefined) {
    TreeTraits<S>::fields(x, [&](std::string_view name, auto& field) {
      if (at.next("entry") != name) at.fail("its field is " + std::string(name));
      build_below(field, at);
    });
  } else if constexpr (walk::IsVector<S>::value) {
    x.clear();
    x.resize(at.any_size());
    for (auto& each : x) build_below(each, at);
  } else if constexpr (walk::IsStdArray<S>::value) {
    at.size(x.size());
    for (auto& each : x) build_below(each, at);
  } else if constexpr (walk::IsOptional<S>::value) {
    x.reset();
    if (at.any_size() != 0) build(x.emplace(), at);
  } else if constexpr (walk::IsTuple<S>::value) {
    std::apply([&](auto&... each) { (build_below(each, at), ...); }, x);
  } else if constexpr (walk::IsVariant<S>::value) {
    emplace_alternative(x, at.any_size(), at);
    std::visit([&](auto& held) { build(held, at); }, x);
  } else if constexpr (walk::IsMap<S>::value) {
    x.clear();
    const size_t n = at.any_size();
    for (size_t i = 0; i < n; ++i) {
      using K = typename S::key_type;
      const std::string& name = at.next("entry");
      if constexpr (std::is_convertible_v<K, std::string>)
        build_below(x[K(name)], at);
      else
        build_below(x[static_from_text<K>(at, name)], at);
    }
  } else if constexpr (!std::is_empty_v<S>) {
    fields::for_each(x, [&](std::string_view name, auto& field) { build_below(field, at, name); });
  }
}

template <class T>
void build_below(T& x, FormCursor& at, std::string_view field) {
  at.enter(field);
  build(x, at);
  at.leave();
}

}  // namespace spruce::internal
