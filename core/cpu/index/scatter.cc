// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/index/combining.h"
#include "spruce/core/cpu/index/elements.h"
#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/row_copy.h"
#include "spruce/core/cpu/visit_bits.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/scatter_add_rows.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

using combining::Add, combining::Combine, combining::Loop, combining::Max, combining::Min,
    combining::Mul, combining::RowLoop, combining::Rows, combining::Runs, combining::Set,
    combining::computed_as;

constexpr int64_t kGrain = 131072;        // elements that are worth a thread of their own
constexpr int64_t kRowGrain = 32768;      // the same where windows have at least kRow elements
constexpr int64_t kElementGrain = 65536;  // and where are_elements() is true
constexpr int64_t kBatchGrain = 16384;    // and of batches, which no two threads share
constexpr int64_t kRow = 16;
constexpr int64_t kBlock = 512;     // positions that are located at once
constexpr int64_t kNear = 1 << 18;  // bytes of an operand that is in the cache soon

// Where a scatter works, and how.
struct Work {
  Loop loop;
  RowLoop rows;   // of windows that are elements or short rows, else null
  bool may_wait;  // rows of which many change the same elements are better left to `loop`
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

struct Range {
  int64_t begin, end;
};

// The positions that are within the operand and belong to the share, in their order; how many.
int64_t keep_owned(const Share& share, int64_t* to, int64_t* from, int64_t count) {
  int64_t kept = 0;
  if (share.whole()) {
    if (none_negative(to, count)) return count;
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

// Whether all of n indices are places from 0 to the last one.
bool are_places(const int32_t* index, int64_t n, int64_t last) {
  const auto highest = static_cast<uint32_t>(last);
  uint32_t outside = 0;
  for (int64_t i = 0; i < n; ++i)
    outside |= static_cast<uint32_t>(static_cast<uint32_t>(index[i]) > highest);
  return outside == 0;
}

// Some positions of a share of windows for which are_rows() is true, in their order. Indices that
// are places already are taken where they stand.
void scatter_rows(const Windows& w, const Share& share, const Work& work, Range positions) {
  int32_t places[kElementBlock], to[kElementRoom], from[kElementRoom];
  constexpr int64_t kMostPlace = std::numeric_limits<int32_t>::max();
  const int64_t row = w.window.size();
  const bool may_be_places =
      share.whole() && w.one_key() && w.key_stride() == row && w.indices().dtype() == Dtype::kInt32;
  for (int64_t at = positions.begin; at < positions.end; at += kElementBlock) {
    const int64_t count = std::min(kElementBlock, positions.end - at);
    const int32_t* const index = may_be_places ? w.indices().as<int32_t>() + at : nullptr;
    Rows rows{index, nullptr, count};
    if (index == nullptr || !are_places(index, count, w.last_place())) {
      row_places(w, at, at + count, places);
      rows.to = places;
      if (row > 1 || !share.whole() || !are_places(places, count, kMostPlace))
        rows = {to, from, keep_elements(share, places, count, 0, to, from)};
    }
    work.rows(rows, work.operand, work.updates + at * row * work.update_bytes);
  }
}

// Whether many positions in a row change the same elements, as far as the first ones tell.
bool have_one_place(const Windows& w, Range positions) {
  constexpr int64_t kMany = 64;
  if (positions.end - positions.begin <= kMany) return false;
  int64_t first = 0, later = 0;
  w.locate(positions.begin, positions.begin + 1, &first, nullptr);
  w.locate(positions.begin + kMany, positions.begin + kMany + 1, &later, nullptr);
  return first == later;
}

// The positions of a share in their order, and of their windows some of the steps.
void scatter_part(const Windows& w, const Share& share, const Work& work, Range positions,
                  Range steps) {
  constexpr int64_t kMostLines = 16;  // of a window that are asked for
  const bool whole = steps.begin == 0 && steps.end == w.window.size();
  if (whole && work.rows != nullptr && !(work.may_wait && have_one_place(w, positions)))
    return scatter_rows(w, share, work, positions);
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
        const bool asks = to_step == 1 && (work.far() || work.source != nullptr);
        r.lines = asks ? std::min(kMostLines, ceil_div(n * work.operand_bytes, kLineBytes)) : 0;
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

// std::is_sorted, in vectors: a block at a time is looked at to its end.
template <class I>
bool rises(const I* index, int64_t n) {
  constexpr int64_t kLook = 1024;
  for (int64_t at = 1; at < n; at += kLook) {
    const int64_t end = std::min(n, at + kLook);
    I falls = 0;
    for (int64_t i = at; i < end; ++i) falls |= static_cast<I>(index[i] < index[i - 1]);
    if (falls != 0) return false;
  }
  return true;
}

// Whether no position changes elements in front of those of the position before it.
bool is_sorted(const Windows& w) {
  if (!w.one_key() || !w.one_list()) return false;
  const auto sorted = [&]<class I>(I) {
    const I* const index = w.indices().as<I>();
    if (w.wrap() != 0 && w.positions.size() > 0 && index[0] < 0) return false;
    return rises(index, w.positions.size());
  };
  const Dtype dtype = w.indices().dtype();
  return dtype == Dtype::kInt32 ? sorted(int32_t()) : dtype == Dtype::kInt64 && sorted(int64_t());
}

// Sorted positions, in pieces between which the elements that they change differ.
void scatter_sorted(const Windows& w, const Work& work, int64_t pieces, Range window) {
  const int64_t positions = w.positions.size();
  const auto first_of = [&](int64_t piece) {
    int64_t at = positions * piece / pieces;
    for (int64_t places[2]; at > 0 && at < positions; ++at) {
      w.locate(at - 1, at + 1, places, nullptr);
      if (places[0] != places[1]) break;
    }
    return at;
  };
  parallel_pieces(pieces, 1, [&](int64_t first, int64_t last) {
    scatter_part(w, {}, work, {first_of(first), first_of(last)}, window);
  });
}

// Threads share out the operand, sorted positions or the window, never the updates of one element:
// their order is always the same.
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
  const bool elements = work.rows != nullptr && window == 1;
  const int bits = positions >= window ? share_bits(positions * window, window, elements) : 0;
  if (bits > 0 && !elements && !w.overlapping && is_sorted(w))
    return scatter_sorted(w, work, int64_t{1} << bits, whole);
  // Two threads that look at every index of elements or short rows in the cache are no faster than
  // one.
  if (bits > 1 || (bits > 0 && (work.far() || work.rows == nullptr))) {
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
  const RowLoop rows = source == nullptr && are_rows(w, numel)
                           ? Combine<Op, T, U>::rows_of(w.window.size())
                           : nullptr;
  const bool may_wait = Combine<Op, T, U>::kIsSum && w.window.size() >= combining::kLeastWaiting;
  scatter_all(w, {loop, rows, may_wait, reinterpret_cast<char*>(operand), sizeof(T), numel,
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

// True if many of an operand's rows are overwritten, each at one index, so that the output is best
// written row by row, if it is not the operand: the operand's row or the last update of it.
bool sets_many_rows(const Windows& w, const Aval& out) {
  constexpr int64_t kLeastBytes = 64, kShare = 4;  // of a row; a quarter of the rows
  const int64_t row = w.window.size(), rows = w.last_place() + 1;
  return w.one_key() && w.one_list() && !w.overlapping && w.window.one_row() &&
         w.key_stride() == row && row * size_of(out.dtype) >= kLeastBytes &&
         rows * row == out.shape.numel() && w.positions.size() * kShare >= rows;
}

size_t set_many_rows_bytes(const Windows& w) { return bytes_of<int64_t>(w.last_place() + 1); }

void set_many_rows(const Windows& w, const View& operand, const View& out, const View& updates) {
  const int64_t row = w.window.size(), rows = w.last_place() + 1, size = size_of(out.dtype());
  const Workspace memory(set_many_rows_bytes(w));
  int64_t* const updated_by = memory.as<int64_t>();
  std::fill_n(updated_by, rows, -1);
  int64_t to[kBlock], from[kBlock];
  for (int64_t at = 0; at < w.positions.size(); at += kBlock) {
    const int64_t count = std::min(kBlock, w.positions.size() - at);
    w.locate(at, at + count, to, from);
    for (int64_t i = 0; i < count; ++i)
      if (to[i] >= 0) updated_by[to[i] / row] = from[i];
  }
  const int64_t bytes = row * size;
  parallel_for(rows, std::max<int64_t>(1, kRowGrain / row), [&](int64_t begin, int64_t end) {
    const RowCopy copy{updates.as<char>(),
                       updated_by + begin,
                       end - begin,
                       size,
                       bytes,
                       operand.as<char>() + begin * bytes};
    copy_rows(copy, end - begin, out.as<char>() + begin * bytes, bytes);
  });
}

void set(const Windows& w, const View& out, const void* updates) {
  visit_bits(size_of(out.dtype()), [&]<class T>(T) { set_as<T>(w, out, updates); });
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
    if (sets) {
      const Windows w(args.params.get<GatherParams>(), args.in[0]->shape, {nullptr, args.in[1]},
                      args.in[2]->shape);
      if (sets_many_rows(w, *args.out[0])) bytes_ = workspace_size(set_many_rows_bytes(w));
      return;
    }
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
  const Windows w(args.params.get<GatherParams>(), operand.shape(), indices, updates.shape());
  if (op == ScatterOp::kSet && operand.data != out.data && sets_many_rows(w, *out.aval))
    return set_many_rows(w, operand, out, updates);
  copy_operand(operand, out);
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
