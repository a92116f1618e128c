// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scatter.h"

#include <algorithm>

#include "spruce/cuda/codegen/ordering.h"
#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {
namespace {

constexpr int64_t kPiece = 64;  // positions in order that one thread combines at most

constexpr std::string_view kCombine = R"cuda(
namespace sp {
template <class T> SP T lesser(T a, T b) { return b < a || b != b ? b : a; }
template <class T> SP T greater(T a, T b) { return a < b || b != b ? b : a; }
}  // namespace sp
)cuda";

// Ends of runs by bisection, so that a loop over a run has a count and its loads do not wait for
// each other.
constexpr std::string_view kRuns = R"cuda(
namespace sp {
// The place of a position from its number in order: the key of one that has a key.
SP i64 place_of(const i64*, u64 number) { return i64(number >> 32) - 1; }
template <class N> SP i64 place_of(const i64* places, N number) { return places[number]; }
// The end, at most `last`, of the run of places that number `at` in order belongs to.
template <class F> SP i64 run_end(const F& place_at, i64 at, i64 last) {
  const i64 place = place_at(at);
  i64 low = at + 1, high = last;
  if (low >= high || place_at(low) != place) return low;
  for (++low; low < high;) {
    const i64 middle = low + (high - low) / 2;
    if (place_at(middle) == place) low = middle + 1;
    else high = middle;
  }
  return low;
}
}  // namespace sp
)cuda";

// A scatter, and the kernels of which its steps are.
struct Scatter {
  const PrepareArgs& args;
  const IndexWindows& to;
  const IndexWindows* source;
  const std::string combine;
  Kernels& out;
  const Aval& result = *args.out[0];
  const std::string type{text_type(result.dtype)}, computed{compute_type(result.dtype)};
  const int64_t positions = to.positions.size(), window = to.window.size();
  int64_t places = 0;  // in the workspace, where each position begins: -1 outside
  Ordered order{};     // the positions in the order of their places

  KernelBuilder kernel(const char* name) const;
  std::string read(KernelBuilder& kernel) const;
  // `value`, a computed one, as the element of the result at `at`; and the element there.
  std::string store(KernelBuilder& kernel, const std::string& at, const std::string& value) const {
    return kernel.output(0) + "[" + at + "] = sp::narrow<" + type + ">(" + value + ");\n";
  }
  std::string load(KernelBuilder& kernel, const std::string& at) const {
    return computed + "(sp::widen(" + kernel.output(0) + "[" + at + "]))";
  }
  void in_turn() const;

  void sort();
  KernelBuilder sorted_kernel(const char* name) const;
  // Declares `element`, the one that `step` of the window at `place` is.
  std::string element(KernelBuilder& kernel) const {
    return "    sp::i64 element = place, unread = 0;\n" +
           to.inside(kernel, "s", "element", "unread", "step");
  }
  void last() const;
  void pieces() const;
};

KernelBuilder Scatter::kernel(const char* name) const {
  KernelBuilder made(name, args);
  made.front(kCombine);
  made.values({{"positions", positions}, {"window", window}});
  return made;
}

// A function `read(position)`: the update at a position for element `step` of its window.
std::string Scatter::read(KernelBuilder& kernel) const {
  std::string text = "    const auto read = [&](sp::i64 position) -> " + computed + " {\n";
  std::string at = "uto";
  if (source != nullptr) {
    text += source->locate(kernel, "u", kernel.input(3), "position") +
            source->inside(kernel, "u", "ufrom", "uto", "step");
    at = "ufrom";
  } else {
    // Where updates stand follows from the position alone.
    text += "    sp::i64 unused = 0, uto = 0;\n    {\n" +
            to.positions.places(kernel, "up", "position", {"unused", "uto"}) + "    }\n" +
            to.inside(kernel, "uw", "unused", "uto", "step");
  }
  return text + "    return sp::widen(" + kernel.input(2) + "[" + at + "]);\n    };\n";
}

// One position after the other: of several, by a single block.
void Scatter::in_turn() const {
  KernelBuilder kernel = this->kernel("scatter_in_turn");
  std::string text =
      "  for (sp::i64 p = 0; p < positions; ++p) {\n"
      "    for (sp::i64 step = sp::i64(blockIdx.x) * blockDim.x + threadIdx.x; step < window;\n"
      "         step += sp::i64(gridDim.x) * blockDim.x) {\n";
  text += read(kernel) + to.locate(kernel, "s", kernel.input(1), "p") +
          "    if (sfrom < 0) continue;\n" + to.inside(kernel, "s", "sfrom", "sto", "step");
  const std::string value =
      combine.empty() ? "read(p)" : combine + "(" + load(kernel, "sfrom") + ", read(p))";
  text += "    " + store(kernel, "sfrom", value) + "    }\n    __syncthreads();\n  }\n";
  const int64_t blocks = positions == 1 ? blocks_for(window, kThreads) : 1;
  out.steps.push_back(kernel.launch(text, {blocks}, {kThreads}));
}

