// SPDX-License-Identifier: Apache-2.0
// The operands are transposed into arrays with the lanes innermost, the input with its padding;
// then each output element of 16 samples is one vector, and a tile of them is summed in registers.
#include "spruce/core/cpu/conv/conv_over_batch.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/gemm/lane_tiles.h"
#include "spruce/core/cpu/index/places.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

constexpr double kLeast = 1 << 14;    // multiply-adds below which transposing takes the time
constexpr int64_t kMemory = 1 << 22;  // floats of transposed operands at most
constexpr int64_t kParts = 16;        // partial sums over samples at most
constexpr int64_t kNear = 6144;       // floats of an operand that stay in the nearest cache

enum class Form { kSamples, kGroups, kSum };

// Lanes along one axis of an array and the planes of the others, at `first * i + second * j`.
struct Planes {
  int64_t lane, firsts, first, seconds, second, size;
};

// A convolution whose lanes are chosen. Offsets of transposed arrays are in floats.
struct LaneLayout {
  const ConvPlan& c;
  Form form;
  int64_t lanes, count;            // in one block; of all blocks
  int64_t samples;                 // each with blocks of its own
  int64_t batch, in_features;      // of one lane
  int64_t padded[3], padded_size;  // the places that windows read
  Planes lhs, rhs;
  int64_t out_lane;
  LaneTileSize tile;
  bool places_in_rows;  // the rows of tiles are places, not features

  int64_t blocks() const { return (count + lanes - 1) / lanes; }
  int64_t lhs_floats() const { return lhs.firsts * lhs.seconds * padded_size * lanes; }
  int64_t rhs_floats() const {
    return form == Form::kSamples ? 0 : rhs.firsts * rhs.seconds * rhs.size * lanes;
  }
  int64_t out_elements() const { return batch * c.out_features * c.out_size(); }
  // The result of one lane is dense, so that all of it is unpacked at once.
  bool dense() const {
    const int64_t last = (batch - 1) * c.out_batch + (c.out_features - 1) * c.out_feature;
    return form == Form::kSamples ? c.out_feature == c.out_size()
                                  : last + c.out_size() == out_elements();
  }
  // Where an output element stands in a lane.
  int64_t out_at(int64_t n, int64_t o) const {
    return (form == Form::kSamples ? 0 : n * c.out_batch) + o * c.out_feature;
  }
};

// Where features side by side (conv_over_channels.h) fill less of the lanes, or their tiles are
// small.
bool choose(const ConvPlan& c, Form* form) {
  if (c.work() < kLeast || c.places() > static_cast<double>(kMemory)) return false;
  const bool gradient = c.window_size() > c.out_size();
  if (!c.dense() && (gradient || c.groups == 1)) return false;
  if (c.groups > 1) {
    *form = Form::kGroups;
    return gradient ? filled(c.groups) >= 0.75 && c.out_features < 8 : filled(c.groups) >= 0.5;
  }
  if (gradient) {
    *form = Form::kSum;
    return filled(c.in_features) >= 0.5 &&
           filled(c.batch * (c.stride[2] == 1 ? c.out[2] : 1)) < 0.7;
  }
  *form = Form::kSamples;
  return filled(c.batch) >= std::max(0.5, filled(c.out_features)) &&
         c.out_features < 2 * lane_tiles().lanes;
}

LaneLayout lane_layout(const ConvPlan& c, Form form, int64_t lanes) {
  LaneLayout t{
      c,    form, lanes, 0, 1, c.batch, c.in_features, {}, 1, {}, {}, 0, {c.out_features, c.out[2]},
      false};
  for (int d = 0; d < 3; ++d) {
    t.padded[d] = c.reach(d);
    t.padded_size *= t.padded[d];
  }
  const LaneTileSize places(c.out[2], c.out_features);
  t.places_in_rows = form != Form::kSamples && places.reuse > t.tile.reuse;
  if (t.places_in_rows) t.tile = places;
  switch (form) {
    case Form::kSamples:
      t.count = c.batch, t.batch = 1, t.out_lane = c.out_batch;
      t.lhs = {c.lhs_batch, 1, 0, c.in_features, c.lhs_feature, c.in_size()};
      break;
    case Form::kGroups:
      t.count = c.groups, t.out_lane = c.out_group;
      if (c.window_size() <= c.out_size()) t.samples = c.batch, t.batch = 1;
      t.lhs = {c.lhs_group, t.batch, c.lhs_batch, c.in_features, c.lhs_feature, c.in_size()};
      t.rhs = {c.rhs_group, c.out_features, c.rhs_out, c.in_features, c.rhs_in, c.window_size()};
      break;
    case Form::kSum:
      t.count = c.in_features, t.in_features = 1;
      t.lhs = {c.lhs_feature, c.batch, c.lhs_batch, 1, 0, c.in_size()};
      t.rhs = {c.rhs_in, c.out_features, c.rhs_out, 1, 0, c.window_size()};
      break;
  }
  return t;
}

