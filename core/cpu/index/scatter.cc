// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/ceil_div.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/index/elements.h"
#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/row_copy.h"
#include "spruce/core/cpu/workspace.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/scatter_add_rows.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kGrain = 131072;        // elements that are worth a thread of their own
constexpr int64_t kRowGrain = 32768;      // the same where windows have at least kRow elements
constexpr int64_t kElementGrain = 65536;  // and where are_elements() is true
constexpr int64_t kBatchGrain = 16384;    // and of batches, which no two threads share
constexpr int64_t kRow = 16;
constexpr int64_t kBlock = 512;     // positions that are located at once
constexpr int64_t kNear = 1 << 18;  // bytes of an operand that is in the cache soon

struct Set {
  template <class T>
  static SPRUCE_INLINE T call(T, T update) {
    return update;
  }
};
struct Add {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Mul {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
// NaN wins over every number. Which of two numbers is taken nobody could predict: that is no
// branch.
struct Min {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    const T smaller = b < a ? b : a;
    return b != b ? b : smaller;
  }
};
struct Max {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    const T larger = a < b ? b : a;
    return b != b ? b : larger;
  }
};

// The type in which Op computes T: sums and products of integers wrap, so that both signs have the
// same bits.
template <class Op, class T>
constexpr auto computed_as() {
  constexpr bool wraps = std::is_same_v<Op, Add> || std::is_same_v<Op, Mul>;
  if constexpr (wraps && std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return std::make_unsigned_t<T>();
  else
    return T();
}

// Runs of elements that are changed: `count` of them, of n elements each.
struct Runs {
  const int64_t *to, *from;  // where each begins
  int64_t count, n;
  int64_t to_step, from_step;  // from element to element
  int64_t lines;               // of a run of the operand that are asked for early
};

// The loop of one operation on the elements of one type.
using Loop = void (*)(const Runs& runs, void* operand, const void* updates);
// The loop of single elements of an operand with one axis, at one index each.
using PlainLoop = void (*)(const Windows& w, void* operand, const void* updates);

// Single elements that are changed: the i-th at to[i], by the update from[i].
struct Elements {
  const int32_t *to, *from;
  int64_t count;
  bool far;  // they are asked for early
};
using ElementLoop = void (*)(const Elements& e, void* operand, const void* updates);

// The operations that have a PlainLoop; the others would be as much code again for little use.
template <class Op>
constexpr bool kFrequent = std::is_same_v<Op, Set> || std::is_same_v<Op, Add>;

struct ElementSizes {
  int64_t operand, update;
};

// Asks for what run i changes and reads. One function for all types: it is no small one.
__attribute__((noinline)) void ask(const Runs& r, int64_t i, const void* operand,
                                   const void* updates, ElementSizes size) {
  if (i >= r.count) return;
  const int64_t bytes = r.lines * kLineBytes;
  if (r.to[i] != r.to[i - 1]) {
    const char* const x = static_cast<const char*>(operand) + r.to[i] * size.operand;
    for (int64_t k = 0; k < bytes; k += kLineBytes) __builtin_prefetch(x + k, 1);
  }
  const char* const u = static_cast<const char*>(updates) + r.from[i] * size.update;
  for (int64_t k = 0; k < bytes / size.operand * size.update; k += kLineBytes)
    __builtin_prefetch(u + k);
}

template <class Op, class T, class U>
struct Combine {
  static SPRUCE_INLINE void element(T& x, U u) { x = Op::call(x, static_cast<T>(u)); }

  template <class I>
  static SPRUCE_INLINE void single(const I* to, const I* from, int64_t count, bool far, T* x,
                                   const U* u) {
    constexpr int64_t kSinglesAhead = 24;
    const int64_t early = far ? count - kSinglesAhead : 0;
    int64_t i = 0;
    for (; i < early; ++i) {
      __builtin_prefetch(x + to[i + kSinglesAhead], 1);
      element(x[to[i]], u[from[i]]);
    }
    for (; i < count; ++i) element(x[to[i]], u[from[i]]);
  }

  static void elements(const Elements& e, void* operand, const void* updates) {
    single(e.to, e.from, e.count, e.far, static_cast<T*>(operand), static_cast<const U*>(updates));
  }

  static constexpr int64_t kAhead = 16;
  static constexpr ElementSizes kSizes{sizeof(T), sizeof(U)};
  // Sums of floats are what gradients are made of.
  static constexpr bool kIsSum = std::is_same_v<Op, Add> && std::is_same_v<T, float>;

  // kColumns columns of the runs begin..end, which change the same elements: these wait in
  // registers.
  template <int64_t kColumns>
  static SPRUCE_INLINE void columns(const Runs& r, int64_t begin, int64_t end, int64_t column, T* x,
                                    const U* u) {
    T* const y = x + r.to[begin] + column;
    T sum[kColumns];
    for (int64_t j = 0; j < kColumns; ++j) sum[j] = y[j];
    int64_t i = begin;
    for (; i + 4 <= end; i += 4) {
      if (column == 0) {
        for (int64_t k = i; k < i + 4; ++k) ask(r, k + kAhead, x, u, kSizes);
      }
      const U *a = u + r.from[i] + column, *b = u + r.from[i + 1] + column,
              *c = u + r.from[i + 2] + column, *d = u + r.from[i + 3] + column;
      for (int64_t j = 0; j < kColumns; ++j) {
        element(sum[j], a[j]);
        element(sum[j], b[j]);
        element(sum[j], c[j]);
        element(sum[j], d[j]);
      }
    }
    for (; i < end; ++i) {
      if (column == 0) ask(r, i + kAhead, x, u, kSizes);
      const U* const v = u + r.from[i] + column;
      for (int64_t j = 0; j < kColumns; ++j) element(sum[j], v[j]);
    }
    for (int64_t j = 0; j < kColumns; ++j) y[j] = sum[j];
  }

  static SPRUCE_INLINE void body(const Runs& r, void* operand, const void* updates) {
    T* const x = static_cast<T*>(operand);
    const U* const u = static_cast<const U*>(updates);
    if (r.n == 1) return single(r.to, r.from, r.count, r.lines > 0, x, u);
    const bool dense = r.to_step == 1 && r.from_step == 1;
    for (int64_t i = 1; i < kAhead; ++i) ask(r, i, x, u, kSizes);
    for (int64_t i = 0; i < r.count; ++i) {
      if constexpr (kIsSum) {
        int64_t end = i + 1;
        while (end < r.count && r.to[end] == r.to[i]) ++end;
        if (end > i + 1 && dense && r.n >= 8) {
          int64_t j = 0;
          for (; j + 64 <= r.n; j += 64) columns<64>(r, i, end, j, x, u);
          for (; j + 8 <= r.n; j += 8) columns<8>(r, i, end, j, x, u);
          for (; j < r.n; ++j) columns<1>(r, i, end, j, x, u);
          i = end - 1;
          continue;
        }
      }
      ask(r, i + kAhead, x, u, kSizes);
      T* const y = x + r.to[i];
      const U* const v = u + r.from[i];
      if (dense) {
        SPRUCE_INDEPENDENT
        for (int64_t j = 0; j < r.n; ++j) element(y[j], v[j]);
      } else {
        for (int64_t j = 0; j < r.n; ++j) element(y[j * r.to_step], v[j * r.from_step]);
      }
    }
  }
  static void base(const Runs& r, void* operand, const void* updates) { body(r, operand, updates); }
  SPRUCE_TARGET_V3 static void v3(const Runs& r, void* operand, const void* updates) {
    body(r, operand, updates);
  }
  static Loop best() {
    if constexpr (kIsSum)
      return pick<Loop>(&base, &v3, &v3);
    else
      return &base;
  }
};

// Single elements of an operand with one axis, in their order.
template <class Op, class T, class U>
struct CombinePlain {
  template <class I>
  static void loop(const Windows& w, T* x, const U* u) {
    const I* index = w.indices().as<I>();
    const int64_t n = w.positions.size(), last = w.last_place();
    const bool clip = w.clip();
    for (int64_t i = 0; i < n; ++i) {
      auto at = static_cast<int64_t>(index[i]);
      if (at < 0 || at > last) {
        if (!clip) continue;
        at = at < 0 ? 0 : last;
      }
      x[at] = Op::call(x[at], static_cast<T>(u[i]));
    }
  }

  static void run(const Windows& w, void* operand, const void* updates) {
    T* x = static_cast<T*>(operand);
    const U* u = static_cast<const U*>(updates);
    w.indices().dtype() == Dtype::kInt32 ? loop<int32_t>(w, x, u) : loop<int64_t>(w, x, u);
  }
  static constexpr PlainLoop best() {
    if constexpr (kFrequent<Op>)
      return &run;
    else
      return nullptr;
  }
};

// Where a scatter works, and how.
struct Work {
  Loop loop;
  ElementLoop elements;
  PlainLoop plain;  // or null
  char* operand;
  int64_t operand_bytes;  // of an element
  int64_t numel;
  const char* updates;
  int64_t update_bytes;
  const Windows* source;  // of the rows that are the updates; null where each has its own

  bool far() const { return numel * operand_bytes > kNear; }
  void run(const Runs& runs, int64_t to, int64_t from) const {
    loop(runs, operand + to * operand_bytes, updates + from * update_bytes);
  }
};

// The positions that are within the operand and belong to the share, in their order; how many.
int64_t keep_owned(const Share& share, int64_t* to, int64_t* from, int64_t count) {
  int64_t kept = 0;
  if (share.whole()) {
    int64_t lowest = 0;
    for (int64_t i = 0; i < count; ++i) lowest |= to[i];
    if (lowest >= 0) return count;
    for (int64_t i = 0; i < count; ++i) {
      to[kept] = to[i], from[kept] = from[i];
      kept += to[i] >= 0;
    }
    return kept;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = to[i];
    to[kept] = at, from[kept] = from[i];
    kept += static_cast<int64_t>(at >= 0) & static_cast<int64_t>(share.owns(at));
  }
  return kept;
}

// True for single elements of an operand with one axis, at one index each, i32 or i64.
bool is_plain(const Windows& w, const Work& work) {
  return work.plain != nullptr && work.source == nullptr && w.window.size() == 1 && w.one_key() &&
         !w.overlapping && w.last_place() >= 0 && w.positions.one_run() &&
         w.positions.operand_step() == 0 && w.key_stride() == 1 && w.positions.result_step() == 1 &&
         (w.indices().dtype() == Dtype::kInt32 || w.indices().dtype() == Dtype::kInt64);
}

// Those of a share, in their order, of windows for which are_elements() is true.
void scatter_elements(const Windows& w, const Share& share, const Work& work) {
  int32_t places[kElementBlock], to[kElementRoom], from[kElementRoom];
  for (int64_t at = 0; at < w.positions.size(); at += kElementBlock) {
    const int64_t count = std::min(kElementBlock, w.positions.size() - at);
    element_places(w, at, at + count, places);
    const int64_t kept = keep_elements(share, places, count, static_cast<int32_t>(at), to, from);
    work.elements({to, from, kept, work.far()}, work.operand, work.updates);
  }
}

struct Range {
  int64_t begin, end;
};

// The positions of a share in their order, and of their windows some of the steps.
void scatter_part(const Windows& w, const Share& share, const Work& work, Range positions,
                  Range steps) {
  constexpr int64_t kMostLines = 16;  // of a window that are asked for
  if (share.whole() && is_plain(w, work)) return work.plain(w, work.operand, work.updates);
  if (work.source == nullptr && are_elements(w, work.numel))
    return scatter_elements(w, share, work);
  const int64_t to_step = w.window.operand_step(), from_step = w.window.result_step();
  int64_t to[kBlock], from[kBlock];
  const auto runs = [&](const auto& f) { w.window.runs(steps.begin, steps.end, f); };
  for (int64_t at = positions.begin; at < positions.end; at += kBlock) {
    const int64_t located = std::min(kBlock, positions.end - at);
    w.locate(at, at + located, to, work.source == nullptr ? from : nullptr);
    if (work.source != nullptr) work.source->locate(at, at + located, from, nullptr);
    Runs r{
        to, from, keep_owned(share, to, from, located), 1, to_step, from_step, work.far() ? 1 : 0};
    if (w.overlapping) {  // one position after the other
      const int64_t count = r.count;
      r.count = 1;
      for (int64_t i = 0; i < count; ++i, ++r.to, ++r.from)
        runs([&](int64_t to_run, int64_t from_run, int64_t n) {
          r.n = n;
          work.run(r, to_run, from_run);
        });
    } else if (w.window.rows()) {
      runs([&](int64_t to_run, int64_t from_run, int64_t n) {
        r.n = n;
        r.lines = to_step == 1 ? std::min(kMostLines, ceil_div(n * work.operand_bytes, 64)) : 0;
        work.run(r, to_run, from_run);
      });
    } else {
      runs([&](int64_t to_run, int64_t from_run, int64_t n) {
        for (int64_t j = 0; j < n; ++j) work.run(r, to_run + j * to_step, from_run + j * from_step);
      });
    }
  }
}

// How many shares of the windows are worth a thread each, as a power of two.
int share_bits(int64_t work, int64_t window, bool elements) {
  // Each thread looks at all indices: of rows that takes little beside the rows, and of elements
  // many are looked at together.
  const int64_t grain = elements ? kElementGrain : window >= kRow ? kRowGrain : kGrain;
  int bits = 0;
  while ((2 << bits) <= threads() && (work >> bits) > grain) ++bits;
  return bits;
}

// Threads share out the operand or the window, never the updates of one element: their order is
// always the same.
void scatter_all(const Windows& w, const Work& work) {
  const int64_t positions = w.positions.size(), window = w.window.size();
  if (positions == 0 || window == 0) return;
  const Range all{0, positions}, whole{0, window};
  if (w.batches > 1) {
    const int64_t each = positions / w.batches;
    return parallel_for(w.batches, ceil_div(kBatchGrain, each * window),
                        [&](int64_t first, int64_t last) {
                          scatter_part(w, {}, work, {first * each, last * each}, whole);
                        });
  }
  if (w.overlapping && positions > 1) return scatter_part(w, {}, work, all, whole);
  const bool elements = work.source == nullptr && are_elements(w, work.numel);
  const int bits = positions >= window ? share_bits(positions * window, window, elements) : 0;
  // Two threads that look at every index of elements in the cache are no faster than one.
  if (bits > 1 || (bits > 0 && (work.far() || !is_plain(w, work)))) {
    constexpr int kLeast = 4, kMost = 12, kBlocks = 16;  // bits of a block; blocks of each share
    int block = kLeast;
    while (block < kMost && (work.numel >> (block + bits)) > kBlocks) ++block;
    parallel_pieces(int64_t{1} << bits, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part)
        scatter_part(w, {static_cast<int>(part), bits, block}, work, all, whole);
    });
    return;
  }
  parallel_for(window, std::max<int64_t>(64, kGrain / positions), [&](int64_t begin, int64_t end) {
    scatter_part(w, {}, work, all, {begin, end});
  });
}

