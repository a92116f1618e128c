// SPDX-License-Identifier: Apache-2.0
// Nothing is transposed: a tap meets as many neighbouring elements of the input as a vector has
// lanes, read where they stand. Where windows reach over the edge, some rows of the input at a time
// are copied with their padding. A tile holds some features of the output and some vectors of
// cells.
#include "spruce/core/cpu/conv/conv_over_cells.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/conv/channels_last_input.h"
#include "spruce/core/cpu/conv/conv_over_batch.h"
#include "spruce/core/cpu/conv/conv_weight_grad.h"
#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/cpu/gemm/lane_tiles.h"
#include "spruce/core/cpu/index/places.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr double kLeast = 1 << 12;     // multiply-adds below which a call takes the time
constexpr int64_t kColumns = 4;        // vectors of a row that fill a tile
constexpr int64_t kNear = 1 << 16;     // floats of the input that a block reads, about
constexpr int64_t kLongRow = 1 << 12;  // cells of a row of a block at most

class OverCells {
 public:
  // For so many threads, which share the rows of few samples.
  OverCells(const ConvPlan& c, const float* lhs, const float* rhs, float* out, int64_t threads)
      : c_(c),
        lhs_(lhs),
        rhs_(rhs),
        out_(out),
        across_(ceil_div(c.out[2], kLongRow)),
        cells_(ceil_div(c.out[2], across_)),
        below_(cells_ < kColumns * lane_tiles().lanes && c.out[1] > 1),
        tile_(c.out_features, below_ ? c.out[1] : ceil_div(cells_, lane_tiles().lanes)) {
    for (int d = 0; d < 3; ++d)
      padded_ = padded_ || c.low[d] > 0 || c.reach(d) - c.low[d] > c.in[d];
    const int64_t row = c.in_features * c.window[0] * width() * c.stride[1],
                  pieces = std::min(threads, static_cast<int64_t>(c.work() / kThread)),
                  high = std::max<int64_t>(
                      1, ceil_div(pieces, c.groups * c.batch * c.out[0] * across_));
    rows_ = std::min(std::max<int64_t>(1, kNear / row), ceil_div(c.out[1], high));
    down_ = ceil_div(c.out[1], rows_);
    if (padded_) {
      row_ = width();
      slice_ = row_ * height();
      feature_ = slice_ * depth();
    } else {
      row_ = c.in[2], slice_ = row_ * c.in[1], feature_ = c.lhs_feature;
    }
  }

  int64_t copied() const { return padded_ ? feature_ * c_.in_features : 0; }
  int64_t runs() const { return c_.in_features * c_.window[0] * c_.window[1]; }

  void run() const {
    Runs runs(this->runs());
    for (int64_t f = 0; f < c_.in_features; ++f) {
      for (int64_t i = 0; i < c_.window[0]; ++i) {
        for (int64_t j = 0; j < c_.window[1]; ++j) {
          const int64_t first = (i * c_.window[1] + j) * c_.window[2],
                        tap = c_.reversed ? c_.window_size() - 1 - first : first;
          runs.add(f * c_.rhs_in + tap, f * feature_ + i * c_.window_dilation[0] * slice_ +
                                            j * c_.window_dilation[1] * row_);
        }
      }
    }
    const LaneSum sum{runs.count,   c_.window[2],         runs.rows(),
                      runs.lanes(), c_.reversed ? -1 : 1, c_.window_dilation[2]};
    const int64_t blocks = c_.groups * c_.batch * c_.out[0] * down_ * across_;
    const auto grain = std::max<int64_t>(
        1, static_cast<int64_t>(kThread * static_cast<double>(blocks) / std::max(c_.work(), 1.0)));
    parallel_pieces(blocks, grain, [&](int64_t begin, int64_t end) {
      const Workspace memory(bytes_of(copied()));
      for (int64_t b = begin; b < end; ++b) block(b, sum, memory.as<float>());
    });
  }

 private:
  // Of the input that the windows of a block meet.
  int64_t width() const { return cells_ + (c_.window[2] - 1) * c_.window_dilation[2]; }
  int64_t height() const {
    return (rows_ - 1) * c_.stride[1] + (c_.window[1] - 1) * c_.window_dilation[1] + 1;
  }
  int64_t depth() const { return (c_.window[0] - 1) * c_.window_dilation[0] + 1; }

  void block(int64_t b, const LaneSum& sum, float* memory) const {
    const int64_t a = b % across_, left = a * c_.out[2] / across_,
                  right = (a + 1) * c_.out[2] / across_, top = b / across_ % down_ * rows_,
                  slice = b / across_ / down_ % c_.out[0], sample = b / across_ / down_ / c_.out[0],
                  n = sample % c_.batch, g = sample / c_.batch;
    const int64_t first[3] = {slice * c_.stride[0] - c_.low[0], top * c_.stride[1] - c_.low[1],
                              left - c_.low[2]};
    const float* const lhs = lhs_ + g * c_.lhs_group + n * c_.lhs_batch;
    if (padded_) copy(lhs, first, memory);
    const float* const x = padded_ ? memory : lhs + first[0] * slice_ + first[1] * row_ + first[2];
    float* const y =
        out_ + g * c_.out_group + n * c_.out_batch + (slice * c_.out[1] + top) * c_.out[2] + left;
    const float* const weights = rhs_ + g * c_.rhs_group;
    const int64_t rows = std::min(rows_, c_.out[1] - top), cells = right - left,
                  lanes = lane_tiles().lanes, step = c_.stride[1] * row_;
    if (!below_) {
      for (int64_t j = 0; j < rows; ++j) row(sum, weights, x + j * step, y + j * c_.out[2], cells);
      return;
    }
    evenly(rows, tile_.columns, [&](int64_t j, int64_t high) {
      for (int64_t v = 0; v < cells; v += lanes) {
        const int64_t at = std::min(v, cells - lanes);
        tile(sum, weights, x + j * step + at, y + j * c_.out[2] + at, {high, step, c_.out[2]});
      }
    });
  }

