// SPDX-License-Identifier: Apache-2.0
// The input is transposed, a sample or some rows of one at a time, so that its features are
// neighbours, with its padding. Then no window needs to be gathered: for each tap (where taps are
// neighbours, for a row of them) the terms of a sum are a dense run of it. The window is transposed
// likewise; a tile holds some cells of a row of the output and some vectors of its features. Where
// the input is dilated, the cells fall into phases that meet different taps, each a convolution of
// the dense input.
#include "spruce/core/cpu/conv/conv_over_channels.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/conv/channels_last_input.h"
#include "spruce/core/cpu/conv/conv_weight_grad.h"
#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/cpu/gemm/lane_tiles.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr double kLeast = 1 << 16;      // multiply-adds below which packing takes the time
constexpr int64_t kFewCells = 64;       // for which it does not pay to pack the weights
constexpr int64_t kRowsNear = 1 << 16;  // floats of the input and output of some rows, about
constexpr int64_t kTransposed = 1024;  // features in and out whose weights are transposed at a time
constexpr int64_t kOuts = 128;         // of the output, where each has its weights together

// The cells r, r + dilation, ... of the output along axis d, and the taps that meet elements there.
struct Phase {
  int64_t cells, tap, taps;
  int64_t place;           // of the first tap for the first cell
  int64_t step, tap_step;  // between the places of neighbouring cells, taps

  Phase(const ConvPlan& c, int d, int64_t r) {
    const int64_t dilation = c.dilation[d];
    cells = r < c.out[d] ? ceil_div(c.out[d] - r, dilation) : 0;
    tap = ((c.low[d] - r) % dilation + dilation) % dilation;
    taps = tap < c.window[d] ? ceil_div(c.window[d] - tap, dilation) : 0;
    place = (r - c.low[d] + tap) / dilation;
    step = c.stride[d];
    tap_step = c.window_dilation[d];
  }
  bool empty() const { return cells == 0 || taps == 0; }
};

// The taps of a phase that meet elements of the input for its cell u, not places in the padding.
struct Range {
  int64_t begin, end;

  Range(const ConvPlan& c, int d, const Phase& f, int64_t u) {
    const int64_t place = f.place + u * f.step;
    begin = place < 0 ? ceil_div(-place, f.tap_step) : 0;
    end = place < c.in[d] ? std::min(f.taps, ceil_div(c.in[d] - place, f.tap_step)) : 0;
  }
  bool empty() const { return begin >= end; }
};

class Forward {
 public:
  // For so many threads, which share the rows of few samples.
  Forward(const ConvPlan& c, const float* lhs, const float* rhs, float* out, int64_t threads)
      : c_(c),
        lhs_(lhs),
        rhs_(rhs),
        out_(out),
        width_(whole_vectors(c.out_features)),
        tile_(ceil_div(c.out[2], c.dilation[2]), width_ / lane_tiles().lanes) {
    // Rows of cells at a time: `dilation` of them share their places.
    const int64_t rows = ceil_div(c.out[1], c.dilation[1]);
    const double row = static_cast<double>(c.out[0]) * static_cast<double>(c.out[2]) *
                           static_cast<double>(width_ * c.dilation[1]) +
                       static_cast<double>(c.in[0]) * static_cast<double>(c.in[2]) *
                           static_cast<double>(c.in_features * c.stride[1]);
    const auto fit = std::max<int64_t>(1, static_cast<int64_t>(kRowsNear / row));
    const int64_t pieces = std::min(threads, static_cast<int64_t>(c.work() / kThread));
    blocks_ = std::clamp(ceil_div(pieces, c.groups * c.batch), ceil_div(rows, fit), rows);
    block_ = ceil_div(rows, blocks_);
    // A row of taps is one run where that keeps the runs short.
    merged_ = c.dilation[2] == 1 && c.window_dilation[2] == 1 &&
              c.window[2] * c.in_features * tile_.columns * lane_tiles().lanes <= kTermsNear;
    inner_ = merged_ ? c.window[2] * c.in_features : c.in_features;
  }

