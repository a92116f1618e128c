// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/graph/dot.h"

#include "spruce/core/graph/print.h"

namespace spruce {
namespace {

std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    if (c == '\n')
      s += "\\n";
    else
      s += c;
  }
  return s + '"';
}

// Writes one graph and, within it, the nested ones. `prefix` tells the nodes of one graph from
// those of another.
class Writer {
 public:
  void write(const Graph& g, const std::string& prefix, const std::string& indent) {
    const auto type_of = [&](ValueId v) { return to_string(g.avals[static_cast<size_t>(v)]); };
    std::vector<std::string> made_by(g.avals.size());
    for (const ValueId v : g.inputs) {
      const std::string id = prefix + internal::value_name(v);
      line(indent, id, internal::value_name(v) + ": " + type_of(v), "shape=ellipse", "");
      made_by[static_cast<size_t>(v)] = id;
    }
    for (const Graph::Constant& c : g.constants) {
      const std::string id = prefix + internal::value_name(c.id);
      line(indent, id, internal::constant_text(c.value, false) + "\n" + type_of(c.id),
           "shape=ellipse, style=dashed", "");
      made_by[static_cast<size_t>(c.id)] = id;
    }
    for (size_t n = 0; n < g.equations.size(); ++n) {
      const Equation& e = g.equations[n];
      const std::string id = prefix + "e" + std::to_string(n);
      line(indent, id, e.primitive->name, "shape=box", internal::equation_note(g, e));
      for (const ValueId v : e.inputs)
        edge(indent, made_by[static_cast<size_t>(v)], id, type_of(v));
      for (const ValueId v : e.outputs) made_by[static_cast<size_t>(v)] = id;
      if (e.params.empty()) continue;
      size_t nested = 0;
      e.params.base()->visit_graphs([&](const GraphPtr& body) {
        if (body == nullptr) return;
        const std::string inner = id + "_" + std::to_string(nested++) + "_";
        out_ += indent + "subgraph " + quoted("cluster_" + inner) + " {\n" + indent + "  label=" +
                quoted(std::string(e.primitive->name) + " " + std::to_string(nested - 1)) + ";\n";
        write(*body, inner, indent + "  ");
        out_ += indent + "}\n";
        if (!body->inputs.empty()) {
          out_ += indent + quoted(id) + " -> " +
                  quoted(inner + internal::value_name(body->inputs[0])) + " [style=dotted];\n";
        }
      });
    }
    for (size_t k = 0; k < g.outputs.size(); ++k) {
      const std::string id = prefix + "out" + std::to_string(k);
      line(indent, id, "output " + std::to_string(k), "shape=ellipse", "");
      edge(indent, made_by[static_cast<size_t>(g.outputs[k])], id, type_of(g.outputs[k]));
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void line(const std::string& indent, const std::string& id, const std::string& label,
            const std::string& look, const std::string& note) {
    out_ += indent + quoted(id) + " [label=" + quoted(label) + ", " + look;
    if (!note.empty()) out_ += ", tooltip=" + quoted(note);
    out_ += "];\n";
  }
  void edge(const std::string& indent, const std::string& from, const std::string& to,
            const std::string& type) {
    out_ += indent + quoted(from) + " -> " + quoted(to) + " [label=" + quoted(type) + "];\n";
  }

  std::string out_;
};

}  // namespace

std::string to_dot(const Graph& graph) {
  Writer w;
  w.write(graph, "", "  ");
  return "digraph {\n  node [fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n" +
         w.take() + "}\n";
}

}  // namespace spruce
