// SPDX-License-Identifier: Apache-2.0
// The drawing of to_html: values flow downwards, layer by layer; within a layer nodes stand near
// what they come from. All places are whole pixels.
#include <algorithm>
#include <numeric>

#include "spruce/core/graph/dot.h"
#include "spruce/core/graph/print.h"

namespace spruce {
namespace {

constexpr int kLetter = 7;  // pixels of a letter
constexpr int kGapX = 18, kGapY = 34, kPad = 12, kHeader = 20;

struct Drawing;

struct Node {
  std::string look, name, type, note;
  std::vector<Drawing> inside;
  int layer = 0, x = 0, y = 0, w = 0, h = 0;
  int center() const { return x + w / 2; }
};

struct Wire {
  size_t from, to;
  std::string note;
};

struct Drawing {
  std::vector<Node> nodes;
  std::vector<Wire> wires;
  int w = 0, h = 0;
};

std::string escaped(const std::string& text) {
  std::string s;
  for (const char c : text) {
    if (c == '&')
      s += "&amp;";
    else if (c == '<')
      s += "&lt;";
    else if (c == '>')
      s += "&gt;";
    else if (c == '"')
      s += "&quot;";
    else
      s += c;
  }
  return s;
}

int width_of(const std::string& s) { return static_cast<int>(s.size()) * kLetter + 2 * kPad; }

void measure(Node& n) {
  n.w = std::max(width_of(n.name), width_of(n.type));
  n.h = 2 * kHeader;
  int inside = 0;
  for (const Drawing& d : n.inside) {
    inside += d.w + kPad;
    n.h = std::max(n.h, 2 * kHeader + d.h + kPad);
  }
  n.w = std::max(n.w, inside + kPad);
}

// Gives the nodes of one layer their places, each as near to `wish` as the one before it lets it.
void place_layer(std::vector<Node>& nodes, std::vector<size_t>& layer,
                 const std::vector<int>& wish) {
  std::stable_sort(layer.begin(), layer.end(),
                   [&](size_t a, size_t b) { return wish[a] < wish[b]; });
  int64_t drift = 0;
  int end = INT32_MIN / 2;
  for (const size_t i : layer) {
    nodes[i].x = std::max(end, wish[i] - nodes[i].w / 2);
    end = nodes[i].x + nodes[i].w + kGapX;
    drift += nodes[i].center() - wish[i];
  }
  const auto back = static_cast<int>(drift / static_cast<int64_t>(layer.size()));
  for (const size_t i : layer) nodes[i].x -= back;
}

void lay_out(Drawing& d) {
  std::vector<std::vector<size_t>> before(d.nodes.size());
  for (const Wire& e : d.wires) before[e.to].push_back(e.from);
  std::vector<std::vector<size_t>> layers;
  for (size_t i = 0; i < d.nodes.size(); ++i) {
    const auto at = static_cast<size_t>(d.nodes[i].layer);
    if (at >= layers.size()) layers.resize(at + 1);
    layers[at].push_back(i);
  }
  std::vector<int> wish(d.nodes.size(), 0);
  int y = kPad;
  for (std::vector<size_t>& layer : layers) {
    int height = 0, next = 0;
    for (const size_t i : layer) {
      Node& n = d.nodes[i];
      height = std::max(height, n.h);
      if (before[i].empty()) {
        wish[i] = next + n.w / 2;
        next += n.w + kGapX;
      } else {
        int64_t sum = 0;
        for (const size_t p : before[i]) sum += d.nodes[p].center();
        wish[i] = static_cast<int>(sum / static_cast<int64_t>(before[i].size()));
      }
    }
    if (layer.empty()) continue;
    place_layer(d.nodes, layer, wish);
    for (const size_t i : layer) d.nodes[i].y = y;
    y += height + kGapY;
  }
  int left = INT32_MAX, right = 0;
  for (const Node& n : d.nodes) left = std::min(left, n.x);
  for (Node& n : d.nodes) {
    n.x += kPad - left;
    right = std::max(right, n.x + n.w);
  }
  d.w = right + kPad;
  d.h = y - kGapY + kPad;
}

Drawing drawing_of(const Graph& g) {
  Drawing d;
  std::vector<size_t> made_by(g.avals.size(), 0);
  const auto type_of = [&](ValueId v) { return to_string(g.avals[static_cast<size_t>(v)]); };
  const auto wire = [&](ValueId v, size_t to) {
    const size_t from = made_by[static_cast<size_t>(v)];
    d.wires.push_back({from, to, internal::value_name(v) + ": " + type_of(v)});
    d.nodes[to].layer = std::max(d.nodes[to].layer, d.nodes[from].layer + 1);
  };
  const auto add = [&](ValueId v, const char* look, const std::string& name) {
    made_by[static_cast<size_t>(v)] = d.nodes.size();
    d.nodes.push_back({look, name, type_of(v), internal::value_name(v) + ": " + type_of(v), {}});
  };
  for (const ValueId v : g.inputs) add(v, "in", internal::value_name(v));
  for (const Graph::Constant& c : g.constants)
    add(c.id, "constant",
        c.value.size() <= 4 ? internal::constant_text(c.value, false) : "constant");
  for (const Equation& e : g.equations) {
    const size_t at = d.nodes.size();
    std::string types;
    for (const ValueId v : e.outputs) types += (types.empty() ? "" : ", ") + type_of(v);
    if (types.size() > 60) types = types.substr(0, 57) + "...";
    d.nodes.push_back({"equation", e.primitive->name, types, internal::equation_note(g, e), {}});
    for (const ValueId v : e.inputs) wire(v, at);
    for (const ValueId v : e.outputs) made_by[static_cast<size_t>(v)] = at;
    if (e.params.empty()) continue;
    e.params.base()->visit_graphs([&](const GraphPtr& body) {
      if (body != nullptr) d.nodes[at].inside.push_back(drawing_of(*body));
    });
  }
  int last = 0;
  for (const Node& n : d.nodes) last = std::max(last, n.layer);
  // A constant stands right above what first needs it.
  std::vector<int> first(d.nodes.size(), last + 1);
  for (const Wire& e : d.wires) first[e.from] = std::min(first[e.from], d.nodes[e.to].layer);
  for (size_t i = 0; i < d.nodes.size(); ++i) {
    if (d.nodes[i].look == "constant") d.nodes[i].layer = std::max(0, first[i] - 1);
  }
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const size_t at = d.nodes.size();
    d.nodes.push_back({"out", "output " + std::to_string(k), type_of(g.outputs[k]), "", {}});
    wire(g.outputs[k], at);
    d.nodes[at].layer = last + 1;
  }
  for (Node& n : d.nodes) measure(n);
  lay_out(d);
  return d;
}

std::string number(int v) { return std::to_string(v); }

// How far a wire has to swing aside so as not to run behind the nodes between its ends.
int way_round(const Drawing& d, const Wire& e) {
  const Node &a = d.nodes[e.from], &b = d.nodes[e.to];
  const int left = std::min(a.center(), b.center()), right = std::max(a.center(), b.center());
  int aside = 0;
  for (size_t i = e.from + 1; i < std::min(e.to, e.from + 200); ++i) {
    const Node& n = d.nodes[i];
    const bool between = n.layer > a.layer && n.layer < b.layer;
    if (between && n.x < right + kPad && n.x + n.w > left - kPad)
      aside = std::max(aside, n.x + n.w + kPad - (left + right) / 2);
  }
  return aside * 4 / 3;  // a curve of third degree comes three quarters of the way
}

void draw(std::string& s, const Drawing& d, int x0, int y0) {
  for (const Wire& e : d.wires) {
    const Node &a = d.nodes[e.from], &b = d.nodes[e.to];
    const int x1 = x0 + a.center(), y1 = y0 + a.y + a.h, x2 = x0 + b.center(), y2 = y0 + b.y;
    const int bend = std::max(kGapY / 2, (y2 - y1) / 2), aside = way_round(d, e);
    s += "<path d=\"M" + number(x1) + " " + number(y1) + " C" + number(x1 + aside) + " " +
         number(y1 + bend) + " " + number(x2 + aside) + " " + number(y2 - bend) + " " + number(x2) +
         " " + number(y2) + "\"><title>" + escaped(e.note) + "</title></path>\n";
  }
  for (const Node& n : d.nodes) {
    const int x = x0 + n.x, y = y0 + n.y;
    s += "<g class=\"" + n.look + "\"><title>" + escaped(n.note.empty() ? n.type : n.note) +
         "</title><rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(n.w) +
         "\" height=\"" + number(n.h) + "\" rx=\"" + (n.look == "equation" ? "4" : "18") +
         "\"/><text x=\"" + number(x + n.w / 2) + "\" y=\"" + number(y + 16) + "\">" +
         escaped(n.name) + "</text><text class=\"type\" x=\"" + number(x + n.w / 2) + "\" y=\"" +
         number(y + 32) + "\">" + escaped(n.type) + "</text></g>\n";
    int at = x + kPad;
    for (const Drawing& inner : n.inside) {
      s += "<rect class=\"body\" x=\"" + number(at) + "\" y=\"" + number(y + 2 * kHeader) +
           "\" width=\"" + number(inner.w) + "\" height=\"" + number(inner.h) + "\"/>\n";
      draw(s, inner, at, y + 2 * kHeader);
      at += inner.w + kPad;
    }
  }
}

constexpr const char* kStyle =
    R"(body{margin:16px;font-family:sans-serif;background:#fff;color:#222}
svg{font:12px monospace;overflow:visible}
text{text-anchor:middle;fill:#222;pointer-events:none}
.type{fill:#666;font-size:11px}
rect{stroke:#557;fill:#eef2fb}
.in rect,.out rect{fill:#e8f5e9;stroke:#4a7a4e}
.constant rect{fill:#fdf3dc;stroke:#997a30}
.body{fill:#fff;stroke-dasharray:4 3}
g:hover rect{stroke-width:3}
path{fill:none;stroke:#99a;stroke-width:1.5}
path:hover{stroke:#c33;stroke-width:3}
)";

}  // namespace

std::string to_html(const Graph& graph, const std::string& title) {
  const Drawing d = drawing_of(graph);
  std::string s = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + escaped(title) +
                  "</title>\n<style>\n" + kStyle + "</style></head>\n<body><h1>" + escaped(title) +
                  "</h1>\n<p>" + std::to_string(graph.inputs.size()) + " inputs, " +
                  std::to_string(graph.constants.size()) + " constants, " +
                  std::to_string(graph.equations.size()) + " equations, " +
                  std::to_string(graph.outputs.size()) +
                  " outputs. Point at a box or an edge to see what it is.</p>\n<svg width=\"" +
                  number(d.w) + "\" height=\"" + number(d.h) + "\">\n";
  draw(s, d, 0, 0);
  return s + "</svg></body></html>\n";
}

}  // namespace spruce
