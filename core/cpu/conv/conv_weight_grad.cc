// SPDX-License-Identifier: Apache-2.0
// The input is transposed, a sample at a time (channels_last_input.h). A tile holds some features
// of the output and some vectors of a row of the input that one row of taps meets, and sums over
// all cells.
#include "spruce/core/cpu/conv/conv_weight_grad.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/conv/channels_last_input.h"
#include "spruce/core/cpu/gemm/lane_tiles.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

// Of the gradient of the window, which each part of the samples writes whole:
constexpr double kPart = 1 << 25;       // multiply-adds of a part, at least
constexpr double kSmallPart = 1 << 21;  // the same where there are at most kFewParts
constexpr double kPerSum = 256;         // multiply-adds for each element of a partial sum, at least
constexpr double kFewParts = 4;
constexpr double kParts = 16;      // parts at most
constexpr int64_t kFewTerms = 64;  // for which it does not pay to turn the input

// In the words of Conv its batch are the features of the input, its features the samples, its
// window the gradient of the output, and its output the gradient of the window.
class ToWindow {
 public:
  ToWindow(const ConvPlan& c, const float* lhs, const float* rhs, float* out)
      : c_(c),
        lhs_(lhs),
        rhs_(rhs),
        out_(out),
        merged_(c.stride[2] == 1),
        lines_(c.out[0] * c.out[1] * (merged_ ? 1 : c.out[2])),
        line_((merged_ ? c.out[2] : 1) * c.batch),
        width_(whole_vectors(line_)),
        tile_(c.out_features, width_ / lane_tiles().lanes) {
    const double work = c.work() / static_cast<double>(c.groups),
                 sums = kPerSum * static_cast<double>(c.out_features * c.batch * c.out_size()),
                 few = std::min(kFewParts, work / std::max(kSmallPart, sums)),
                 many = std::min(kParts, work / std::max(kPart, sums));
    parts_ = std::clamp<int64_t>(static_cast<int64_t>(std::max(few, many)), 1,
                                 std::max<int64_t>(c.in_features, 1));
    for (int d = 0; d < 3; ++d) {
      places_.first[d] = -c.low[d];
      places_.size[d] = c.reach(d);
    }
  }

  bool fits() const {
    const double most = static_cast<double>(kMostTransposed);
    return static_cast<double>(c_.batch) * c_.places() <= most &&
           static_cast<double>(sums()) <= most;
  }

  size_t workspace() const {
    return workspace_size(bytes_of(c_.groups * parts_ * sums())) + workspace_size(places_bytes()) +
           channels_last_workspace(c_, places_, c_.batch) +
           workspace_size(Runs::bytes(c_.window[0] * c_.window[1]));
  }

