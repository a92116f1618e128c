// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/rearrange.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/transforms.h"
#include "tests/core/message.h"

namespace spruce {
namespace shape_ops_test {

using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

Ints ints(const Array& x) { return astype(x, int32).to_vector<int32_t>(); }
Array counted(const Shape& shape) {
  return reshape(arange(static_cast<int32_t>(shape.numel())), shape);
}

// The element of a transpose by its definition.
Ints transposed_by_hand(const Array& x, const Axes& perm) {
  const Ints values = ints(x);
  const Shape strides = row_major_strides(x.shape());
  Shape shape = x.shape();
  for (int i = 0; i < x.rank(); ++i) shape[i] = x.shape()[static_cast<int>(perm[i])];
  Ints out;
  for (int64_t k = 0; k < shape.numel(); ++k) {
    int64_t rest = k, from = 0;
    for (int i = x.rank() - 1; i >= 0; --i) {
      from += rest % shape[i] * strides[static_cast<int>(perm[i])];
      rest /= shape[i];
    }
    out.push_back(values[static_cast<size_t>(from)]);
  }
  return out;
}

TEST(Transpose, EveryOrderOfAxesAndDtypeSize) {
  const std::vector<std::pair<Shape, Axes>> cases = {{{37, 53}, {1, 0}},
                                                     {{64, 64}, {1, 0}},
                                                     {{3, 17, 19}, {0, 2, 1}},
                                                     {{17, 3, 19}, {2, 1, 0}},
                                                     {{17, 3, 19}, {2, 0, 1}},
                                                     {{17, 19, 3}, {1, 0, 2}},
                                                     {{4, 5, 6, 7}, {3, 1, 0, 2}},
                                                     {{2, 1, 33, 1}, {2, 3, 0, 1}},
                                                     {{5, 0}, {1, 0}},
                                                     {{9, 8, 2, 5}, {0, 2, 1, 3}}};
  for (const auto& [shape, perm] : cases) {
    const Array x = counted(shape) % 101;
    const Ints expected = transposed_by_hand(x, perm);
    for (const Dtype d : {int8, int16, int32, int64, float32, float64, bfloat16}) {
      EXPECT_EQ(ints(transpose(astype(x, d), perm)), expected)
          << to_string(shape) << to_string(perm) << name(d);
    }
  }
}

TEST(Transpose, LargeOnesOnSeveralThreads) {
  const Array x = counted({1000, 1003});
  const int before = threads();
  for (const int n : {1, 3}) {
    set_threads(n);
    EXPECT_EQ(ints(transpose(x)), transposed_by_hand(x, {1, 0}));
  }
  set_threads(before);
}

TEST(Transpose, AxesByName) {
  const Array x = counted({2, 3, 4});
  EXPECT_EQ(transpose(x).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(swapaxes(x, 0, -1).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(moveaxis(x, 0, -1).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(moveaxis(x, {0, 2}, {2, 0}).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(moveaxis(x, -1, 0).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(message([&] {
              return transpose(x, {0, 1});
            }),
            "transpose: [0,1] is no order of the axes of i32[2,3,4]; name each of its 3 axes once");
  EXPECT_EQ(message([&] {
              return moveaxis(x, {0, 1}, 2);
            }),
            "moveaxis: 2 axes are to be moved to 1 places; name as many places as axes");
}

TEST(Reshape, ShapesAndErrors) {
  const Array x = counted({2, 3});
  EXPECT_EQ(x.reshape({3, -1}).shape(), (Shape{3, 2}));
  EXPECT_EQ(x.reshape({-1}).shape(), (Shape{6}));
  EXPECT_EQ(ravel(x).shape(), (Shape{6}));
  EXPECT_EQ(array(3.0f).reshape({1, 1}).shape(), (Shape{1, 1}));
  EXPECT_EQ(reshape(zeros({0, 3}), {-1, 3}).shape(), (Shape{0, 3}));
  const Array y = x.reshape({3, 2});
  EXPECT_EQ(y.data<int32_t>().data(), x.data<int32_t>().data());
  EXPECT_EQ(message([&] {
              return reshape(x, {4, 2});
            }),
            "reshape: i32[2,3] has 6 elements, shape [4,2] has 8; give a shape with as many, or -1 "
            "for one size that follows from the others");
  EXPECT_EQ(message([&] {
              return reshape(x, {4, -1});
            }),
            "reshape: no size in place of the -1 of [4,-1] gives the 6 elements of i32[2,3]; the "
            "other sizes must divide their number");
  EXPECT_THROW(reshape(zeros({0, 3}), {-1, 0}), ShapeError);
  EXPECT_THROW(reshape(x, {-1, -1, 6}), ShapeError);
  EXPECT_THROW(reshape(x, {-2, -3}), ShapeError);
}

TEST(Squeeze, AxesOfSizeOne) {
  const Array x = zeros({1, 3, 1});
  EXPECT_EQ(squeeze(x).shape(), (Shape{3}));
  EXPECT_EQ(squeeze(x, -1).shape(), (Shape{1, 3}));
  EXPECT_EQ(expand_dims(squeeze(x), {0, -1}).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(message([&] { return squeeze(x, 1); }),
            "squeeze: axis 1 of f32[1,3,1] has size 3; only axes of size 1 can be taken out");
  EXPECT_THROW(expand_dims(x, none), ValueError);
}

TEST(Broadcast, AsNumPy) {
  EXPECT_EQ(ints(broadcast_to(array({1, 2, 3}), {2, 3})), (Ints{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(ints(broadcast_to(array({{1}, {2}}), {2, 3})), (Ints{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(ints(broadcast_to(array({{1}, {2}}), {2, 2, 2})), (Ints{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(broadcast_to(zeros({0, 1}), {0, 4}).shape(), (Shape{0, 4}));
  EXPECT_EQ(message([] {
              return broadcast_to(zeros({2, 3}), {2, 4});
            }),
            "broadcast_to: f32[2,3] does not broadcast to shape [2,4]; sizes must be equal or 1, "
            "aligned at the last axis");
  const auto both = broadcast_arrays({array({1, 2}), array({{3}, {4}})});
  EXPECT_EQ(ints(both[0]), (Ints{1, 2, 1, 2}));
  EXPECT_EQ(ints(both[1]), (Ints{3, 3, 4, 4}));
  EXPECT_THROW(broadcast_to(array(1.0f), {int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
}

TEST(Astype, FloatsToIntegers) {
  const float inf = INFINITY;
  const Array x =
      array({1.9f, -1.9f, 0.0f, 300.0f, -300.0f, 3e9f, -3e9f, 1e20f, -1e20f, inf, -inf, NAN});
  EXPECT_EQ(astype(x, int8).to_vector<int8_t>(),
            (std::vector<int8_t>{1, -1, 0, 127, -128, 127, -128, 127, -128, 127, -128, 0}));
  EXPECT_EQ(astype(x, uint8).to_vector<uint8_t>(),
            (std::vector<uint8_t>{1, 0, 0, 255, 0, 255, 0, 255, 0, 255, 0, 0}));
  const int32_t top = std::numeric_limits<int32_t>::max(),
                low = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(astype(x, int32).to_vector<int32_t>(),
            (Ints{1, -1, 0, 300, -300, top, low, top, low, top, low, 0}));
  const int64_t wide = std::numeric_limits<int64_t>::max(),
                narrow = std::numeric_limits<int64_t>::min();
  for (const Dtype d : {float32, float64}) {
    EXPECT_EQ(astype(astype(x, d), int64).to_vector<int64_t>(),
              (std::vector<int64_t>{1, -1, 0, 300, -300, 3000000000, -3000000000, wide, narrow,
                                    wide, narrow, 0}));
    EXPECT_EQ(astype(astype(x, d), uint64).to_vector<uint64_t>()[9],
              std::numeric_limits<uint64_t>::max());
  }
  EXPECT_EQ(
      astype(x, bool_).to_vector<bool>(),
      (std::vector<bool>{true, true, false, true, true, true, true, true, true, true, true, true}));
}

TEST(Astype, SixteenBitFloatsRoundOnce) {
  // Just above the middle of two bf16 numbers, by less than f32 can hold: two roundings would go
  // down.
  const double above = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(astype(array({above, 1.0 + 0x1p-8, 1.0 + 0x1p-8 - 0x1p-40, -above}, float64), bfloat16)
                .to_vector<Bfloat16>()[0]
                .bits,
            0x3f81);
  EXPECT_EQ(astype(array({above}, float64), bfloat16).item<float>(), 1.0078125f);
  EXPECT_EQ(astype(array({1.0 + 0x1p-8}, float64), bfloat16).item<float>(), 1.0f);
  EXPECT_EQ(astype(array({-above}, float64), bfloat16).item<float>(), -1.0078125f);
  EXPECT_EQ(astype(array({1.0 + 0x1p-11 + 0x1p-45}, float64), float16).item<float>(),
            1.0009765625f);
  EXPECT_EQ(
      astype(array({65519.0, 65520.0, 1e-8}, float64), float16).astype(float32).to_vector<float>(),
      (Floats{65504.0f, INFINITY, 0.0f}));
}

TEST(Astype, IntegersWrapAndIdentityIsFree) {
  EXPECT_EQ(astype(array({300, -1, 256}), uint8).to_vector<uint8_t>(),
            (std::vector<uint8_t>{44, 255, 0}));
  const Array x = array({1.0f});
  EXPECT_EQ(astype(x, float32).impl(), x.impl());
  EXPECT_FALSE(astype(Array(1.0f), float32).weak());
  EXPECT_EQ(bitcast(array({1.0f}), uint32).item<uint32_t>(), 0x3f800000u);
  EXPECT_THROW(bitcast(x, float64), DtypeError);
}

TEST(Concatenate, AxesAndDtypes) {
  const Array a = counted({2, 3}), b = counted({2, 3}) + 10;
  EXPECT_EQ(ints(concatenate({a, b})), (Ints{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(ints(concatenate({a, b}, 1)), (Ints{0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15}));
  EXPECT_EQ(concatenate({a, astype(b, float32)}, -1).dtype(), float32);
  EXPECT_EQ(ints(stack({a, b}, 1)), (Ints{0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15}));
  EXPECT_EQ(stack({a, b}, -1).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(stack({Array(1.0f), array(2.0f)}).dtype(), float32);
  EXPECT_EQ(vstack({array({1, 2}), array({3, 4})}).shape(), (Shape{2, 2}));
  EXPECT_EQ(hstack({array({1, 2}), array({3})}).shape(), (Shape{3}));
  EXPECT_EQ(hstack({a, b}).shape(), (Shape{2, 6}));
  EXPECT_EQ(message([&] {
              return concatenate({a, counted({3, 2})});
            }),
            "concatenate: i32[2,3] and i32[3,2] (array 1) do not join along axis 0; all other "
            "sizes must be equal");
  EXPECT_EQ(message([&] {
              return stack({a, counted({3, 2})});
            }),
            "stack: the shapes of i32[2,3] and i32[3,2] (array 1) differ; all must be equal");
  EXPECT_EQ(message([] { return concatenate(std::vector<Array>()); }),
            "concatenate: there are no arrays to join; give at least one");
}

TEST(Split, SectionsAndPlaces) {
  const Array x = counted({7});
  EXPECT_EQ(split(counted({6}), 3).size(), 3u);
  EXPECT_EQ(ints(split(counted({2, 6}), 2, 1)[1]), (Ints{3, 4, 5, 9, 10, 11}));
  const auto parts = split(x, {2, 5});
  EXPECT_EQ(ints(parts[1]), (Ints{2, 3, 4}));
  EXPECT_EQ(ints(split(x, {-2})[1]), (Ints{5, 6}));
  EXPECT_EQ(split(x, {5, 2})[1].size(), 0);
  EXPECT_EQ(ints(split(x, {5, 2})[2]), (Ints{2, 3, 4, 5, 6}));
  EXPECT_EQ(array_split(x, 3)[0].size(), 3);
  EXPECT_EQ(message([&] { return split(x, 2); }),
            "split: axis 0 of i32[7] has no 2 equal parts; use array_split, or name the places to "
            "cut at");
}

TEST(Repeat, TileAndRepeat) {
  const Array x = array({{1, 2}, {3, 4}});
  EXPECT_EQ(ints(tile(x, {2})), (Ints{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(ints(tile(x, {2, 1})), (Ints{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(tile(x, {2, 1, 3}).shape(), (Shape{2, 2, 6}));
  EXPECT_EQ(tile(x, {0, 2}).shape(), (Shape{0, 4}));
  EXPECT_EQ(ints(repeat(x, 2)), (Ints{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(ints(repeat(x, 2, 0)), (Ints{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(ints(repeat(x, std::vector<int64_t>{0, 2}, 1)), (Ints{2, 2, 4, 4}));
  EXPECT_EQ(
      message([&] { return repeat(x, std::vector<int64_t>{1}, 1); }),
      "repeat: 1 counts are given for axis 1 of i32[2,2]; give one for each of its 2 elements");
}

TEST(Rearrange, FlipRollRot90) {
  const Array x = counted({2, 3});
  EXPECT_EQ(ints(flip(x)), (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(ints(flip(x, 1)), (Ints{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(ints(roll(x, 1)), (Ints{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(ints(roll(x, -1, 1)), (Ints{1, 2, 0, 4, 5, 3}));
  EXPECT_EQ(ints(roll(x, Shape{1, 1}, {0, 1})), (Ints{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(roll(zeros({0, 3}), 2, 0).shape(), (Shape{0, 3}));
  // Shifts of one axis add up, and one of either goes with all of the other, as in NumPy.
  const Array y = reshape(arange(12), {3, 4});
  EXPECT_EQ(ints(roll(y, Shape{1, 2, 1}, {0, 1, 0})), (Ints{6, 7, 4, 5, 10, 11, 8, 9, 2, 3, 0, 1}));
  EXPECT_EQ(ints(roll(y, 1, {0, 0})), (Ints{4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(ints(roll(y, Shape{1, 2}, 0)), ints(y));
  EXPECT_EQ(ints(roll(y, Shape{INT64_MAX, INT64_MAX}, -1)), ints(roll(y, 2, 1)));
  EXPECT_EQ(ints(roll(arange(5), Shape{1, 2}, none)), (Ints{2, 3, 4, 0, 1}));
  EXPECT_EQ(ints(roll(y, Shape{}, {})), ints(y));
  EXPECT_THROW(roll(y, Shape{1, 2}, {0, 1, 1}), ShapeError);
  EXPECT_THROW(roll(y, 1, 2), ShapeError);
  EXPECT_EQ(ints(rot90(x)), (Ints{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(ints(rot90(x, -1)), (Ints{3, 0, 4, 1, 5, 2}));
  EXPECT_EQ(ints(rot90(x, 2)), (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(rot90(x, 4).impl(), x.impl());
}

TEST(Pad, Modes) {
  const Array x = array({1, 2, 3});
  const auto padded = [&](PadMode mode, int64_t before, int64_t after) {
    return ints(pad(x, {{before, after}}, {.mode = mode}));
  };
  EXPECT_EQ(ints(pad(x, {{2, 1}}, {.value = 7})), (Ints{7, 7, 1, 2, 3, 7}));
  EXPECT_EQ(padded(PadMode::kEdge, 2, 1), (Ints{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded(PadMode::kReflect, 2, 2), (Ints{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded(PadMode::kSymmetric, 2, 2), (Ints{2, 1, 1, 2, 3, 3, 2}));
  EXPECT_EQ(padded(PadMode::kWrap, 2, 2), (Ints{2, 3, 1, 2, 3, 1, 2}));
  EXPECT_THROW((void)pad(zeros({2}, uint8), 1, {.value = 300}), ValueError);
  // Wider than the array, as NumPy 2.4 does it.
  EXPECT_EQ(padded(PadMode::kReflect, 5, 4), (Ints{2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(padded(PadMode::kSymmetric, 5, 4), (Ints{2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1}));
  EXPECT_EQ(padded(PadMode::kWrap, 5, 4), (Ints{2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(ints(pad(array({4}), {{2, 1}}, {.mode = PadMode::kReflect})), (Ints{4, 4, 4, 4}));
  EXPECT_EQ(pad(counted({2, 3}), 1).shape(), (Shape{4, 5}));
  EXPECT_EQ(ints(pad(counted({2, 2}), {{0, 1}, {1, 0}}, {.mode = PadMode::kEdge})),
            (Ints{0, 0, 1, 2, 2, 3, 2, 2, 3}));
  EXPECT_EQ(message([&] {
              return pad(x, {{1, 1}, {1, 1}});
            }),
            "pad: 2 pairs of widths are given for an array of rank 1; give one for each axis");
  EXPECT_EQ(message([&] { return pad(x, -1); }),
            "pad: widths (-1, -1) are negative; cut elements off with x[slice(...)]");
  EXPECT_THROW(pad(zeros({0}), 1, {.mode = PadMode::kWrap}), ShapeError);
}

TEST(PadPrimitive, NegativeAndInterior) {
  const Array x = counted({4}) + 1, zero = array(0);
  EXPECT_EQ(ints(rules::pad_all(x, zero, {-1}, {1}, {1})), (Ints{0, 2, 0, 3, 0, 4, 0}));
  EXPECT_EQ(ints(rules::pad_all(x, zero, {-2}, {-1}, {2})), (Ints{0, 2, 0, 0, 3, 0, 0}));
  EXPECT_EQ(ints(rules::pad_all(x, zero, {-5}, {3}, {0})), (Ints{0, 0}));
  EXPECT_THROW(rules::pad_all(x, zero, {-5}, {0}, {0}), ShapeError);
  EXPECT_THROW(rules::pad_all(x, array(0.0f), {0}, {0}, {0}), DtypeError);
}

TEST(Gradients, OfShapeFunctions) {
  const Array x = reshape(arange(6.0f), {2, 3}), w = reshape(arange(12.0f), {4, 3});
  EXPECT_TRUE(array_equal(grad([&](const Array& x) {
                            return sum(tile(x, {2, 1}) * w);
                          })(x),
                          array({{6.0f, 8.0f, 10.0f}, {12.0f, 14.0f, 16.0f}})));
  const auto reflected = [&](const Array& x) {
    return sum(pad(x, {{0, 0}, {1, 1}}, {.mode = PadMode::kReflect}) * arange(5.0f));
  };
  EXPECT_TRUE(array_equal(grad(reflected)(x), array({{1.0f, 6.0f, 3.0f}, {1.0f, 6.0f, 3.0f}})));
  const auto value = [&](const Array& v) { return sum(pad(x, 1, {.value = v})); };
  EXPECT_EQ(grad(value)(array(2.0f)).item<float>(), 14.0f);
  EXPECT_TRUE(array_equal(grad([](const Array& x) { return sum(transpose(x) * arange(2.0f)); })(x),
                          array({{0.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f}})));
}

TEST(Vmap, DynamicSlicesAtMappedStarts) {
  const Array x = reshape(arange(20.0f), {4, 5}), starts = array({0, 3, -7, 9});
  const auto window = [](const Array& row, const Array& start) {
    return bind1(dynamic_slice_p, {row, start}, Params::make(DynamicSliceParams{{2}}));
  };
  EXPECT_TRUE(array_equal(vmap(window)(x, starts),
                          array({{0.0f, 1.0f}, {8.0f, 9.0f}, {10.0f, 11.0f}, {18.0f, 19.0f}})));
  const auto replaced = [](const Array& row, const Array& start) {
    return bind1(dynamic_update_slice_p, {row, full({2}, -1.0f), start});
  };
  const Array y = vmap(replaced)(x, starts);
  EXPECT_TRUE(array_equal(sum(y, 1), array({7.0f, 16.0f, 37.0f, 46.0f})));
}

TEST(Create, FillAndRanges) {
  EXPECT_EQ(zeros({2, 3}).to_vector<float>(), Floats(6, 0.0f));
  EXPECT_EQ(ones({3}, int64).to_vector<int64_t>(), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(full({2}, 2.5f).to_vector<float>(), (Floats{2.5f, 2.5f}));
  EXPECT_EQ(full({2}, 1).dtype(), int32);
  EXPECT_FALSE(full({2}, 1).weak());
  EXPECT_EQ(full({2}, 1, float16).dtype(), float16);
  EXPECT_EQ(full_like(zeros({2}, int8), 3).to_vector<int8_t>(), (std::vector<int8_t>{3, 3}));
  EXPECT_EQ(full({2, 2}, array({1.0f, 2.0f})).to_vector<float>(), (Floats{1, 2, 1, 2}));
  EXPECT_EQ(zeros({0, 2}).size(), 0);
  EXPECT_EQ(message([] {
              return zeros({2, -1});
            }),
            "zeros: shape [2,-1] has the negative size -1 on axis 1");
  EXPECT_EQ(arange(6.0f).dtype(), float32);
  EXPECT_EQ(arange(6).dtype(), int32);
  EXPECT_EQ(arange(int64_t{3}).dtype(), int64);
  EXPECT_TRUE(array_equal(arange(5u, 0, -2), array({5u, 3u, 1u})));
  EXPECT_TRUE(array_equal(arange(-3, 2u, float32), array({-3.0f, -2.0f, -1.0f, 0.0f, 1.0f})));
  EXPECT_THROW(arange(-2, 3u), ValueError);
  EXPECT_EQ(arange(3, float64).to_vector<double>(), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(arange(2, 9, 3).to_vector<int32_t>(), (Ints{2, 5, 8}));
  EXPECT_EQ(arange(5, 0, -2).to_vector<int32_t>(), (Ints{5, 3, 1}));
  EXPECT_EQ(arange(5, 0).size(), 0);
  EXPECT_EQ(arange(0.0f, 1.0f, 0.25f).to_vector<float>(), (Floats{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(arange(-2, 2).to_vector<int32_t>(), (Ints{-2, -1, 0, 1}));
  EXPECT_THROW(arange(0, 5, 0), ValueError);
  EXPECT_THROW(arange(0.0, INFINITY, 1.0), ValueError);
}

TEST(Create, FromWhateverHasItsElementsSideBySide) {
  const std::array<float, 4> numbers{1, 2, 3, 4};
  float four[] = {1, 2, 3, 4};
  std::vector<float> held(std::begin(four), std::end(four));
  const Array row = array({1.0f, 2.0f, 3.0f, 4.0f}), square = reshape(row, {2, 2});
  for (const Array& x : {array(numbers), array(four), array(std::span(held))})
    EXPECT_TRUE(array_equal(x, row));
  for (const Array& x :
       {array(numbers, {2, 2}), array(four, {2, 2}), array(std::span(held), {held.size() / 2, 2}),
        array(std::vector<std::vector<float>>{{1, 2}, {3, 4}})})
    EXPECT_TRUE(array_equal(x, square));
  EXPECT_EQ(array(std::array<double, 1>{0.5}).dtype(), float64);
  EXPECT_THROW(array(std::vector<std::vector<float>>{{1, 2}, {3}}), ShapeError);
  EXPECT_EQ(zeros({held.size(), 2}).shape(), (Shape{4, 2}));
  const std::initializer_list<int64_t> named{2, 3};
  EXPECT_EQ(zeros(named).shape(), Shape(named));
  EXPECT_THROW(zeros({held.size() - 5, 2}), ShapeError);
}

TEST(Create, LinspaceAndMatrices) {
  EXPECT_EQ(linspace(0, 1, 5).to_vector<float>(), (Floats{0, 0.25f, 0.5f, 0.75f, 1}));
  EXPECT_EQ(linspace(0, 1, 4, {.endpoint = false}).to_vector<float>(),
            (Floats{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(linspace(2.0, 3.0, 1, {.dtype = float64}).to_vector<double>(),
            (std::vector<double>{2}));
  EXPECT_EQ(linspace(0.1f, 0.7f, 7).to_vector<float>()[6], 0.7f);
  EXPECT_EQ(linspace(array({0.0f, 1.0f}), 2.0f, 3).to_vector<float>(),
            (Floats{0, 1, 1, 1.5f, 2, 2}));
  EXPECT_EQ(logspace(0.0, 2.0, 3, 10.0, {.dtype = float64}).to_vector<double>(),
            (std::vector<double>{1, 10, 100}));
  EXPECT_EQ(ints(eye(2)), (Ints{1, 0, 0, 1}));
  EXPECT_EQ(ints(eye(2, {.columns = 3, .offset = 1})), (Ints{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(ints(eye(2, 3)), (Ints{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(ints(eye(2, 3, {.offset = 1})), (Ints{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(eye(2, float64).dtype(), float64);
  EXPECT_EQ(ints(tri(2, 3)), (Ints{1, 0, 0, 1, 1, 0}));
  EXPECT_THROW(eye(2, -1), ShapeError);
  EXPECT_THROW(tri(2, -1), ShapeError);
  EXPECT_EQ(ints(tri(2, {.columns = 3})), (Ints{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(ints(tril(counted({2, 3}) + 1)), (Ints{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(ints(triu(counted({2, 3}) + 1, 1)), (Ints{0, 2, 3, 0, 0, 6}));
  EXPECT_EQ(tril(full({1, 2, 2}, INFINITY)).to_vector<float>(),
            (Floats{INFINITY, 0, INFINITY, INFINITY}));
  EXPECT_THROW(tril(zeros({3})), ShapeError);
  const auto grid = meshgrid({array({1, 2, 3}), array({4, 5})});
  EXPECT_EQ(ints(grid[0]), (Ints{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(ints(grid[1]), (Ints{4, 4, 4, 5, 5, 5}));
  EXPECT_EQ(meshgrid({array({1, 2, 3}), array({4, 5})}, Indexing::kIj)[0].shape(), (Shape{3, 2}));
}

}  // namespace shape_ops_test
}  // namespace spruce
