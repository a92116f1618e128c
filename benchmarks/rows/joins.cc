// SPDX-License-Identifier: Apache-2.0
// Arrays joined along any axis, neighbours of an element read from the same array, and pictures
// made ready for a network.
#include "benchmarks/bench.h"

namespace bench {
namespace {

constexpr int64_t kMillion = 1024 * 1024;

Row join(const std::string& name, const std::vector<sp::Shape>& shapes, int64_t axis,
         sp::Dtype dtype = sp::float32) {
  return {name, [=](const Settings& s) {
            std::vector<Array> parts;
            for (const sp::Shape& shape : shapes)
              parts.push_back(sp::astype(normals(shape), dtype));
            return call_of(
                s, [axis](const std::vector<Array>& p) { return sp::concatenate(p, axis); }, parts);
          }};
}

Row stack_last(const std::string& name, int64_t count, sp::Dtype dtype) {
  return {name, [=](const Settings& s) {
            std::vector<Array> parts;
            for (int64_t k = 0; k < count; ++k)
              parts.push_back(sp::astype(sp::random::normal(sp::Key(k), {kMillion}), dtype));
            return call_of(
                s, [](const std::vector<Array>& p) { return sp::stack(p, -1); }, parts);
          }};
}

// A hundred steps of the heat equation on a torus.
Array stencil(const Array& start) {
  const auto step = [](const Array& u) {
    const Array around =
        sp::roll(u, 1, 0) + sp::roll(u, -1, 0) + sp::roll(u, 1, 1) + sp::roll(u, -1, 1) - 4.0f * u;
    return std::pair{u + 0.1f * around, sp::none};
  };
  return sp::scan(step, start, {.length = 100}).first;
}

// A hundred steps of diffusion and upwind transport on a ring, from cell to cell.
Array ring(const Array& start) {
  const auto step = [](const Array& u) {
    const Array flux = 0.3f * u - 0.2f * (sp::roll(u, -1) - u);
    return std::pair{u - (flux - sp::roll(flux, 1)), sp::none};
  };
  return sp::scan(step, start, {.length = 100}).first;
}

// One step of Burgers' equation at the inner points.
Array differences(const Array& u) {
  const int64_t n = u.shape(0);
  const Array left = u[sp::slice(0, n - 2)], mid = u[sp::slice(1, n - 1)],
              right = u[sp::slice(2, n)];
  return mid + 0.1f * (right - 2.0f * mid + left) - 0.05f * mid * (right - left);
}

// u8[n, h, w, 3] -> f32[n, 3, h, w], each channel with mean 0 and deviation 1.
Array channels_first(const Array& pictures) {
  const Array mean = sp::array({0.485f, 0.456f, 0.406f}),
              deviation = sp::array({0.229f, 0.224f, 0.225f});
  const Array x = (sp::astype(pictures, sp::float32) / 255.0f - mean) / deviation;
  return sp::transpose(x, {0, 3, 1, 2});
}

}  // namespace

std::vector<Row> join_rows() {
  const auto four = [](const sp::Shape& shape) { return std::vector<sp::Shape>(4, shape); };
  return {stack_last("stack_last_1m", 2, sp::float32),
          stack_last("stack_last_bf16_1m", 3, sp::bfloat16),
          join("concat_first", four({256, 1024}), 0),
          join("concat_middle", four({64, 16, 256}), 1),
          join("concat_last", four({4096, 64}), -1),
          join("concat_last_bf16", four({4096, 64}), -1, sp::bfloat16),
          join("concat_thin", {{262144, 3}, {262144, 1}}, -1),
          join("concat_thin_bf16", {{262144, 5}, {262144, 2}}, -1, sp::bfloat16),
          join("concat_thin_i32", {{262144, 2}, {262144, 1}, {262144, 3}}, -1, sp::int32),
          {"stencil",
           [](const Settings& s) {
             return call_of(s, stencil, normals({512, 512}));
           }},
          {"ring", [](const Settings& s) { return call_of(s, ring, normals({4096})); }},
          {"channels_first",
           [](const Settings& s) {
             const Array x = sp::clip(normals({32, 128, 128, 3}) * 64.0f + 128.0f, 0.0f, 255.0f);
             return call_of(s, channels_first, sp::astype(x, sp::uint8));
           }},
          {"differences_1m",
           [](const Settings& s) { return call_of(s, differences, normals({kMillion})); }}};
}

}  // namespace bench