template <class Op, class T, class U>
void scatter_as(const Windows& w, T* operand, int64_t numel, const U* updates,
                const Windows* source) {
  static const Loop loop = Combine<Op, T, U>::best();
  scatter_all(w, {loop, &Combine<Op, T, U>::elements, CombinePlain<Op, T, U>::best(),
                  reinterpret_cast<char*>(operand), sizeof(T), numel,
                  reinterpret_cast<const char*>(updates), sizeof(U), source});
}

// Halves are combined in f32, so that many small updates of one element are not lost.
template <class T>
size_t wide_bytes(const Shape& out) {
  return kIsHalf<T> ? bytes_of(out.numel()) : 0;
}

template <class Op, class T>
void combine_as(const Windows& w, const View& out, const void* updates, const Windows* source) {
  const T* u = static_cast<const T*>(updates);
  if constexpr (kIsHalf<T>) {
    T* const y = out.as<T>();
    const Workspace memory(wide_bytes<T>(out.shape()));
    float* const wide = memory.as<float>();
    const int64_t n = out.numel();
    widen(y, wide, n);
    scatter_as<Op>(w, wide, n, u, source);
    narrow(wide, y, n);
  } else {
    scatter_as<Op>(w, out.as<T>(), out.numel(), u, source);
  }
}