void Scatter::sort() {
  places = reserve(out, positions * 8);
  KernelBuilder locate("locate", args);
  locate.workspace("sp::i64", "places", places);
  const std::string body = to.locate(locate, "s", locate.input(1), "i");
  out.steps.push_back(locate.for_each(positions, body + "    places[i] = sfrom;\n"));

  Ordering ordering{1, positions, positions, nullptr, nullptr};
  const bool narrow = result.numel() < int64_t{1} << 32;
  (narrow ? ordering.key : ordering.before) = [&](KernelBuilder& kernel) -> std::string {
    kernel.workspace("sp::i64", "places", places);
    return narrow ? "    return sp::u32(places[a] + 1);\n" : "    return places[a] < places[b];\n";
  };
  order = ordering_kernels(args, ordering, out);
}

// A kernel that reads the positions in the order of their places.
KernelBuilder Scatter::sorted_kernel(const char* name) const {
  KernelBuilder made = kernel(name);
  made.front(ordered_key_text());
  made.front(kRuns);
  made.workspace("sp::i64", "places", places);
  made.workspace(order.type, "order", order.offset);
  made.begin(
      "  const auto place_at = [&](sp::i64 at) { return sp::place_of(places, order[at]); };\n"
      "  const auto position_at = [&](sp::i64 at) { return sp::position_of(order[at]); };\n");
  return made;
}

// The last position of a place gives it its update.
void Scatter::last() const {
  KernelBuilder kernel = sorted_kernel("scatter_last");
  std::string body =
      "    const sp::i64 at = i / window, step = i % window, place = place_at(at);\n"
      "    if (place < 0 || (at + 1 < positions && place_at(at + 1) == place)) continue;\n";
  body +=
      read(kernel) + element(kernel) + "    " + store(kernel, "element", "read(position_at(at))");
  out.steps.push_back(kernel.for_each(positions * window, body));
}

// The first position of a place in a piece of the order takes the others of the piece in turn. A
// place that goes on into other pieces has one part for each of them, which a second kernel
// combines: `begun` where it begins, `parts` further on.
void Scatter::pieces() const {
  const int64_t pieces = (positions - 1) / kPiece + 1;
  const int64_t bytes = std::max<int64_t>(4, size_of(result.dtype)),
                size = pieces > 1 ? pieces * window * bytes : 0, begun = reserve(out, size),
                parts = reserve(out, size);
  const auto begin = [&](const char* name) {
    KernelBuilder kernel = sorted_kernel(name);
    kernel.workspace(computed, "begun", begun);
    kernel.workspace(computed, "parts", parts);
    kernel.begin("  constexpr sp::i64 length = " + std::to_string(kPiece) + ";\n");
    return kernel;
  };
  KernelBuilder within = begin("scatter_pieces");
  std::string body =
      "    const sp::i64 at = i / window, step = i % window, place = place_at(at);\n"
      "    const bool begins = at == 0 || place_at(at - 1) != place;\n"
      "    if (place < 0 || (!begins && at % length != 0)) continue;\n"
      "    const sp::i64 piece = at / length, behind = (piece + 1) * length,\n"
      "                  last = behind < positions ? behind : positions,\n"
      "                  end = sp::run_end(place_at, at, last);\n"
      "    const bool ends = end < last || last == positions || place_at(last) != place;\n";
  body += read(within) + element(within) + "    " + computed +
          " value = read(position_at(at));\n    if (begins) value = " + combine + "(" +
          load(within, "element") +
          ", value);\n"
          "#pragma unroll 8\n"
          "    for (sp::i64 k = at + 1; k < end; ++k)\n      value = " +
          combine + "(value, read(position_at(k)));\n    if (begins && ends) " +
          store(within, "element", "value") +
          "    else (begins ? begun : parts)[piece * window + step] = value;\n";
  out.steps.push_back(within.for_each(positions * window, body));
  if (pieces == 1) return;

  KernelBuilder across = begin("scatter_across");
  // The pieces in which a place begins that goes on in the next one.
  body =
      "    const sp::i64 piece = i / window, step = i % window, first = piece * length,\n"
      "                  at = first + length - 1, place = place_at(at);\n"
      "    if (place < 0 || place_at(at + 1) != place) continue;\n"
      "    if (piece > 0 && place_at(first - 1) == place) continue;\n"
      "    const sp::i64 behind = (sp::run_end(place_at, at, positions) - 1) / length + 1;\n";
  body += element(across) + "    " + computed +
          " value = begun[i];\n"
          "#pragma unroll 8\n"
          "    for (sp::i64 k = piece + 1; k < behind; ++k)\n      value = " +
          combine + "(value, parts[k * window + step]);\n    " + store(across, "element", "value");
  out.steps.push_back(across.for_each((pieces - 1) * window, body));
}

}  // namespace

Kernels scatter(const PrepareArgs& args, const IndexWindows& to, const IndexWindows* source,
                std::string_view combine) {
  Kernels out;
  whole_copy(args, 0, 0, out);
  Scatter scatter{args, to, source, std::string(combine), out};
  if (scatter.positions == 0 || scatter.window == 0 || scatter.result.numel() == 0) return out;
  if (scatter.positions == 1 || to.overlapping) {
    scatter.in_turn();
    return out;
  }
  scatter.sort();
  if (combine.empty()) {
    scatter.last();
  } else {
    scatter.pieces();
  }
  return out;
}

Kernels scatter(const PrepareArgs& args, std::string_view combine) {
  const IndexWindows to(args.params.get<GatherParams>(), args.in[0]->shape, args.in[2]->shape);
  return scatter(args, to, nullptr, combine);
}

}  // namespace spruce::cuda
