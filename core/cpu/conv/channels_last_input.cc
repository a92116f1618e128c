// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/conv/channels_last_input.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/gemm/lane_tiles.h"
#include "spruce/core/cpu/transpose.h"

namespace spruce::cpu {
namespace {

// Part of an axis of the input: the places begin..end of `size` are the elements from `from` on.
struct Inside {
  int64_t begin, end, from;

  Inside(const ConvPlan& c, const Places& p, int d)
      : begin(std::clamp<int64_t>(-p.first[d], 0, p.size[d])),
        end(std::clamp(c.in[d] - p.first[d], begin, p.size[d])),
        from(begin + p.first[d]) {}
  int64_t count() const { return end - begin; }
};

// Rows that need no padding are transposed together; short ones also, and then copied to where they
// belong.
bool whole_rows(const ConvPlan& c, const Places& p) {
  return p.first[2] == 0 && p.size[2] == c.in[2];
}

int64_t plane_floats(const ConvPlan& c, const Places& p, int64_t features) {
  constexpr int64_t kShort = 16;
  if (whole_rows(c, p) || c.in[2] >= kShort) return 0;
  return Inside(c, p, 1).count() * c.in[2] * features;
}

}  // namespace

size_t channels_last_workspace(const ConvPlan& c, const Places& p, int64_t features) {
  return workspace_size(bytes_of(plane_floats(c, p, features)));
}

void copy_channels_last(const ConvPlan& c, const Places& p, const float* x, int64_t features,
                        int64_t step, float* to) {
  static const TransposeLoop loop = transpose_loop(sizeof(float));
  const Inside slices(c, p, 0), rows(c, p, 1), row(c, p, 2);
  const Workspace plane(bytes_of(plane_floats(c, p, features)));
  const bool whole = whole_rows(c, p);
  const int64_t line = p.size[2] * features, slice = p.size[1] * line;
  const auto zeros = [](float* at, int64_t n) { std::memset(at, 0, bytes_of(n)); };
  zeros(to, slices.begin * slice);
  for (int64_t i = slices.begin; i < slices.end; ++i) {
    float* const y = to + i * slice;
    const float* const from =
        x + ((slices.from + i - slices.begin) * c.in[1] + rows.from) * c.in[2];
    zeros(y, rows.begin * line);
    zeros(y + rows.end * line, (p.size[1] - rows.end) * line);
    float* const transposed = whole ? y + rows.begin * line : plane.as<float>();
    if (transposed != nullptr)
      loop(from, step, transposed, features, rows.count() * c.in[2], features);
    for (int64_t j = 0; j < rows.count() && !whole; ++j) {
      float* const at = y + (rows.begin + j) * line;
      zeros(at, row.begin * features);
      zeros(at + row.end * features, (p.size[2] - row.end) * features);
      float* const begin = at + row.begin * features;
      if (transposed != nullptr)
        std::memcpy(begin, transposed + (j * c.in[2] + row.from) * features,
                    bytes_of(row.count() * features));
      else
        loop(from + j * c.in[2] + row.from, step, begin, features, row.count(), features);
    }
  }
  zeros(to + slices.end * slice, (p.size[0] - slices.end) * slice);
}

}  // namespace spruce::cpu
