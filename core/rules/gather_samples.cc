// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/gather.h"

namespace spruce::rules {
namespace {

struct GatherCase {
  Shape operand;
  Shape indices;
  std::vector<double> values;  // of the indices
  GatherParams params;
  Shape result;
};

std::vector<GatherCase> cases() {
  const auto take = [](const Shape& x, int axis, const Shape& i, bool clip = true,
                       bool wraps = false) {
    GatherParams p = take_params(x, axis, i.rank());
    p.clip = clip;
    p.wraps = wraps;
    return p;
  };
  return {
      // Rows, with one taken twice; columns; a single element; none at all.
      {{4, 3}, {3, 1}, {2, 0, 2}, take({4, 3}, 0, {3}), {3, 3}},
      {{2, 4}, {2, 2, 1}, {3, 1, 0, 3}, take({2, 4}, 1, {2, 2}), {2, 2, 2}},
      {{5}, {1}, {3}, take({5}, 0, {}), {}},
      {{4, 3}, {0, 1}, {}, take({4, 3}, 0, {0}), {0, 3}},
      {{0, 3}, {0, 1}, {}, take({0, 3}, 0, {0}), {0, 3}},
      // Outside: moved, or left out.
      {{4}, {3, 1}, {9, -2, 1}, take({4}, 0, {3}), {3}},
      {{4, 2}, {3, 1}, {9, -2, 1}, take({4, 2}, 0, {3}, false), {3, 2}},
      // Counted from the end, and what is outside still: rows, elements, two axes at once.
      {{4, 2}, {5, 1}, {-1, 0, -4, -5, 4}, take({4, 2}, 0, {5}, true, true), {5, 2}},
      {{4, 2}, {5, 1}, {-1, 0, -4, -5, 4}, take({4, 2}, 0, {5}, false, true), {5, 2}},
      {{5}, {6, 1}, {-5, -2, -1, 0, 3, 9}, take({5}, 0, {6}, true, true), {6}},
      {{5}, {4, 1}, {-6, -2, 2, 5}, take({5}, 0, {4}, false, true), {4}},
      {{3, 4},
       {3, 2},
       {-1, -4, 2, 3, -9, -2},
       GatherParams{{}, {0, 1}, {0, 1}, {}, {}, {1, 1}, true, true},
       {3}},
      {{6}, {2, 1}, {-3, -2}, GatherParams{{1}, {}, {0}, {}, {}, {3}, true, true}, {2, 3}},
      // One element for each row.
      {{3, 4}, {3, 2, 1}, {0, 3, 2, 2, 1, 0}, along_params({3, 4}, 1), {3, 2}},
      {{3, 2}, {1, 2, 1}, {2, 1}, GatherParams{{}, {0}, {0}, {1}, {1}, {1, 1}}, {1, 2}},
      // Two axes indexed at once; the axes of the positions in front, and in the middle.
      {{3, 2, 4},
       {3, 2},
       {0, 3, 2, 0, 0, 3},
       GatherParams{{1}, {0, 2}, {0, 2}, {}, {}, {1, 2, 1}},
       {3, 2}},
      {{2, 3, 2}, {2, 1}, {2, 0}, GatherParams{{0, 2}, {1}, {1}, {}, {}, {2, 1, 2}}, {2, 2, 2}},
      // Windows larger than one element, which overlap.
      {{6}, {2, 1}, {1, 3}, GatherParams{{1}, {}, {0}, {}, {}, {3}}, {2, 3}},
      {{3, 4}, {2}, {1, 2}, GatherParams{{0, 1}, {}, {0, 1}, {}, {}, {2, 2}}, {2, 2}},
      {{3, 4}, {2, 2}, {1, 9, -3, 1}, GatherParams{{0, 2}, {}, {1, 0}, {}, {}, {2, 3}}, {2, 2, 3}},
      // No index at all.
      {{2, 3}, {2, 0}, {}, GatherParams{{1, 2}, {}, {}, {}, {}, {2, 3}}, {2, 2, 3}},
  };
}

SampleInput floats(const Shape& shape) {
  SampleInput in;
  in.aval = Aval{Dtype::kFloat32, false, shape};
  return in;
}

SampleInput indices(const GatherCase& c) {
  SampleInput in;
  in.aval = Aval{Dtype::kInt32, false, c.indices};
  in.low = in.high = 0;
  in.values = c.values;
  return in;
}

}  // namespace

std::vector<Sample> gather_samples() {
  std::vector<Sample> samples;
  for (const GatherCase& c : cases()) {
    samples.push_back({.in = {floats(c.operand), indices(c)}, .params = Params::make(c.params)});
  }
  return samples;
}

std::vector<Sample> scatter_samples() {
  std::vector<Sample> samples;
  for (const GatherCase& c : cases()) {
    SampleInput operand = floats(c.operand), updates = floats(c.result);
    // Steps of 0.3 from -4.0 and from -2.7 never meet; 7 and 5 mix them.
    for (int64_t i = 0; i < c.operand.numel(); ++i) {
      operand.values.push_back(0.3 * static_cast<double>(i * 7 % 29) - 4.0);
    }
    for (int64_t i = 0; i < c.result.numel(); ++i) {
      updates.values.push_back(0.3 * static_cast<double>(i * 5 % 19) - 2.7);
    }
    samples.push_back({.in = {operand, indices(c), updates}, .params = Params::make(c.params)});
  }
  return samples;
}

}  // namespace spruce::rules
