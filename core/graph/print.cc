// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/graph/print.h"

#include <charconv>
#include <cmath>
#include <ostream>
#include <unordered_map>
#include <utility>

#include "spruce/core/graph/text.h"

namespace spruce {
namespace {

constexpr int64_t kShown =
    16;  // elements of a constant that are written without being asked for all

// Whether the text that is being written has all elements: graphs in parameters follow the one
// around them.
thread_local bool write_all = false;

// Where larger constants go instead of into the text, if not null; then users' lines are written
// too.
struct Sink {
  std::vector<Array>& constants;
  std::unordered_map<const internal::ArrayImpl*, size_t> places;
};
thread_local Sink* sink = nullptr;

template <class T>
std::string number(T x) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, x);
  return std::string(buffer, result.ptr);
}

std::string element(const Array& a, int64_t i) {
  return visit_dtype(a.dtype(), [&]<class T>(T) -> std::string {
    const T x = static_cast<const T*>(internal::mutable_data(a))[i];
    if constexpr (std::is_same_v<T, bool>)
      return x ? "true" : "false";
    else if constexpr (kIsHalf<T>)
      return number(static_cast<float>(x));
    else
      return number(x);
  });
}

std::string indented(const std::string& text) {
  std::string s;
  for (const char c : text) {
    s += c;
    if (c == '\n') s += "  ";
  }
  return s;
}

}  // namespace

namespace internal {

std::string param_text(bool v) { return v ? "true" : "false"; }
std::string param_text(int64_t v) { return std::to_string(v); }
std::string param_text(double v) { return number(v); }
std::string param_text(Dtype v) { return std::string(short_name(v)); }
std::string param_text(const Shape& v) { return to_string(v); }
std::string param_text(const Opaque& v) { return v == nullptr ? "none" : "rule"; }

std::string param_text(const std::string& v) {
  std::string s = "\"";
  for (const char c : v) {
    if (c == '"' || c == '\\') s += '\\';
    if (c == '\n')
      s += "\\n";  // lines of nested graphs are indented, and strings may not change by that
    else
      s += c;
  }
  return s + "\"";
}

std::string param_text(const std::vector<int64_t>& v) {
  std::string s = "(";
  for (size_t i = 0; i < v.size(); ++i) s += (i > 0 ? "," : "") + std::to_string(v[i]);
  return s + ")";
}

std::string param_text(const GraphPtr& v) {
  return v == nullptr ? "none" : indented(v->text(write_all));
}

std::string param_text(const std::vector<GraphPtr>& v) {
  std::string s = "(";
  for (size_t i = 0; i < v.size(); ++i) s += (i > 0 ? ", " : "") + param_text(v[i]);
  return s + ")";
}

std::string value_name(ValueId v) {
  if (v < 0) return "_";
  return std::string(1, static_cast<char>('a' + v % 26)) + (v >= 26 ? std::to_string(v / 26) : "");
}

std::string equation_text(const Graph& graph, const Equation& e) {
  std::string s;
  for (size_t k = 0; k < e.outputs.size(); ++k) {
    const auto v = static_cast<size_t>(e.outputs[k]);
    s += (k > 0 ? ", " : "") + value_name(e.outputs[k]) + ": " +
         (v < graph.avals.size() ? to_string(graph.avals[v]) : "?");
  }
  s += std::string(" = ") + e.primitive->name;
  if (!e.params.empty()) s += "[" + e.params.text() + "]";
  for (const ValueId v : e.inputs) s += " " + value_name(v);
  return s;
}

std::string equation_summary(const Graph& graph, const Equation& e) {
  Equation plain = e;
  plain.params = {};
  return equation_text(graph, plain);
}

std::string equation_note(const Graph& graph, const Equation& e) {
  Equation flat = e;
  flat.params = e.params.map_graphs([](const GraphPtr&) { return GraphPtr(); });
  std::string s = equation_text(graph, flat);
  if (!e.place.empty()) s += "\nat " + e.place;
  return s;
}

std::string constant_text(const Array& a, bool full) {
  if (a.is_tracer()) return "{traced}";
  if (sink != nullptr && a.size() > kShown) {
    const auto [it, added] = sink->places.try_emplace(a.impl(), sink->constants.size());
    if (added) sink->constants.push_back(internal::on_host(a));
    return "{@" + std::to_string(it->second) + "}";
  }
  if (!full && a.size() > kShown) return "{...}";
  const Array host = on_host(a);
  std::string s = "{";
  for (int64_t i = 0; i < a.size(); ++i) s += (i > 0 ? " " : "") + element(host, i);
  return s + "}";
}

}  // namespace internal

std::string Graph::text(bool full) const {
  const bool outer = std::exchange(write_all, full);
  std::string s = "graph(";
  for (size_t i = 0; i < inputs.size(); ++i) {
    s += (i > 0 ? ", " : "") + internal::value_name(inputs[i]) + ": " +
         to_string(avals[static_cast<size_t>(inputs[i])]);
  }
  s += ") {\n";
  for (const Constant& c : constants) {
    s += "  " + internal::value_name(c.id) + ": " + to_string(avals[static_cast<size_t>(c.id)]) +
         " = constant " + internal::constant_text(c.value, full) + "\n";
  }
  for (const Equation& e : equations) {
    s += "  " + internal::equation_text(*this, e);
    if (sink != nullptr && !e.place.empty()) s += " // " + e.place;
    s += "\n";
  }
  s += "  return";
  for (const ValueId v : outputs) s += " " + internal::value_name(v);
  write_all = outer;
  return s + "\n}";
}

std::string internal::graph_text(const Graph& graph, std::vector<Array>& constants) {
  Sink mine{constants, {}};
  struct Reset {
    ~Reset() { sink = nullptr; }
  } reset;
  sink = &mine;
  return graph.text(true);
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) { return out << graph.text(); }

}  // namespace spruce