// Lanes of dense planes: to[(plane, element), lane]; zeros in the lanes from `count` on.
void pack_plane(const float* from, int64_t lane, int64_t size, int64_t count, int64_t lanes,
                float* to) {
  static const TransposeLoop loop = transpose_loop(sizeof(float));
  if (count < lanes) std::fill(to, to + size * lanes, 0.0f);
  loop(from, lane, to, lanes, size, count);
}

// The same with what windows read beyond the input, or between its elements, as zeros, and without
// what none reads.
void pad_plane(const LaneLayout& t, const float* plane, float* to) {
  const ConvPlan& c = t.c;
  const auto bytes = [&](int64_t places) { return static_cast<size_t>(places * t.lanes) * 4; };
  const Run run = run_of(-c.low[2], 1, dilated(c.in[2], c.dilation[2]), t.padded[2]);
  for (int64_t u = 0; u < t.padded[0]; ++u) {
    for (int64_t v = 0; v < t.padded[1]; ++v, to += t.padded[2] * t.lanes) {
      const int64_t y = element_at(u - c.low[0], c.dilation[0], c.in[0]),
                    z = element_at(v - c.low[1], c.dilation[1], c.in[1]);
      if (y < 0 || z < 0 || run.begin >= run.end) {
        std::memset(to, 0, bytes(t.padded[2]));
        continue;
      }
      const float* const row = plane + (y * c.in[1] + z) * c.in[2] * t.lanes;
      if (c.dilation[2] > 1) {
        std::memset(to, 0, bytes(t.padded[2]));
        for (int64_t i = 0; i < c.in[2]; ++i) {
          const int64_t place = c.low[2] + i * c.dilation[2];
          if (place >= run.begin && place < run.end)
            std::memcpy(to + place * t.lanes, row + i * t.lanes, bytes(1));
        }
        continue;
      }
      std::memset(to, 0, bytes(run.begin));
      std::memcpy(to + run.begin * t.lanes, row + (run.begin - c.low[2]) * t.lanes,
                  bytes(run.end - run.begin));
      std::memset(to + run.end * t.lanes, 0, bytes(t.padded[2] - run.end));
    }
  }
}

void pack_lhs(const LaneLayout& t, const float* lhs, int64_t count, float* plane, float* to) {
  bool whole = t.c.dense();
  for (int d = 0; d < 3; ++d) whole = whole && t.c.low[d] == 0 && t.padded[d] == t.c.in[d];
  for (int64_t i = 0; i < t.lhs.firsts; ++i) {
    for (int64_t j = 0; j < t.lhs.seconds; ++j, to += t.padded_size * t.lanes) {
      const float* const from = lhs + i * t.lhs.first + j * t.lhs.second;
      pack_plane(from, t.lhs.lane, t.lhs.size, count, t.lanes, whole ? to : plane);
      if (!whole) pad_plane(t, plane, to);
    }
  }
}

void pack_rhs(const LaneLayout& t, const float* rhs, int64_t count, float* to) {
  for (int64_t i = 0; i < t.rhs.firsts; ++i) {
    for (int64_t j = 0; j < t.rhs.seconds; ++j, to += t.rhs.size * t.lanes)
      pack_plane(rhs + i * t.rhs.first + j * t.rhs.second, t.rhs.lane, t.rhs.size, count, t.lanes,
                 to);
  }
}

// Runs of the sum: the rows of the window for each feature of the input, in the order of places.
class Runs {
 public:
  // `a` steps over one feature of the input and one element of the window.
  Runs(const LaneLayout& t, int64_t a_feature, int64_t a_element)
      : t_(t),
        most_(t.in_features * t.c.window[0] * t.c.window[1]),
        memory_(bytes(most_)),
        a_feature_(a_feature),
        a_element_(a_element) {}

