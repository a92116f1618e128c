// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "spruce/spruce.h"

namespace spruce::fuzz {
namespace {

constexpr double kMostFlops = 1e6, kMostBytes = 1e7;

[[noreturn]] void finding(const char* what, const std::string& text) {
  std::fprintf(stderr, "fuzz: %s:\n%s\n", what, text.c_str());
  std::abort();
}

// Kernels look at each tap of a window, however many are outside.
bool wide_window(const Equation& e) {
  if (std::string_view(e.primitive->name).find("window") == std::string_view::npos) return false;
  const std::string text = e.params.text();
  size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4) return true;
  }
  return false;
}

bool may_run(const Graph& graph) {
  double bytes = 0;
  for (const Aval& a : graph.avals) bytes += static_cast<double>(a.bytes());
  if (bytes > kMostBytes) return false;
  bool ends = true;
  for (const Equation& e : graph.equations) {
    // A loop without a bound may run for ever.
    ends = ends && std::string_view(e.primitive->name) != "while_loop" && !wide_window(e);
    if (!e.params.empty())
      e.params.base()->visit_graphs(
          [&](const GraphPtr& g) { ends = ends && (g == nullptr || may_run(*g)); });
  }
  return ends;
}

std::vector<Array> inputs_of(const Graph& graph) {
  std::vector<Array> in;
  for (const ValueId v : graph.inputs) {
    const Aval& a = graph.avals[static_cast<size_t>(v)];
    in.push_back(
        astype(arange(static_cast<int64_t>(a.shape.numel())) - 2, a.dtype).reshape(a.shape));
  }
  return in;
}

void use(const Graph& graph) {
  const std::string text = graph.text(true);
  if (parse_graph(text).text(true) != text) finding("the text does not read back", text);
  (void)to_dot(graph);
  (void)to_html(graph);
  const Cost cost = analyze_cost(graph).total;
  if (cost.flops > kMostFlops || cost.bytes_written > kMostBytes || !may_run(graph)) return;
  const std::vector<Array> in = inputs_of(graph);
  try {
    (void)evaluate(graph, in);
  } catch (const Error&) {
  }
  const internal::Executor executor(internal::prepare(graph));
  internal::Call call(executor);
  for (const Array& a : in) call.add(a);
  call.run();
}

}  // namespace

bool run(const uint8_t* data, size_t size) {
  if (size == 0) return false;
  const auto kind = static_cast<char>(data[0]);
  ++data, --size;
  try {
    if (kind == 't') {
      use(parse_graph({reinterpret_cast<const char*>(data), size}));
      return true;
    }
    if (kind != 'f' && kind != 'r') return false;
    std::vector<uint8_t> bytes(data, data + size);
    if (kind == 'f' && size >= 32) {
      const uint64_t whole = size;
      std::memcpy(bytes.data() + 24, &whole, 8);
      const auto crc = static_cast<uint32_t>(crc32_z(0, bytes.data() + 16, size - 16));
      std::memcpy(bytes.data() + 12, &crc, 4);
    }
    const io::internal::MemorySource source("fuzz", "input", std::move(bytes));
    use(io::internal::read_function(source).graph);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace spruce::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)spruce::fuzz::run(data, size);
  return 0;
}
