// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/tree/tree.h"

#include <algorithm>
#include <ostream>

#include "spruce/core/ops/math.h"

namespace spruce::tree {

std::string Structure::text() const {
  std::string s;
  for (const Line& line : lines_)
    s += (line.path.empty() ? "(root)" : line.path) + ": " + line.value + "\n";
  return s;
}

std::ostream& operator<<(std::ostream& out, const Structure& structure) {
  return out << structure.text();
}

std::string Structure::difference(const Structure& other) const {
  const size_t n = std::min(lines_.size(), other.lines_.size());
  for (size_t i = 0; i < n; ++i) {
    const Line &a = lines_[i], &b = other.lines_[i];
    if (a == b) continue;
    const auto place = [](const Line& l) {
      return l.path.empty() ? std::string("the root") : l.path;
    };
    if (a.path == b.path && a.value == b.value)
      return "at " + place(a) + ": one function in the first, another in the second";
    if (a.path == b.path)
      return "at " + place(a) + ": " + a.value + " in the first, " + b.value + " in the second";
    return "the first has " + place(a) + ": " + a.value + " where the second has " + place(b) +
           ": " + b.value;
  }
  if (lines_.size() > n) return "the first also has " + lines_[n].path + ": " + lines_[n].value;
  if (other.lines_.size() > n)
    return "the second also has " + other.lines_[n].path + ": " + other.lines_[n].value;
  return "";
}

namespace internal {

void StructureObserver::leaf(const Array&, Leaf kind) {
  const char* what = kind == Leaf::kArray ? "*" : kind == Leaf::kBuffer ? "* (buffer)" : "* (key)";
  form.lines_.push_back({path(), what});
  ++form.leaves_;
}
void StructureObserver::static_value(const StaticValue& value) {
  form.lines_.push_back({path(), value.text(), value.function()});
}
void StructureObserver::size(size_t n) {
  form.lines_.push_back({path(), std::to_string(n) + " entries"});
}

void check_same(const char* op, const Structure& a, const Structure& b) {
  const std::string difference = a.difference(b);
  if (!difference.empty())
    throw TreeError(std::string(op) + ": the trees have different forms: " + difference);
}

void check_defined(const char* op, Loc loc, const std::vector<Entry>& entries, size_t i) {
  if (i >= entries.size() || entries[i].value.defined()) return;
  const std::string& path = entries[i].path;
  const LocScope at(loc);
  throw ValueError(
      std::string(op) + ": the leaf " + (path.empty() ? "at the root" : path) +
      " is an empty Array (default-constructed, or moved from), which the function "
      "does not take; give it a value, or return it as it is where it is not defined()");
}

void throw_leaf_count(const char* op, size_t expected, size_t got) {
  throw TreeError(std::string(op) + ": the tree has " + std::to_string(expected) + " leaves, " +
                  std::to_string(got) + " were given");
}

size_t find_path(const std::vector<Entry>& entries, const std::string& path) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].path == path) return i;
  }
  const std::string loose = loose_path(path);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (loose_path(entries[i].path) == loose) return i;
  }
  std::string known;
  for (size_t i = 0; i < entries.size() && i < 8; ++i)
    known += (i > 0 ? ", " : "") + entries[i].path;
  throw TreeError("tree::at: no leaf has the path '" + path + "'; there are " + known +
                  (entries.size() > 8 ? ", ..." : ""));
}

std::string print(const std::vector<Entry>& entries) {
  size_t width = 0;
  for (const Entry& e : entries) width = std::max(width, e.path.size());
  std::string s;
  int64_t elements = 0, bytes = 0;
  for (const Entry& e : entries) {
    s += e.path + std::string(width - e.path.size() + 2, ' ');
    if (e.value.defined()) {
      s += spruce::to_string(e.value.aval());
      elements += e.value.size();
      bytes += e.value.nbytes();
    } else {
      s += "undefined";
    }
    s += e.kind == Leaf::kBuffer ? " buffer\n" : e.kind == Leaf::kKey ? " key\n" : "\n";
  }
  return s + std::to_string(entries.size()) + " leaves, " + std::to_string(elements) +
         " elements, " + std::to_string(bytes) + " bytes\n";
}

void MapSelected::operator()(LeafFunction f, AnyMutableTree out, AnyTree x,
                             std::span<const AnyTree> rest) const {
  std::vector<std::vector<Array>> others;
  others.reserve(rest.size());
  for (const AnyTree& other : rest) others.push_back(other.leaves());
  // Of trees of two types only the structures can tell.
  const Form form = rest.empty() ? Form() : x.form();
  const auto same_form = [&](const AnyTree& other) {
    return other.functions == x.functions && other.form() == form;
  };
  if (!std::all_of(rest.begin(), rest.end(), same_form)) {
    const LocScope at(loc);
    for (const AnyTree& other : rest) check_same(op, x.structure(), other.structure());
  }
  size_t i = 0;
  auto replace = [&](Array& a, Leaf kind) {
    if (select(kind, a)) a = f.call(f.function, a, others.data(), i);
    ++i;
  };
  LeafVisitor<Array> visitor{{}, &replace, call_leaf<decltype(replace), Array>};
  try {
    out.visit(out.tree, visitor);
  } catch (const ValueError&) {
    check_defined(op, loc, x.entries(), i);
    for (const AnyTree& other : rest) check_defined(op, loc, other.entries(), i);
    throw;
  }
}

bool leaves_equal(const std::vector<Array>& a, const std::vector<Array>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].defined() != b[i].defined()) return false;
    if (a[i].defined() && (a[i].dtype() != b[i].dtype() || !array_equal(a[i], b[i]))) return false;
  }
  return true;
}

}  // namespace internal
}  // namespace spruce::tree