  static size_t bytes(int64_t most) { return static_cast<size_t>(2 * most) * sizeof(int64_t); }
  int64_t* a() const { return memory_.as<int64_t>(); }
  int64_t* x() const { return memory_.as<int64_t>() + most_; }
  // Those with an element of the input for the windows of one row of the output (all: where it is
  // null).
  int64_t list(const int64_t* row) const {
    const ConvPlan& c = t_.c;
    int64_t n = 0;
    for (int64_t i = 0; i < t_.in_features; ++i) {
      for (int64_t k = 0; k < c.window[0]; ++k) {
        const int64_t u = k * c.window_dilation[0];
        if (row != nullptr && outside(0, row[0] * c.stride[0] + u)) continue;
        for (int64_t l = 0; l < c.window[1]; ++l) {
          const int64_t v = l * c.window_dilation[1];
          if (row != nullptr && outside(1, row[1] * c.stride[1] + v)) continue;
          const int64_t first = tap(0, k) * c.window[1] + tap(1, l);
          a()[n] = i * a_feature_ + (first * c.window[2] + tap(2, 0)) * a_element_;
          x()[n++] = ((i * t_.padded[0] + u) * t_.padded[1] + v) * t_.padded[2] * t_.lanes;
        }
      }
    }
    return n;
  }
  LaneSum sum(int64_t first, int64_t n) const {
    return {n,
            t_.c.window[2],
            a() + first,
            x() + first,
            t_.c.reversed ? -a_element_ : a_element_,
            t_.c.window_dilation[2] * t_.lanes};
  }

 private:
  bool outside(int d, int64_t place) const {
    return element_at(place - t_.c.low[d], t_.c.dilation[d], t_.c.in[d]) < 0;
  }
  int64_t tap(int d, int64_t k) const { return t_.c.reversed ? t_.c.window[d] - 1 - k : k; }

  const LaneLayout& t_;
  int64_t most_;
  Workspace memory_;
  int64_t a_feature_, a_element_;
};

// All features of a row of the output.
void row_tiles(const LaneLayout& t, const LaneSum& s, bool same, const float* a, int64_t a_row,
               const float* x, float* out, bool add) {
  const ConvPlan& c = t.c;
  const auto& tiles = lane_tiles().tile[same ? 1 : 0];
  const int64_t x_step = c.stride[2] * t.lanes, feature = c.out_feature * t.lanes;
  const LaneSum back{s.outer, s.inner, s.x_from, s.a_from, s.x_step, s.a_step};
  evenly(c.out[2], t.places_in_rows ? t.tile.rows : t.tile.columns, [&](int64_t p, int64_t wide) {
    evenly(c.out_features, t.places_in_rows ? t.tile.columns : t.tile.rows,
           [&](int64_t o, int64_t high) {
             const float *const from = a + o * a_row, *const places = x + p * x_step;
             float* const to = out + (t.out_at(0, o) + p) * t.lanes;
             if (t.places_in_rows)
               tiles[wide - 1][high - 1](back, places, x_step, from, a_row, to, t.lanes, feature,
                                         add);
             else
               tiles[high - 1][wide - 1](s, from, a_row, places, x_step, to, feature, t.lanes, add);
           });
  });
}

// f(number of the row, its place on the first two axes).
template <class F>
void each_row(const ConvPlan& c, const F& f) {
  for (int64_t r = 0; r < c.out[0] * c.out[1]; ++r) {
    const int64_t place[2] = {r / c.out[1], r % c.out[1]};
    f(r, place);
  }
}

int64_t row_start(const LaneLayout& t, int64_t n, const int64_t* place) {
  return ((n * t.in_features * t.padded[0] + place[0] * t.c.stride[0]) * t.padded[1] +
          place[1] * t.c.stride[1]) *
         t.padded[2] * t.lanes;
}

void samples_block(const LaneLayout& t, const Runs& runs, const float* x, const float* rhs,
                   float* out) {
  each_row(t.c, [&](int64_t r, const int64_t* place) {
    const LaneSum s = runs.sum(0, runs.list(place));
    row_tiles(t, s, true, rhs, t.c.rhs_out, x + row_start(t, 0, place),
              out + r * t.c.out[2] * t.lanes, false);
  });
}

// The window is long and the output short: parts of the sum stay in the nearest cache.
void gradient_block(const LaneLayout& t, const Runs& runs, int64_t all, const float* x,
                    const float* g, float* out, bool add) {
  const ConvPlan& c = t.c;
  const int64_t a_row = t.in_features * c.window_size() * t.lanes,
                each = std::max<int64_t>(1, kNear / (c.out_features * c.window[2] * t.lanes));
  for (int64_t first = 0; first < all; first += each) {
    const LaneSum s = runs.sum(first, std::min(each, all - first));
    for (int64_t n = 0; n < t.batch; ++n) {
      each_row(c, [&](int64_t r, const int64_t* place) {
        row_tiles(t, s, false, g, a_row, x + row_start(t, n, place),
                  out + (t.out_at(n, 0) + r * c.out[2]) * t.lanes, add || first > 0);
      });
    }
  }
}