  bool fits() const {
    double places = static_cast<double>(c_.in_features);
    for (int d = 0; d < 3; ++d) {
      const double cells = static_cast<double>(d == 1 ? block_ : c_.out[d]),
                   taps = static_cast<double>(c_.window[d]);
      places *= cells * static_cast<double>(c_.stride[d]) +
                taps * static_cast<double>(c_.window_dilation[d]);
    }
    const double most = static_cast<double>(kMostTransposed);
    return places <= most && static_cast<double>(weights()) <= most &&
           static_cast<double>(cells_of_block() * width_) <= most;
  }

  size_t workspace() const {
    return workspace_size(bytes_of(c_.groups * weights())) +
           std::max(workspace_size(transposed_bytes()), block_workspace());
  }

  void run() const {
    const Workspace memory(bytes_of(c_.groups * weights()));
    pack_weights(memory.as<float>());
    const int64_t items = c_.groups * c_.batch * blocks_;
    const auto grain = std::max<int64_t>(
        1, static_cast<int64_t>(kThread * static_cast<double>(items) / std::max(c_.work(), 1.0)));
    parallel_pieces(items, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        block(i / blocks_ / c_.batch, i / blocks_ % c_.batch, i % blocks_, memory.as<float>());
    });
  }

 private:
  int64_t weights() const { return c_.window_size() * c_.in_features * width_; }
  int64_t cells_of_block() const {
    return c_.out[0] * std::min(block_ * c_.dilation[1], c_.out[1]) * c_.out[2];
  }
  size_t block_workspace() const {
    size_t places = 0, plane = 0;
    for (int64_t b = 0; b < blocks_; ++b) {
      const Places p = places_of(b);
      places = std::max(places, workspace_size(bytes_of(floats(p))));
      plane = std::max(plane, channels_last_workspace(c_, p, c_.in_features));
    }
    return places + plane + workspace_size(bytes_of(cells_of_block() * width_)) +
           workspace_size(Runs::bytes(c_.window_size()));
  }
  int64_t floats(const Places& p) const { return p.count() * c_.in_features; }

  // weights[tap, in, out], the taps in the order in which windows are read, a few features at a
  // time, whose rows the caches hold.
  void pack_weights(float* to) const {
    const int64_t wide = outs_transposed(), high = kTransposed / wide,
                  outs = ceil_div(c_.out_features, wide), ins = ceil_div(c_.in_features, high);
    const double piece = static_cast<double>(kTransposed * c_.window_size());
    parallel_pieces(c_.groups * outs * ins,
                    std::max<int64_t>(1, static_cast<int64_t>(65536 / piece)),
                    [&](int64_t begin, int64_t end) {
                      const Workspace memory(transposed_bytes());
                      for (int64_t n = begin; n < end; ++n)
                        pack_some(n / ins / outs, n / ins % outs * wide, n % ins * high,
                                  memory.as<float>(), to);
                    });
  }

  int64_t outs_transposed() const {
    return c_.rhs_in == c_.window_size() ? kOuts : kTransposed / 2;
  }
  size_t transposed_bytes() const { return bytes_of(kTransposed * c_.window_size()); }

  // The features from o of the output and from i of the input on.
  void pack_some(int64_t g, int64_t o, int64_t i, float* memory, float* all) const {
    static const TransposeLoop loop = transpose_loop(sizeof(float));
    const int64_t taps = c_.window_size(), outs = std::min(outs_transposed(), c_.out_features - o),
                  ins = std::min(kTransposed / outs_transposed(), c_.in_features - i);
    const float* const from = rhs_ + g * c_.rhs_group + o * c_.rhs_out + i * c_.rhs_in;
    // memory[in, tap, out]
    if (c_.rhs_in == taps) {
      loop(from, c_.rhs_out, memory, outs, ins * taps, outs);
    } else {
      for (int64_t k = 0; k < ins; ++k)
        loop(from + k * c_.rhs_in, c_.rhs_out, memory + k * taps * outs, outs, taps, outs);
    }
    float* const to = all + g * weights() + i * width_ + o;
    const int64_t filled = o + outs == c_.out_features ? width_ - o : outs;
    for (int64_t k = 0; k < ins; ++k) {
      for (int64_t t = 0; t < taps; ++t) {
        float* const at = to + ((c_.reversed ? taps - 1 - t : t) * c_.in_features + k) * width_;
        std::memcpy(at, memory + (k * taps + t) * outs, bytes_of(outs));
        std::memset(at + outs, 0, bytes_of(filled - outs));
      }
    }
  }

  int64_t phases(int d) const { return std::min(c_.dilation[d], c_.out[d]); }

  // What the windows of a block of rows read.
  Places places_of(int64_t b) const {
    Places p;
    for (int d = 0; d < 3; ++d) {
      int64_t first = 0, last = -1;
      bool any = false;
      for (int64_t r = 0; r < phases(d); ++r) {
        const Phase f(c_, d, r);
        const int64_t begin = d == 1 ? b * block_ : 0,
                      end = d == 1 ? std::min(begin + block_, f.cells) : f.cells;
        if (f.empty() || begin >= end) continue;
        const int64_t low = f.place + begin * f.step,
                      high = f.place + (end - 1) * f.step + (f.taps - 1) * f.tap_step;
        first = any ? std::min(first, low) : low, last = any ? std::max(last, high) : high;
        any = true;
      }
      p.first[d] = first, p.size[d] = last - first + 1;
    }
    return p;
  }

  void block(int64_t g, int64_t n, int64_t b, const float* weights_of_all) const {
    static const TransposeLoop loop = transpose_loop(sizeof(float));
    const Places places = places_of(b);
    const int64_t top = b * block_ * c_.dilation[1],
                  rows = std::min(c_.out[1] - top, block_ * c_.dilation[1]),
                  slice = rows * c_.out[2];
    const Workspace x(bytes_of(floats(places))), y(bytes_of(c_.out[0] * slice * width_));
    Runs runs(c_.window_size());
    copy_channels_last(c_, places, lhs_ + g * c_.lhs_group + n * c_.lhs_batch, c_.in_features,
                       c_.lhs_feature, x.as<float>());
    if (!c_.dense()) std::memset(y.data(), 0, bytes_of(c_.out[0] * slice * width_));
    for (int64_t r = 0; r < phases(0); ++r) {
      for (int64_t s = 0; s < phases(1); ++s) {
        for (int64_t t = 0; t < phases(2); ++t) {
          const Phase f[3] = {{c_, 0, r}, {c_, 1, s}, {c_, 2, t}};
          if (f[0].empty() || f[1].empty() || f[2].empty()) continue;
          phase(f, b, places, x.as<float>(), weights_of_all + g * weights(),
                y.as<float>() + ((r * rows + s) * c_.out[2] + t) * width_, rows, runs);
        }
      }
    }
    float* const out = out_ + g * c_.out_group + n * c_.out_batch + top * c_.out[2];
    for (int64_t u = 0; u < c_.out[0]; ++u)
      loop(y.as<float>() + u * slice * width_, width_, out + u * c_.out[1] * c_.out[2],
           c_.out_feature, c_.out_features, slice);
  }

  // `y` begins with the first cell of the phase in the block, whose slices have `rows` rows.
  void phase(const Phase* f, int64_t b, const Places& places, const float* x, const float* weights,
             float* y, int64_t rows, Runs& runs) const {
    const int64_t begin = b * block_, end = std::min(begin + block_, f[1].cells);
    const int64_t deep = f[0].cells, features = c_.in_features;
    const auto at = [&](int64_t i, int64_t j, int64_t k) {
      return ((i * places.size[1] + j) * places.size[2] + k) * features;
    };
    runs.count = 0;
    for (int64_t i = 0; i < f[0].taps; ++i) {
      for (int64_t j = 0; j < f[1].taps; ++j) {
        for (int64_t k = 0; k < (merged_ ? 1 : f[2].taps); ++k) {
          const int64_t tap =
              ((f[0].tap + i * c_.dilation[0]) * c_.window[1] + f[1].tap + j * c_.dilation[1]) *
                  c_.window[2] +
              f[2].tap + k * c_.dilation[2];
          runs.add(at(i * f[0].tap_step, j * f[1].tap_step, k * f[2].tap_step),
                   tap * features * width_);
        }
      }
    }
    const LaneTiles& tiles = lane_tiles();
    const int64_t vectors = width_ / tiles.lanes,
                  near = std::max<int64_t>(1, kTermsNear / (inner_ * tile_.columns * tiles.lanes));
    const float* const origin =
        x + at(f[0].place - places.first[0], f[1].place + begin * f[1].step - places.first[1],
               f[2].place - places.first[2]);
    // Of the taps those that meet a row of the input, for each row of cells.
    const int64_t across = merged_ ? 1 : f[2].taps, row_of_runs = f[1].taps * across;
    evenly(vectors, tile_.columns, [&](int64_t v, int64_t wide) {
      for (int64_t block = 0; block < runs.count; block += near) {
        for (int64_t line = 0; line < deep * (end - begin); ++line) {
          const int64_t i = line / (end - begin), j = line % (end - begin);
          const Range slices(c_, 0, f[0], i), taps(c_, 1, f[1], begin + j);
          const float* const from = origin + at(i * f[0].step, j * f[1].step, 0);
          float* const to =
              y + (i * c_.dilation[0] * rows + j * c_.dilation[1]) * c_.out[2] * width_;
          const auto tile_row = [&](const LaneSum& sum, bool add) {
            evenly(f[2].cells, tile_.rows, [&](int64_t cell, int64_t high) {
              tiles.tile[1][high - 1][wide - 1](
                  sum, from + cell * f[2].step * features, f[2].step * features,
                  weights + v * tiles.lanes, tiles.lanes,
                  to + cell * c_.dilation[2] * width_ + v * tiles.lanes, c_.dilation[2] * width_,
                  tiles.lanes, add);
            });
          };
          const auto sum_of = [&](int64_t first, int64_t last) {
            return LaneSum{last - first,         inner_, runs.rows() + first,
                           runs.lanes() + first, 1,      width_};
          };
          const int64_t lowest = slices.begin * row_of_runs + taps.begin * across;
          if (slices.empty() || taps.empty()) {
            if (block == 0) tile_row(sum_of(0, 0), false);
            continue;
          }
          for (int64_t s = slices.begin; s < slices.end; ++s) {
            const int64_t first = std::max(block, s * row_of_runs + taps.begin * across),
                          last = std::min(block + near, s * row_of_runs + taps.end * across);
            if (first < last) tile_row(sum_of(first, last), first > lowest);
          }
        }
      }
    });
  }

  const ConvPlan& c_;
  const float *lhs_, *rhs_;
  float* out_;
  int64_t width_;  // features of the output in whole vectors
  LaneTileSize tile_;
  int64_t blocks_, block_, inner_;
  bool merged_;
};

bool takes(const ConvPlan& c) {
  if (c.batch * c.out_size() < kFewCells) return false;
  for (int d = 0; d < 3; ++d) {
    // Phases have short rows of cells: with few features by them, columns added up are faster.
    const bool dilated = c.dilation[d] > 1;
    if (dilated && (c.stride[d] > 1 || c.window_dilation[d] > 1)) return false;
    if (dilated && 2 * c.out_features < lane_tiles().lanes) return false;
  }
  return Forward(c, nullptr, nullptr, nullptr, 1).fits();
}

}  // namespace

size_t conv_over_channels_workspace(const ConvPlan& c) {
  if (c.work() < kLeast) return 0;
  if (is_weight_grad(c)) return conv_weight_grad_workspace(c);
  // One thread has the largest blocks.
  return takes(c) ? Forward(c, nullptr, nullptr, nullptr, 1).workspace() : 0;
}

bool conv_over_channels(const ConvPlan& c, const float* lhs, const float* rhs, float* out) {
  if (c.work() < kLeast) return false;
  if (is_weight_grad(c)) return conv_weight_grad(c, lhs, rhs, out);
  if (!takes(c)) return false;
  Forward(c, lhs, rhs, out, threads()).run();
  return true;
}

}  // namespace spruce::cpu