template <class Op>
void combine(const Windows& w, const View& out, const void* updates,
             const Windows* source = nullptr) {
  visit_dtype(out.dtype(), [&]<class T>(T) {
    combine_as<Op, decltype(computed_as<Op, T>())>(w, out, updates, source);
  });
}

template <class T>
void set_as(const Windows& w, const View& out, const void* updates) {
  scatter_as<Set>(w, out.as<T>(), out.numel(), static_cast<const T*>(updates), nullptr);
}

void set(const Windows& w, const View& out, const void* updates) {
  switch (size_of(out.dtype())) {
    case 1:
      return set_as<uint8_t>(w, out, updates);
    case 2:
      return set_as<uint16_t>(w, out, updates);
    case 4:
      return set_as<uint32_t>(w, out, updates);
    default:
      return set_as<uint64_t>(w, out, updates);
  }
}

// An input, in memory of its own if the output is about to overwrite it.
class Apart {
 public:
  Apart(const View& in, const View& out)
      : copy_(in.data == out.data ? static_cast<size_t>(in.aval->bytes()) : 0), view_(in) {
    if (copy_.data() == nullptr) return;
    std::memcpy(copy_.data(), in.data, static_cast<size_t>(in.aval->bytes()));
    view_.data = copy_.data();
  }
  const View& view() const { return view_; }

