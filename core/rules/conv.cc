// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/conv.h"

#include <algorithm>

#include "spruce/core/rules/shape.h"

namespace spruce::rules {
namespace {

[[noreturn]] void wrong_conv(const ShapeArgs& a, const std::string& what) {
  throw ShapeError(std::string(a.op) + ": " + what + "; lhs " + to_string(*a.in[0]) + ", rhs " +
                   to_string(*a.in[1]));
}

void check_lists(const ShapeArgs& a, const ConvParams& p, int spatial) {
  for (const Shape* s :
       {&p.strides, &p.padding_low, &p.padding_high, &p.lhs_dilation, &p.rhs_dilation}) {
    if (s->rank() != spatial) {
      wrong_conv(a, "the parameter " + to_string(*s) + " does not have one entry for each of the " +
                        std::to_string(spatial) + " spatial axes");
    }
  }
  for (const Shape* s : {&p.strides, &p.lhs_dilation, &p.rhs_dilation}) {
    for (const int64_t v : *s) {
      if (v < 1)
        wrong_conv(a, "a stride or dilation of " + std::to_string(v) + " in " + to_string(*s) +
                          "; they are at least 1");
    }
  }
}

// What the samples are made of.
struct ConvCase {
  Shape lhs, rhs;
  ConvParams params;
};

}  // namespace

Shape filled_in(const char* op, const char* what, const Shape& s, int rank, int64_t value) {
  if (s.empty()) return Shape::filled(rank, value);
  if (s.rank() != rank) {
    throw ShapeError(std::string(op) + ": " + what + " " + to_string(s) + " has " +
                     std::to_string(s.rank()) + " entries where " + std::to_string(rank) +
                     " are due, one an axis");
  }
  return s;
}

int64_t window_places(const char* op, int64_t size, int64_t dilation, int64_t low, int64_t high,
                      int64_t window, int64_t window_dilation, int64_t stride) {
  constexpr int64_t kStep = int64_t{1} << 31, kPadding = int64_t{1} << 40;
  int64_t extent = 0, reach = 0;
  bool large = dilation > kStep || window_dilation > kStep || stride > kStep ||
               std::max(low, high) > kPadding || std::min(low, high) < -kPadding;
  if (!large && size > 0)
    large = __builtin_mul_overflow(size - 1, dilation, &extent) ||
            __builtin_add_overflow(extent, 2 * kPadding, &extent);
  if (!large && window > 0)
    large = __builtin_mul_overflow(window - 1, window_dilation, &reach) ||
            __builtin_add_overflow(reach, 2 * kPadding, &reach);
  if (large) {
    throw ShapeError(std::string(op) + ": an axis of size " + std::to_string(size) +
                     " with a window of " + std::to_string(window) + ", stride " +
                     std::to_string(stride) + ", dilations " + std::to_string(dilation) + " and " +
                     std::to_string(window_dilation) + " and padding " + std::to_string(low) +
                     ", " + std::to_string(high) + " reaches too far to count");
  }
  const int64_t rest =
      low + dilated_size(size, dilation) + high - dilated_size(window, window_dilation);
  return rest < 0 ? 0 : rest / stride + 1;
}

Aval conv_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<ConvParams>();
  const Aval &x = *a.in[0], &w = *a.in[1];
  if (x.dtype != w.dtype) {
    throw DtypeError(std::string(a.op) + ": the dtypes differ: " + to_string(x) + ", " +
                     to_string(w) + "; convert one with astype");
  }
  const int spatial = x.shape.rank() - 2;
  if (spatial < 1 || spatial > 3 || w.shape.rank() != x.shape.rank()) {
    wrong_conv(
        a,
        "takes an input and a window of the same rank, with 1 to 3 spatial axes behind two others");
  }
  check_lists(a, p, spatial);
  const int64_t f = p.feature_group_count, b = p.batch_group_count;
  if (f < 1 || b < 1 || (f > 1 && b > 1)) {
    wrong_conv(a, "feature_group_count " + std::to_string(f) + " and batch_group_count " +
                      std::to_string(b) + ": both must be at least 1, and one of them 1");
  }
  const int64_t batch = x.shape[p.lhs_swapped ? 1 : 0], features = x.shape[p.lhs_swapped ? 0 : 1];
  const int64_t w_in = w.shape[p.rhs_swapped ? 0 : 1], w_out = w.shape[p.rhs_swapped ? 1 : 0];
  // Of the window, the axis in front holds all groups.
  int64_t inputs = w_in, outputs = w_out, &grouped = p.rhs_swapped ? outputs : inputs;
  if (__builtin_mul_overflow(grouped, f, &grouped))
    wrong_conv(a, std::to_string(f) + " groups are more than can be counted");
  if (features != inputs) {
    wrong_conv(a, "the input has " + std::to_string(features) + " features and the window takes " +
                      std::to_string(inputs) +
                      (f > 1 ? " (in " + std::to_string(f) + " groups)" : ""));
  }
  if (features % f != 0 || outputs % (f * b) != 0 || batch % b != 0) {
    wrong_conv(a, std::to_string(f * b) + " groups do not divide " +
                      (b > 1 && batch % b != 0 ? std::to_string(batch) + " samples"
                                               : std::to_string(features) + " input and " +
                                                     std::to_string(outputs) + " output features"));
  }
  Aval out{x.dtype, x.weak && w.weak, {batch / b, outputs}};
  if (p.out_swapped) std::swap(out.shape[0], out.shape[1]);
  for (int d = 0; d < spatial; ++d) {
    out.shape.push_back(window_places(a.op, x.shape[2 + d], p.lhs_dilation[d], p.padding_low[d],
                                      p.padding_high[d], w.shape[2 + d], p.rhs_dilation[d],
                                      p.strides[d]));
  }
  check_shape(a.op, out.shape, size_of(out.dtype));
  return out;
}

