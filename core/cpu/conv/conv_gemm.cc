// SPDX-License-Identifier: Apache-2.0
// Convolutions as matrix products: forward over windows gathered into columns, with a dilated input
// by adding the columns of a product into the output, and with a window larger than the output (the
// gradient of a window) sample by sample.
#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/conv/conv.h"
#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/cpu/index/places.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kColumnBytes = 1 << 18;  // of columns gathered at a time
constexpr int64_t kChunks = 16;            // partial sums over samples that threads make at most

// row[cell] = x[place], zero where there is none.
template <class T>
void gather_line(const Line& line, int64_t first, const T* x, T* row) {
  if (line.dilation == 1) {
    const Run run = run_of(first, line.step, line.in, line.cells);
    std::fill(row, row + run.begin, T{});
    const T* from = x + first + run.begin * line.step;
    if (line.step == 1) {
      for (int64_t i = run.begin; i < run.end; ++i) row[i] = from[i - run.begin];
    } else {
      for (int64_t i = run.begin; i < run.end; ++i) row[i] = from[(i - run.begin) * line.step];
    }
    std::fill(row + run.end, row + line.cells, T{});
    return;
  }
  std::fill(row, row + line.cells, T{});
  each_place(line, first, [&](int64_t cell, int64_t at) { row[cell] = x[at]; });
}

// The place of tap k (as it stands in memory) for cell 0.
int64_t tap_place(const ConvPlan& c, int d, int64_t k) {
  return (c.reversed ? c.window[d] - 1 - k : k) * c.window_dilation[d] - c.low[d];
}

int64_t element_of(const ConvPlan& c, int d, int64_t at) {  // or -1
  return element_at(at, c.dilation[d], c.in[d]);
}

// columns[(i, k), p] for the features i and the rows first..last of out cells (a row is a line of
// the last axis).
template <class T>
void gather_columns(const ConvPlan& c, const T* x, int64_t first, int64_t last, T* columns) {
  const Line line{c.in[2], c.dilation[2], c.out[2], c.stride[2]};
  T* to = columns;
  for (int64_t i = 0; i < c.in_features; ++i) {
    for (int64_t a = 0; a < c.window[0]; ++a) {
      for (int64_t b = 0; b < c.window[1]; ++b) {
        for (int64_t k = 0; k < c.window[2]; ++k) {
          const int64_t place = tap_place(c, 2, k);
          for (int64_t r = first; r < last; ++r, to += c.out[2]) {
            const int64_t y = element_of(c, 0, r / c.out[1] * c.stride[0] + tap_place(c, 0, a));
            const int64_t z = element_of(c, 1, r % c.out[1] * c.stride[1] + tap_place(c, 1, b));
            if (y < 0 || z < 0)
              std::fill(to, to + c.out[2], T{});
            else
              gather_line(line, place, x + i * c.lhs_feature + (y * c.in[1] + z) * c.in[2], to);
          }
        }
      }
    }
  }
}

Gemm product(int64_t m, int64_t n, int64_t k) {
  Gemm g;
  g.m = m, g.n = n, g.k = k;
  return g;
}

// The rows of the output that forward() computes at a time.
template <class T>
struct Blocks {
  int64_t rows, block, count;

  explicit Blocks(const ConvPlan& c) : rows(c.out[0] * c.out[1]) {
    const int64_t row = c.in_features * c.window_size() * c.out[2];
    block = std::clamp<int64_t>(
        kColumnBytes / std::max<int64_t>(1, row * static_cast<int64_t>(sizeof(T))), 1, rows);
    count = (rows + block - 1) / block;
  }
};

// The product of forward() for so many cells of the output.
Gemm forward_product(const ConvPlan& c, int64_t cells) {
  Gemm m = product(c.out_features, cells, c.in_features * c.window_size());
  m.a_row = c.rhs_out, m.a_col = 1;
  m.b_row = c.pointwise() ? c.lhs_feature : cells;
  m.c_row = c.out_feature;
  return m;
}

template <class T>
size_t forward_workspace(const ConvPlan& c) {
  const Blocks<T> blocks(c);
  size_t most = 0;
  for (const int64_t rows : {blocks.block, blocks.rows - (blocks.count - 1) * blocks.block}) {
    const Gemm m = forward_product(c, rows * c.out[2]);
    const size_t columns = c.pointwise() ? 0 : bytes_of<T>(m.k * m.n);
    most = std::max(most, workspace_size(columns) + gemm_workspace(dtype_of<T>(), m));
  }
  return most;
}

