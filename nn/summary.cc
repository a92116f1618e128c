// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/summary.h"

#include <algorithm>
#include <ostream>

namespace spruce::nn {
namespace {

// 1234567 as "1,234,567".
std::string grouped(int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

// Whether `path` is at or below `parent`.
bool is_within(const std::string& path, const std::string& parent) {
  return parent.empty() || path == parent ||
         (path.size() > parent.size() && path.starts_with(parent) && path[parent.size()] == '.');
}

}  // namespace

std::string Summary::text() const {
  std::vector<std::vector<std::string>> rows = {
      {"layer", "type", "output", "parameters", "multiply-adds"}};
  for (const LayerSummary& l : layers) {
    rows.push_back({l.path.empty() ? "(model)" : l.path, l.type, to_string(l.output),
                    grouped(l.parameters), grouped(l.multiply_adds)});
  }
  rows.push_back({"total", "", "", grouped(parameters), grouped(multiply_adds)});
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const std::vector<std::string>& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      out += i < 3 ? row[i] + space + "  " : space + row[i] + (i + 1 < row.size() ? "  " : "\n");
    }
  }
  if (buffers > 0) out += "buffers: " + grouped(buffers) + "\n";
  return out;
}

std::ostream& operator<<(std::ostream& out, const Summary& summary) {
  return out << summary.text();
}

namespace internal {

Summary summary_of(const LayerObserver& observer, const std::vector<tree::Entry>& entries) {
  Summary out;
  const auto elements = [&](const std::string& path, tree::Leaf kind) {
    int64_t n = 0;
    for (const tree::Entry& e : entries)
      if (e.kind == kind && e.value.defined() && is_within(e.path, path)) n += e.value.size();
    return n;
  };
  out.parameters = elements("", tree::Leaf::kArray);
  out.buffers = elements("", tree::Leaf::kBuffer);
  for (const LayerObserver::Call& call : observer.calls) {
    out.multiply_adds += call.multiply_adds;
    // Layers inside have ended before: the row goes in front of theirs.
    auto at = out.layers.end();
    while (at != out.layers.begin() && std::prev(at)->path != call.path &&
           is_within(std::prev(at)->path, call.path))
      --at;
    out.layers.insert(at, {call.path, call.type, call.output.aval(),
                           elements(call.path, tree::Leaf::kArray), call.multiply_adds});
  }
  return out;
}

}  // namespace internal
}  // namespace spruce::nn