  void run() const {
    const Workspace memory(bytes_of(c_.groups * parts_ * sums()));
    parallel_pieces(c_.groups * parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        part(i / parts_, i % parts_, memory.as<float>() + i * sums());
    });
    for (int64_t g = 0; g < c_.groups; ++g) finish(g, memory.as<float>() + g * parts_ * sums());
  }

 private:
  int64_t sums() const { return lines_ * c_.out_features * width_; }
  // Vectors at the end of a line may read beyond the last place.
  size_t places_bytes() const { return bytes_of(places_.count() * c_.batch + width_ - line_); }

  // The sum over the samples of a part, as [line, feature of the output, place and feature].
  void part(int64_t g, int64_t index, float* sum) const {
    const Workspace x(places_bytes());
    std::memset(x.as<float>() + places_.count() * c_.batch, 0, bytes_of(width_ - line_));
    Runs runs(c_.window[0] * c_.window[1]);
    for (int64_t i = 0; i < c_.window[0]; ++i) {
      for (int64_t j = 0; j < c_.window[1]; ++j)
        runs.add((i * c_.window[1] + j) * c_.window[2],
                 at(i * c_.window_dilation[0], j * c_.window_dilation[1], 0));
    }
    const int64_t first = index * c_.in_features / parts_,
                  last = (index + 1) * c_.in_features / parts_;
    for (int64_t n = first; n < last; ++n) {
      copy_channels_last(c_, places_, lhs_ + g * c_.lhs_group + n * c_.lhs_feature, c_.batch,
                         c_.lhs_batch, x.as<float>());
      for (int64_t l = 0; l < lines_; ++l)
        line(l, runs, x.as<float>(), rhs_ + g * c_.rhs_group + n * c_.rhs_in,
             sum + l * c_.out_features * width_, n > first);
    }
  }

  void line(int64_t l, const Runs& runs, const float* x, const float* gradient, float* sum,
            bool add) const {
    const LaneTiles& tiles = lane_tiles();
    const int64_t across = merged_ ? 1 : c_.out[2];
    const int64_t k = l % across, j = l / across % c_.out[1], i = l / across / c_.out[1];
    const float* const from = x + at(i * c_.stride[0], j * c_.stride[1], k * c_.stride[2]);
    const int64_t near =
        std::max<int64_t>(1, kTermsNear / (c_.window[2] * tile_.columns * tiles.lanes));
    evenly(width_ / tiles.lanes, tile_.columns, [&](int64_t v, int64_t wide) {
      for (int64_t first = 0; first < runs.count; first += near) {
        const LaneSum s{std::min(near, runs.count - first),
                        c_.window[2],
                        runs.rows() + first,
                        runs.lanes() + first,
                        1,
                        c_.window_dilation[2] * c_.batch};
        evenly(c_.out_features, tile_.rows, [&](int64_t o, int64_t high) {
          tiles.tile[1][high - 1][wide - 1](
              s, gradient + o * c_.rhs_out, c_.rhs_out, from + v * tiles.lanes, tiles.lanes,
              sum + o * width_ + v * tiles.lanes, width_, tiles.lanes, add || first > 0);
        });
      }
    });
  }

  int64_t at(int64_t i, int64_t j, int64_t k) const {
    return ((i * places_.size[1] + j) * places_.size[2] + k) * c_.batch;
  }

  // The result from the sums of all parts of a group.
  void finish(int64_t g, float* parts) const {
    for (int64_t p = 1; p < parts_; ++p) {
      for (int64_t i = 0; i < sums(); ++i) parts[i] += parts[p * sums() + i];
    }
    const int64_t taps = line_ / c_.batch;
    for (int64_t o = 0; o < c_.out_features; ++o) {
      for (int64_t i = 0; i < c_.batch; ++i) {
        float* const to = out_ + g * c_.out_group + i * c_.out_batch + o * c_.out_feature;
        for (int64_t l = 0; l < lines_; ++l) {
          const float* const from = parts + (l * c_.out_features + o) * width_ + i;
          for (int64_t k = 0; k < taps; ++k) to[l * taps + k] = from[k * c_.batch];
        }
      }
    }
  }

  const ConvPlan& c_;
  const float *lhs_, *rhs_;
  float* out_;
  bool merged_;  // neighbouring taps meet neighbouring places
  int64_t lines_, line_, width_;
  LaneTileSize tile_;
  Places places_;
  int64_t parts_;
};

// Without the operands: for what does not read them.
bool takes(const ConvPlan& c) {
  return c.in_features * c.window_size() >= kFewTerms &&
         ToWindow(c, nullptr, nullptr, nullptr).fits();
}

}  // namespace

bool is_weight_grad(const ConvPlan& c) {
  return !c.reversed && c.dense() && c.window_size() > c.out_size();
}

size_t conv_weight_grad_workspace(const ConvPlan& c) {
  return takes(c) ? ToWindow(c, nullptr, nullptr, nullptr).workspace() : 0;
}

bool conv_weight_grad(const ConvPlan& c, const float* lhs, const float* rhs, float* out) {
  if (!takes(c)) return false;
  ToWindow(c, lhs, rhs, out).run();
  return true;
}

}  // namespace spruce::cpu