// rhs is [groups, out, in, window] in memory order of (in, window).
template <class T>
void forward(const ConvPlan& c, const T* lhs, const T* rhs, T* out) {
  const Blocks<T> cut(c);
  const int64_t rows = cut.rows, block = cut.block, blocks = cut.count;
  const bool direct = c.pointwise();
  const auto item = [&](int64_t index) {
    const int64_t b = index % blocks, n = index / blocks % c.batch, g = index / blocks / c.batch;
    const T* x = lhs + g * c.lhs_group + n * c.lhs_batch;
    const int64_t first = b * block, last = std::min(rows, first + block);
    Gemm m = forward_product(c, (last - first) * c.out[2]);
    m.a = rhs + g * c.rhs_group;
    m.c = out + g * c.out_group + n * c.out_batch + first * c.out[2];
    if (direct) {
      m.b = x + first * c.out[2];
      return gemm(dtype_of<T>(), m);
    }
    const Workspace memory(bytes_of<T>(m.k * m.n));
    gather_columns(c, x, first, last, memory.as<T>());
    m.b = memory.data();
    gemm(dtype_of<T>(), m);
  };
  const int64_t items = c.groups * c.batch * blocks;
  if (items == 1) return item(0);
  const auto grain = static_cast<int64_t>(
      std::max(1.0, 64 * kThread * static_cast<double>(items) / std::max(c.work(), 1.0)));
  parallel_for(items * 64, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin / 64; i < (end + 63) / 64; ++i) item(i);
  });
}

Gemm spread_product(const ConvPlan& c) {
  Gemm m = product(c.out_features * c.window_size(), c.in_size(), c.in_features);
  m.a_row = 1, m.a_col = c.rhs_in;
  m.b_row = c.lhs_feature;
  m.c_row = m.n;
  return m;
}

template <class T>
size_t spread_workspace(const ConvPlan& c) {
  const Gemm m = spread_product(c);
  return workspace_size(bytes_of<T>(m.m * m.n)) + gemm_workspace(dtype_of<T>(), m);
}

// With stride 1: columns[(o, k), p] = sum over i of rhs[o, i, k] lhs[i, p], each added to the cell
// of the output that tap k of the window brings together with element p of the input. rhs is
// [groups, in, out, window] in memory.
template <class T>
void spread(const ConvPlan& c, const T* lhs, const T* rhs, T* out) {
  const auto item = [&](int64_t index) {
    const int64_t n = index % c.batch, g = index / c.batch;
    T* const y = out + g * c.out_group + n * c.out_batch;
    for (int64_t o = 0; o < c.out_features; ++o)
      std::fill(y + o * c.out_feature, y + o * c.out_feature + c.out_size(), T{});
    Gemm m = spread_product(c);
    if (m.n == 0) return;
    const Workspace memory(bytes_of<T>(m.m * m.n));
    m.a = rhs + g * c.rhs_group;
    m.b = lhs + g * c.lhs_group + n * c.lhs_batch;
    m.c = memory.data();
    gemm(dtype_of<T>(), m);
    const T* from = memory.as<T>();
    const Line line{c.out[2], 1, c.in[2],
                    c.dilation[2]};  // element p goes to cell p dilation - place
    for (int64_t o = 0; o < c.out_features; ++o) {
      for (int64_t a = 0; a < c.window[0]; ++a) {
        for (int64_t b = 0; b < c.window[1]; ++b) {
          for (int64_t k = 0; k < c.window[2]; ++k) {
            for (int64_t r = 0; r < c.in[0] * c.in[1]; ++r, from += c.in[2]) {
              const int64_t u = r / c.in[1] * c.dilation[0] - tap_place(c, 0, a),
                            v = r % c.in[1] * c.dilation[1] - tap_place(c, 1, b);
              if (u < 0 || u >= c.out[0] || v < 0 || v >= c.out[1]) continue;
              T* const to = y + o * c.out_feature + (u * c.out[1] + v) * c.out[2];
              each_place(line, -tap_place(c, 2, k),
                         [&](int64_t p, int64_t cell) { to[cell] += from[p]; });
            }
          }
        }
      }
    }
  };
  const int64_t items = c.groups * c.batch;
  parallel_for(items * 64, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin / 64; i < (end + 63) / 64; ++i) item(i);
  });
}

