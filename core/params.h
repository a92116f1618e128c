// SPDX-License-Identifier: Apache-2.0
// The static parameters of a primitive: a plain struct, held immutably behind one pointer.
// Equality, hash, text and parsing come from its fields, so a primitive only declares the struct.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "spruce/core/dtype.h"
#include "spruce/core/fields.h"
#include "spruce/core/ref.h"
#include "spruce/core/shape.h"

namespace spruce {

class Graph;

/// A nested graph in the parameters of a primitive.
using GraphPtr = std::shared_ptr<const Graph>;

/// Something that has no text, such as the user's rule for a custom derivative: equal only to
/// itself.
using Opaque = std::shared_ptr<const void>;

namespace internal {

// One field as text and back. ParamReader::take throws GraphError if the text does not hold such a
// value.
class ParamReader;
std::string param_text(bool v);
std::string param_text(int64_t v);
std::string param_text(double v);
std::string param_text(Dtype v);
std::string param_text(const std::string& v);
std::string param_text(const Shape& v);
std::string param_text(const std::vector<int64_t>& v);
std::string param_text(const GraphPtr& v);
std::string param_text(const std::vector<GraphPtr>& v);
std::string param_text(const Opaque& v);

/// Reads the fields `name=value` of one equation, in any order; implemented by the graph parser.
class ParamReader {
 public:
  virtual ~ParamReader() = default;
  virtual void read(std::string_view name, bool& v) = 0;
  virtual void read(std::string_view name, int64_t& v) = 0;
  virtual void read(std::string_view name, double& v) = 0;
  virtual void read(std::string_view name, Dtype& v) = 0;
  virtual void read(std::string_view name, std::string& v) = 0;
  virtual void read(std::string_view name, Shape& v) = 0;
  virtual void read(std::string_view name, std::vector<int64_t>& v) = 0;
  virtual void read(std::string_view name, GraphPtr& v) = 0;
  virtual void read(std::string_view name, std::vector<GraphPtr>& v) = 0;
  virtual void read(std::string_view name, Opaque& v) = 0;
};

size_t param_hash(const std::string& text);
bool graphs_equal(const GraphPtr& a, const GraphPtr& b);

template <class T>
bool param_equal(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, GraphPtr>)
    return graphs_equal(a, b);
  else if constexpr (std::is_same_v<T, std::vector<GraphPtr>>)
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), graphs_equal);
  else
    return a == b;
}

class ParamsBase : public RefCounted {
 public:
  virtual ~ParamsBase() = default;
  virtual const std::type_info& type() const = 0;
  virtual bool equals(const ParamsBase& other) const = 0;
  /// "axes=[0,1] keepdims=true"
  virtual std::string text() const = 0;
  virtual void visit_graphs(const std::function<void(const GraphPtr&)>& f) const = 0;
  /// The same parameters with f(g) in the place of each graph g.
  virtual Ref<const ParamsBase> map_graphs(
      const std::function<GraphPtr(const GraphPtr&)>& f) const = 0;
  static void destroy(const ParamsBase* p) { delete p; }
};

template <class T>
class ParamsOf final : public ParamsBase {
 public:
  explicit ParamsOf(T v) : value(std::move(v)) {}
  const std::type_info& type() const override { return typeid(T); }
  bool equals(const ParamsBase& other) const override {
    if (other.type() != typeid(T)) return false;
    bool equal = true;
    fields::for_each_pair(
        value, static_cast<const ParamsOf&>(other).value,
        [&](const auto& a, const auto& b) { equal = equal && param_equal(a, b); });
    return equal;
  }
  std::string text() const override {
    std::string s;
    fields::for_each(value, [&](std::string_view name, const auto& field) {
      if (!s.empty()) s += ' ';
      s.append(name).append("=").append(param_text(field));
    });
    return s;
  }
  void visit_graphs(const std::function<void(const GraphPtr&)>& f) const override {
    fields::for_each(value, [&](std::string_view, const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, GraphPtr>) f(field);
      if constexpr (std::is_same_v<Field, std::vector<GraphPtr>>) {
        for (const GraphPtr& g : field) f(g);
      }
    });
  }
  Ref<const ParamsBase> map_graphs(
      const std::function<GraphPtr(const GraphPtr&)>& f) const override {
    T copy = value;
    fields::for_each(copy, [&](std::string_view, auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, GraphPtr>) {
        if (field != nullptr) field = f(field);
      }
      if constexpr (std::is_same_v<Field, std::vector<GraphPtr>>) {
        for (GraphPtr& g : field) g = f(g);
      }
    });
    return Ref<const ParamsBase>(new ParamsOf(std::move(copy)));
  }

  const T value;
};

}  // namespace internal

/// The parameters of one application of a primitive: empty, or an immutable struct. Cheap to copy.
/// Fields may be bool, int64_t, double, Dtype, Shape, std::string, std::vector<int64_t>, GraphPtr,
/// std::vector<GraphPtr> and Opaque.
class Params {
 public:
  /// No parameters.
  Params() = default;
  /// Parameters that hold `value`, an aggregate with fields of those types.
  template <class T>
  static Params make(T value) {
    Params p;
    p.p_ = Ref<const internal::ParamsBase>(new internal::ParamsOf<T>(std::move(value)));
    return p;
  }
  /// The struct; T must be the type that it was made from (rules know the type of their own
  /// primitive).
  template <class T>
  const T& get() const {
    return static_cast<const internal::ParamsOf<T>*>(p_.get())->value;
  }
  /// True where there is no struct.
  bool empty() const { return !p_; }
  /// The struct without its type, null where there is none; lives as long as these parameters.
  const internal::ParamsBase* base() const { return p_.get(); }
  /// The same parameters with f(g) in the place of each nested graph g.
  Params map_graphs(const std::function<GraphPtr(const GraphPtr&)>& f) const {
    Params p;
    if (p_) p.p_ = p_->map_graphs(f);
    return p;
  }
  /// The fields as a graph prints them, "axes=[0,1] keepdims=true"; "" where there is no struct.
  std::string text() const { return p_ ? p_->text() : std::string(); }
  /// Same type and equal fields; nested graphs are compared too.
  friend bool operator==(const Params& a, const Params& b) {
    return a.p_ == b.p_ || (a.p_ && b.p_ && a.p_->equals(*b.p_));
  }

 private:
  Ref<const internal::ParamsBase> p_;
};

/// How to make parameters from text: `.params = kParamsOf<ReduceParams>` in a primitive.
using ParamsParser = Params (*)(internal::ParamReader&);

/// The parser of a struct T: starts from its defaults and reads each field by its name.
template <class T>
inline constexpr ParamsParser kParamsOf = [](internal::ParamReader& reader) {
  T value{};
  fields::for_each(value, [&](std::string_view name, auto& field) { reader.read(name, field); });
  return Params::make(std::move(value));
};

}  // namespace spruce