 private:
  Workspace copy_;
  View view_;
};

// The output begins as the operand.
void copy_operand(const View& operand, const View& out) {
  if (operand.data == out.data) return;
  parallel_for(operand.aval->bytes(), kGrain * 8, [&](int64_t begin, int64_t end) {
    std::memcpy(out.as<char>() + begin, operand.as<char>() + begin,
                static_cast<size_t>(end - begin));
  });
}

class Prepared final : public PreparedKernel {
 public:
  Prepared(const PrepareArgs& args, void (*kernel)(const KernelArgs&), bool sets)
      : kernel_(kernel) {
    if (sets) return;
    visit_dtype(args.out[0]->dtype,
                [&]<class T>(T) { bytes_ = workspace_size(wide_bytes<T>(args.out[0]->shape)); });
  }
  void run(const KernelArgs& args) const override {
    const WorkspaceRegion region(args.workspace, bytes_);
    kernel_(args);
  }
  size_t workspace_bytes() const override { return bytes_; }
  // In the memory of the others it would take copies of them.
  bool in_place(size_t in, size_t) const override { return in == 0; }

 private:
  void (*kernel_)(const KernelArgs&);
  size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<const PreparedKernel> prepare_scatter(const PrepareArgs& args,
                                                      void (*kernel)(const KernelArgs&),
                                                      bool sets) {
  return std::make_unique<const Prepared>(args, kernel, sets);
}

void scatter(const KernelArgs& args, ScatterOp op) {
  const View &operand = args.in[0], &out = args.out[0];
  const Apart indices_apart(args.in[1], out), updates_apart(args.in[2], out);
  const View &indices = indices_apart.view(), &updates = updates_apart.view();
  copy_operand(operand, out);
  const Windows w(args.params.get<GatherParams>(), operand.shape(), indices, updates.shape());
  switch (op) {
    case ScatterOp::kSet:
      return set(w, out, updates.data);
    case ScatterOp::kAdd:
      return combine<Add>(w, out, updates.data);
    case ScatterOp::kMul:
      return combine<Mul>(w, out, updates.data);
    case ScatterOp::kMin:
      return combine<Min>(w, out, updates.data);
    case ScatterOp::kMax:
      return combine<Max>(w, out, updates.data);
  }
}

void scatter_add_rows_kernel(const KernelArgs& args) {
  const View &operand = args.in[0], &out = args.out[0];
  const Apart indices_apart(args.in[1], out), source_apart(args.in[2], out),
      places_apart(args.in[3], out);
  const View &indices = indices_apart.view(), &source = source_apart.view();
  copy_operand(operand, out);
  const auto& p = args.params.get<ScatterAddRowsParams>();
  const Shape updates = p.updates(operand.shape(), indices.shape());
  const Windows w(p.scatter(operand.shape(), indices.shape()), operand.shape(), indices, updates);
  const Windows from(p.gather(source.shape(), indices.shape()), source.shape(), places_apart.view(),
                     updates);
  combine<Add>(w, out, source.data, &from);
}

}  // namespace spruce::cpu