// The features of by_samples() in partial sums.
int64_t chunks_of(const ConvPlan& c) {
  return c.work() < 4 * kThread ? 1 : std::min(kChunks, c.in_features);
}

// Of one feature of the input, whose windows are [cells, taps].
Gemm samples_product(const ConvPlan& c) {
  Gemm m = product(c.out_features, c.batch * c.out_size(), c.window_size());
  m.a_row = c.rhs_out;
  m.b_row = 1, m.b_col = m.k;
  return m;
}

// Of the partial sums.
template <class T>
size_t chunks_bytes(const ConvPlan& c) {
  const int64_t chunks = chunks_of(c);
  return chunks == 1 ? 0 : bytes_of<T>(c.groups * chunks * c.out_features * c.batch * c.out_size());
}

template <class T>
size_t samples_workspace(const ConvPlan& c) {
  const Gemm m = samples_product(c);
  return workspace_size(chunks_bytes<T>(c)) + workspace_size(bytes_of<T>(m.n * m.k)) +
         gemm_workspace(dtype_of<T>(), m);
}

// out[o, (n, p)] = sum over i of rhs[o, i, :] . windows[(n, p), :] for out with the cells of (n, p)
// as neighbours.
template <class T>
void by_samples(const ConvPlan& c, const T* lhs, const T* rhs, T* out) {
  const int64_t cells = c.batch * c.out_size(), chunks = chunks_of(c),
                size = c.out_features * cells;
  // Line p of the windows runs over the taps of the last axis.
  const Line line{c.in[2], c.dilation[2], c.window[2], c.window_dilation[2]};
  const auto chunk = [&](int64_t g, int64_t first, int64_t last, T* sums, int64_t sums_row) {
    Gemm m = samples_product(c);
    const Workspace memory(bytes_of<T>(m.n * m.k));
    for (int64_t i = first; i < last; ++i) {
      T* to = memory.as<T>();
      for (int64_t cell = 0; cell < cells; ++cell) {
        const int64_t p = cell % c.out_size(), p2 = p % c.out[2], p1 = p / c.out[2] % c.out[1],
                      p0 = p / c.out[2] / c.out[1];
        const T* x = lhs + g * c.lhs_group + i * c.lhs_feature + cell / c.out_size() * c.lhs_batch;
        for (int64_t a = 0; a < c.window[0]; ++a) {
          for (int64_t b = 0; b < c.window[1]; ++b, to += c.window[2]) {
            const int64_t y = element_of(c, 0, p0 * c.stride[0] + tap_place(c, 0, a));
            const int64_t z = element_of(c, 1, p1 * c.stride[1] + tap_place(c, 1, b));
            if (y < 0 || z < 0) {
              std::fill(to, to + c.window[2], T{});
            } else if (!c.reversed) {
              gather_line(line, p2 * c.stride[2] + tap_place(c, 2, 0),
                          x + (y * c.in[1] + z) * c.in[2], to);
            } else {
              for (int64_t k = 0; k < c.window[2]; ++k) {
                const int64_t at = element_of(c, 2, p2 * c.stride[2] + tap_place(c, 2, k));
                to[k] = at < 0 ? T{} : x[(y * c.in[1] + z) * c.in[2] + at];
              }
            }
          }
        }
      }
      m.a = rhs + g * c.rhs_group + i * c.rhs_in;
      m.b = memory.data();
      m.c = sums, m.c_row = sums_row;
      m.accumulate = i > first;
      gemm(dtype_of<T>(), m);
    }
  };
  if (chunks == 1) {
    parallel_for(c.groups * 64, 64, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin / 64; g < (end + 63) / 64; ++g)
        chunk(g, 0, c.in_features, out + g * c.out_group, c.out_feature);
    });
    return;
  }
  const Workspace memory(chunks_bytes<T>(c));
  parallel_for(c.groups * chunks * 64, 64, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin / 64; t < (end + 63) / 64; ++t) {
      const int64_t g = t / chunks, q = t % chunks;
      chunk(g, q * c.in_features / chunks, (q + 1) * c.in_features / chunks,
            memory.as<T>() + t * size, cells);
    }
  });
  for (int64_t g = 0; g < c.groups; ++g) {
    for (int64_t o = 0; o < c.out_features; ++o) {
      T* const to = out + g * c.out_group + o * c.out_feature;
      const T* from = memory.as<T>() + g * chunks * size + o * cells;
      std::copy(from, from + cells, to);
      for (int64_t q = 1; q < chunks; ++q) {
        for (int64_t j = 0; j < cells; ++j) to[j] += from[q * size + j];
      }
    }
  }
}