  // The places from `first` on, with zeros for those outside of the input.
  void copy(const float* lhs, const int64_t* first, float* to) const {
    const Run inside = run_of(first[2], 1, c_.in[2], row_);
    for (int64_t f = 0; f < c_.in_features; ++f) {
      for (int64_t u = 0; u < depth(); ++u) {
        for (int64_t v = 0; v < height(); ++v, to += row_) {
          const int64_t i = element_at(first[0] + u, 1, c_.in[0]),
                        j = element_at(first[1] + v, 1, c_.in[1]);
          const Run r = i < 0 || j < 0 ? Run{0, 0} : inside;
          std::fill_n(to, r.begin, 0.0f);
          if (r.begin < r.end)
            std::memcpy(
                to + r.begin,
                lhs + f * c_.lhs_feature + (i * c_.in[1] + j) * c_.in[2] + first[2] + r.begin,
                bytes_of(r.end - r.begin));
          std::fill_n(to + r.end, row_ - r.end, 0.0f);
        }
      }
    }
  }

  void row(const LaneSum& sum, const float* weights, const float* x, float* y,
           int64_t cells) const {
    const int64_t lanes = lane_tiles().lanes;
    // The last two vectors overlap, so that they end with the row.
    const int64_t rest = cells % lanes, vectors = cells / lanes - (rest > 0 ? 1 : 0);
    if (vectors > 0)
      evenly(vectors, tile_.columns, [&](int64_t v, int64_t wide) {
        tile(sum, weights, x + v * lanes, y + v * lanes, {wide, lanes, lanes});
      });
    if (rest > 0) tile(sum, weights, x + vectors * lanes, y + vectors * lanes, {2, rest, rest});
  }

  // Vectors beside or below each other.
  struct Columns {
    int64_t count, x_step, y_step;
  };
  void tile(const LaneSum& sum, const float* weights, const float* x, float* y,
            const Columns& columns) const {
    const LaneTiles& tiles = lane_tiles();
    const int64_t most = std::min<int64_t>(tile_.rows, tiles.rows(static_cast<int>(columns.count)));
    evenly(c_.out_features, most, [&](int64_t o, int64_t high) {
      tiles.tile[1][high - 1][columns.count - 1](sum, weights + o * c_.rhs_out, c_.rhs_out, x,
                                                 columns.x_step, y + o * c_.out_feature,
                                                 c_.out_feature, columns.y_step, false);
    });
  }

  const ConvPlan& c_;
  const float *lhs_, *rhs_;
  float* out_;
  int64_t across_;       // blocks beside each other,
  int64_t cells_;        // each with so many cells of a row at most
  int64_t down_, rows_;  // blocks below each other, and their rows
  bool below_;           // the columns of tiles are below each other, not beside
  LaneTileSize tile_;
  bool padded_ = false;
  int64_t row_, slice_, feature_;  // steps of what the tiles read
};

// Whether this takes less time than the other ways, by measurement (docs/decisions/0013): terms in
// full lanes cost about 1.15 of theirs, and 1.5 where tiles are of a few narrow rows and one
// feature; putting features side by side takes a third of a vector for each element.
bool gains(const ConvPlan& c) {
  const auto terms = static_cast<double>(c.in_features * c.window_size()),
             outs = static_cast<double>(c.out_features),
             width = static_cast<double>(whole_vectors(c.out_features)),
             lanes = static_cast<double>(lane_tiles().lanes), cells = filled(c.out[2]);
  const bool narrow = static_cast<double>(c.out[2]) < kColumns * lanes;
  if (conv_over_batch_workspace(c) > 0)
    return cells > (narrow ? 1.5 : 1.15) * filled(c.groups > 1 ? c.groups : c.batch);
  return 1.15 * outs * terms / cells <
         width * terms + lanes / 3 * (static_cast<double>(c.in_features) + width);
}

bool takes(const ConvPlan& c) {
  if (c.work() < kLeast || !c.dense() || c.stride[2] > 1 || is_weight_grad(c)) return false;
  constexpr double kMost = 1e15;  // places, whose products with small numbers fit an integer
  if (c.out[2] < lane_tiles().lanes || c.places() * static_cast<double>(c.in_features) > kMost ||
      !gains(c))
    return false;
  return OverCells(c, nullptr, nullptr, nullptr, 1).copied() <= kMostTransposed;
}

}  // namespace

size_t conv_over_cells_workspace(const ConvPlan& c) {
  if (!takes(c)) return 0;
  const OverCells one_thread(c, nullptr, nullptr, nullptr, 1);
  return workspace_size(Runs::bytes(one_thread.runs())) +
         workspace_size(bytes_of(one_thread.copied()));
}

bool conv_over_cells(const ConvPlan& c, const float* lhs, const float* rhs, float* out) {
  if (!takes(c)) return false;
  OverCells(c, lhs, rhs, out, threads()).run();
  return true;
}

}  // namespace spruce::cpu