// to[lane * step + j] = from[j, lane].
void unpack(const LaneLayout& t, const float* from, int64_t count, float* to, int64_t step) {
  static const TransposeLoop loop = transpose_loop(sizeof(float));
  loop(from, t.lanes, to, step, count, t.out_elements());
}

// Blocks first..last, each to its own part of the result; or all to one sum.
void run_blocks(const LaneLayout& t, const float* lhs, const float* rhs, int64_t first,
                int64_t last, float* out, float* sum) {
  const Workspace plane(bytes_of(t.c.in_size() * t.lanes)), x(bytes_of(t.lhs_floats())),
      g(bytes_of(t.rhs_floats())), y(sum != nullptr ? 0 : bytes_of(t.out_elements() * t.lanes));
  const bool samples = t.form == Form::kSamples;
  const Runs runs(t, samples ? t.c.rhs_in : t.c.window_size() * t.lanes, samples ? 1 : t.lanes);
  const int64_t all = samples ? 0 : runs.list(nullptr);
  for (int64_t index = first; index < last; ++index) {
    const int64_t n = index / t.blocks(), b = index % t.blocks(),
                  count = std::min(t.lanes, t.count - b * t.lanes);
    pack_lhs(t, lhs + n * t.c.lhs_batch + b * t.lanes * t.lhs.lane, count, plane.as<float>(),
             x.as<float>());
    if (samples) {
      samples_block(t, runs, x.as<float>(), rhs, y.as<float>());
    } else {
      pack_rhs(t, rhs + b * t.lanes * t.rhs.lane, count, g.as<float>());
      gradient_block(t, runs, all, x.as<float>(), g.as<float>(),
                     sum != nullptr ? sum : y.as<float>(), sum != nullptr && index > first);
    }
    if (sum == nullptr)
      unpack(t, y.as<float>(), count, out + n * t.c.out_batch + b * t.lanes * t.out_lane,
             t.out_lane);
  }
}

bool fits(const LaneLayout& t) {
  return t.dense() && t.lhs_floats() + t.rhs_floats() + t.out_elements() * t.lanes <= kMemory;
}

}  // namespace

size_t conv_over_batch_workspace(const ConvPlan& c) {
  Form form;
  if (!choose(c, &form)) return 0;
  const LaneLayout t = lane_layout(c, form, lane_tiles().lanes);
  if (!fits(t)) return 0;
  const int64_t size = t.out_elements() * t.lanes, parts = std::min(t.blocks(), kParts);
  const auto floats = [](int64_t n) { return workspace_size(bytes_of(n)); };
  const size_t block = floats(c.in_size() * t.lanes) + floats(t.lhs_floats()) +
                       floats(t.rhs_floats()) +
                       workspace_size(Runs::bytes(t.in_features * c.window[0] * c.window[1]));
  // The rows of a sum come when its blocks are done.
  return form == Form::kSum ? floats(parts * size) + std::max(block, floats(size))
                            : block + floats(size);
}

bool conv_over_batch(const ConvPlan& c, const float* lhs, const float* rhs, float* out) {
  Form form;
  if (!choose(c, &form)) return false;
  const LaneLayout t = lane_layout(c, form, lane_tiles().lanes);
  if (!fits(t)) return false;
  const int64_t size = t.out_elements() * t.lanes, blocks = t.blocks();
  if (form != Form::kSum) {
    parallel_pieces(t.samples * blocks, 1, [&](int64_t begin, int64_t end) {
      run_blocks(t, lhs, rhs, begin, end, out, nullptr);
    });
    return true;
  }
  const int64_t parts = std::min(blocks, kParts);
  const Workspace partial(bytes_of(parts * size));
  float* const sums = partial.as<float>();
  parallel_pieces(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      run_blocks(t, lhs, rhs, i * blocks / parts, (i + 1) * blocks / parts, nullptr,
                 sums + i * size);
  });
  for (int64_t i = 1; i < parts; ++i) {
    for (int64_t j = 0; j < size; ++j) sums[j] += sums[i * size + j];
  }
  const int64_t n = t.out_elements();
  const Workspace rows(bytes_of(size));
  unpack(t, sums, t.lanes, rows.as<float>(), n);
  std::fill(out, out + n, 0.0f);
  for (int64_t lane = 0; lane < t.lanes; ++lane) {
    for (int64_t j = 0; j < n; ++j) out[j] += rows.as<float>()[lane * n + j];
  }
  return true;
}

}  // namespace spruce::cpu
