// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/rows.h"

#include <cstring>

#include "spruce/core/io/source.h"

namespace spruce::data::internal {
namespace {

using spruce::internal::make_array;
using spruce::internal::mutable_data;

std::string shown(const std::string& path) { return path.empty() ? "the array" : path; }

// The array where the host can read it.
Array on_host(const char* op, const std::string& path, const Array& x) {
  if (x.is_tracer()) {
    throw TracerError(std::string(op) + ": " + shown(path) + " of type " + to_string(x.aval()) +
                      " is traced; make batches outside of the compiled function");
  }
  return io::internal::saved_array(op, shown(path), x);
}

}  // namespace

Array rows(const char* op, const std::string& path, const Array& x,
           std::span<const int64_t> indices) {
  const Array host = on_host(op, path, x);
  const auto* from = static_cast<const uint8_t*>(mutable_data(host));
  Aval aval = host.aval();
  const int64_t n = aval.shape[0];
  aval.shape[0] = static_cast<int64_t>(indices.size());
  check_shape(op, aval.shape, size_of(aval.dtype));
  const auto width = static_cast<size_t>(n > 0 ? x.nbytes() / n : 0);
  const Array out = make_array(aval);
  auto* to = static_cast<uint8_t*>(mutable_data(out));
  for (const int64_t i : indices) {
    if (i < 0 || i >= n) {
      throw IndexError(std::string(op) + ": there is no example " + std::to_string(i) + " in " +
                       shown(path) + ", which is " + to_string(x.aval()));
    }
    std::memcpy(to, from + static_cast<size_t>(i) * width, width);
    to += width;
  }
  return out;
}

Array stacked(const char* op, const std::string& path, std::span<const Array> examples) {
  const Aval first = examples[0].aval();
  for (size_t i = 1; i < examples.size(); ++i) {
    const Aval& other = examples[i].aval();
    if (other.shape == first.shape && other.dtype == first.dtype) continue;
    const std::string both = std::string(op) + ": " + shown(path) + " is " + to_string(first) +
                             " in example 0 and " + to_string(other) + " in example " +
                             std::to_string(i);
    if (!(other.shape == first.shape)) throw ShapeError(both + "; collate() pads sequences");
    throw DtypeError(both);
  }
  if (first.shape.rank() == kMaxRank) {
    throw ShapeError(std::string(op) + ": " + to_string(first) + " has no room for another axis");
  }
  Aval aval{first.dtype, false, {static_cast<int64_t>(examples.size())}};
  for (int k = 0; k < first.shape.rank(); ++k) aval.shape.push_back(first.shape[k]);
  check_shape(op, aval.shape, size_of(aval.dtype));
  const Array out = make_array(aval);
  auto* to = static_cast<uint8_t*>(mutable_data(out));
  const auto width = static_cast<size_t>(first.bytes());
  for (const Array& x : examples) {
    const Array host = on_host(op, path, x);
    if (width > 0) std::memcpy(to, mutable_data(host), width);
    to += width;
  }
  return out;
}

int64_t example_count(const char* op, const std::vector<tree::Entry>& leaves) {
  const tree::Entry* first = nullptr;
  for (const tree::Entry& e : leaves) {
    if (!e.value.defined()) {
      throw ValueError(std::string(op) + ": " + shown(e.path) +
                       " is empty (default-constructed); give it a value");
    }
    if (e.kind == tree::Leaf::kKey && e.value.rank() == 1) {
      throw ShapeError(std::string(op) + ": " + shown(e.path) +
                       " is one key and has no axis of examples; random::split(key, n) makes n");
    }
    if (e.value.rank() == 0) {
      throw ShapeError(std::string(op) + ": " + shown(e.path) + " is " + to_string(e.value.aval()) +
                       " and has no axis of examples");
    }
    if (first == nullptr) {
      first = &e;
    } else if (e.value.shape()[0] != first->value.shape()[0]) {
      throw ShapeError(std::string(op) + ": " + shown(first->path) + " is " +
                       to_string(first->value.aval()) + " and " + shown(e.path) + " is " +
                       to_string(e.value.aval()) + "; their first axes, of examples, differ");
    }
  }
  if (first == nullptr)
    throw TreeError(std::string(op) + ": the tree holds no arrays, so no examples");
  return first->value.shape()[0];
}

}  // namespace spruce::data::internal