std::vector<Sample> conv_samples() {
  const auto one = [](int64_t stride, int64_t low, int64_t high, int64_t dilation,
                      int64_t window_dilation) {
    return ConvParams{{stride}, {low}, {high}, {dilation}, {window_dilation}, 1, 1,
                      false,    false, false,  false};
  };
  const auto with = [](ConvParams p, auto change) {
    change(p);
    return p;
  };
  std::vector<ConvCase> cases = {
      {{2, 3, 5}, {4, 3, 3}, one(1, 0, 0, 1, 1)},
      {{2, 2, 6}, {3, 2, 2}, one(2, 1, 2, 1, 1)},
      {{1, 2, 5}, {2, 2, 2}, one(1, 1, 1, 2, 1)},
      {{2, 1, 7}, {2, 1, 3}, one(1, 2, 0, 1, 2)},
      {{1, 2, 4}, {2, 2, 2}, one(3, 3, 2, 2, 3)},
      {{1, 1, 6}, {1, 1, 2}, one(1, -1, -2, 1, 1)},
      {{0, 2, 4}, {3, 2, 2}, one(1, 0, 0, 1, 1)},
      {{2, 2, 1}, {2, 2, 3}, one(1, 0, 0, 1, 1)},
      {{2, 3, 4}, {2, 3, 1}, one(1, 0, 0, 1, 1)},
      {{2, 4, 4},
       {6, 2, 2},
       with(one(2, 1, 0, 1, 1), [](ConvParams& p) { p.feature_group_count = 2; })},
      {{4, 2, 4},
       {2, 2, 2},
       with(one(1, 0, 1, 1, 1), [](ConvParams& p) { p.batch_group_count = 2; })},
      {{3, 2, 4},
       {3, 4, 2},
       with(one(2, 1, 1, 2, 1),
            [](ConvParams& p) { p.lhs_swapped = p.rhs_swapped = p.out_swapped = true; })},
      {{2, 3, 4},
       {3, 4, 2},
       with(one(1, 1, 1, 2, 1), [](ConvParams& p) { p.rhs_swapped = p.reversed = true; })},
      {{2, 4, 3},
       {4, 2, 2},
       with(one(1, 1, 1, 2, 1),
            [](ConvParams& p) { p.rhs_swapped = p.reversed = true, p.feature_group_count = 2; })},
      {{2, 4, 3},
       {4, 2, 2},
       with(one(2, 1, 1, 1, 2),
            [](ConvParams& p) { p.reversed = true, p.feature_group_count = 2; })},
      {{4, 4, 3},
       {4, 1, 2},
       with(
           one(1, 1, 0, 1, 1),
           [](ConvParams& p) { p.rhs_swapped = p.lhs_swapped = true, p.feature_group_count = 4; })},
      {{2, 4, 3},
       {2, 4, 2},
       with(one(1, 1, 0, 1, 1),
            [](ConvParams& p) {
              p.rhs_swapped = p.lhs_swapped = p.out_swapped = true, p.batch_group_count = 2;
            })},
  };
  ConvParams plane = one(1, 0, 0, 1, 1);
  plane.strides = {2, 1}, plane.padding_low = {1, 0}, plane.padding_high = {0, 2},
  plane.lhs_dilation = {1, 2}, plane.rhs_dilation = {1, 1};
  cases.push_back({{1, 2, 3, 4}, {2, 2, 2, 3}, plane});
  ConvParams space;
  space.strides = {1, 2, 1}, space.padding_low = {0, 1, 1}, space.padding_high = {1, 1, 0},
  space.lhs_dilation = {1, 1, 2}, space.rhs_dilation = {1, 1, 1};
  cases.push_back({{1, 1, 2, 3, 2}, {2, 1, 2, 2, 2}, space});
  std::vector<Sample> samples;
  for (const ConvCase& c : cases)
    samples.push_back(sample_of({c.lhs, c.rhs}, Params::make(c.params)));
  return samples;
}

}  // namespace spruce::rules