// The window with its axes in the order [groups, x, y, window], where x is the outputs if
// `outputs_first`.
template <class T>
struct Windows {
  Workspace memory;
  const T* data;

  Windows(ConvPlan& c, const T* rhs, bool outputs_first)
      : memory(bytes(c, outputs_first)), data(rhs) {
    if (memory.data() == nullptr) return;
    data = memory.as<T>();
    const Shape sizes{c.groups, outputs_first ? c.out_features : c.in_features,
                      outputs_first ? c.in_features : c.out_features, c.window_size()};
    const Shape strides{c.rhs_group, outputs_first ? c.rhs_out : c.rhs_in,
                        outputs_first ? c.rhs_in : c.rhs_out, 1};
    copy_strided(sizes, {memory.data(), row_major_strides(sizes)}, {const_cast<T*>(rhs), strides},
                 sizeof(T));
    order(c, outputs_first);
  }

  // Of the copy, 0 where there is none.
  static size_t bytes(const ConvPlan& c, bool outputs_first) {
    return outputs_first == dense_outputs_first(c)
               ? 0
               : bytes_of<T>(c.groups * c.out_features * c.in_features * c.window_size());
  }
  // The strides of the copy.
  static void order(ConvPlan& c, bool outputs_first) {
    const int64_t taps = c.window_size();
    c.rhs_group = c.out_features * c.in_features * taps;
    (outputs_first ? c.rhs_out : c.rhs_in) =
        (outputs_first ? c.in_features : c.out_features) * taps;
    (outputs_first ? c.rhs_in : c.rhs_out) = taps;
  }

  // True if memory has the order [out, in, window] within a group, false if [in, out, window].
  static bool dense_outputs_first(const ConvPlan& c) { return c.rhs_in == c.window_size(); }
};

enum class Way { kSamples, kSpread, kForward };

Way way_of(const ConvPlan& c) {
  const bool unit_stride = c.stride[0] == 1 && c.stride[1] == 1 && c.stride[2] == 1;
  const bool rows_of_out = c.out_batch == c.out_size() || c.batch == 1;
  if (rows_of_out && c.window_size() > c.out_size() && c.in_features > 0 && c.window_size() > 0)
    return Way::kSamples;
  return unit_stride && !c.dense() ? Way::kSpread : Way::kForward;
}

}  // namespace

template <class T>
void conv_by_gemm(const ConvPlan& problem, const T* lhs, const T* rhs, T* out) {
  ConvPlan c = problem;
  const Way way = way_of(c);
  if (way == Way::kSamples) {
    by_samples(c, lhs, rhs, out);
  } else if (way == Way::kSpread) {
    const Windows<T> w(c, rhs, false);
    spread(c, lhs, w.data, out);
  } else {
    const Windows<T> w(c, rhs, true);
    forward(c, lhs, w.data, out);
  }
}

template <class T>
size_t conv_by_gemm_workspace(const ConvPlan& problem) {
  ConvPlan c = problem;
  const Way way = way_of(c);
  if (way == Way::kSamples) return samples_workspace<T>(c);
  const bool outputs_first = way == Way::kForward;
  const size_t windows = Windows<T>::bytes(c, outputs_first);
  if (windows > 0) Windows<T>::order(c, outputs_first);
  return workspace_size(windows) +
         (outputs_first ? forward_workspace<T>(c) : spread_workspace<T>(c));
}

template size_t conv_by_gemm_workspace<float>(const ConvPlan& c);
template size_t conv_by_gemm_workspace<double>(const ConvPlan& c);
template void conv_by_gemm<float>(const ConvPlan& c, const float* lhs, const float* rhs,
                                  float* out);
template void conv_by_gemm<double>(const ConvPlan& c, const double* lhs, const double* rhs,
                                   double* out);

}  // namespace spruce::cpu
