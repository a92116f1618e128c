// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/lane_call.h"

#include <algorithm>
#include <array>

namespace spruce::cpu::x64 {
namespace {

constexpr size_t kMost = 16;  // lanes of a vector

using Lanes = std::array<uint64_t, kMost>;

template <class T>
void narrowed(const float* x, void* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = T(x[i]);
}
template <class T>
void widened(const void* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = float{static_cast<const T*>(x)[i]};
}

// 16-bit floats as they are held in arrays, from floats, and back.
void* narrow(Dtype d, const void* from, Lanes& to, int64_t n) {
  const float* x = static_cast<const float*>(from);
  if (d == Dtype::kFloat16)
    narrowed<Float16>(x, to.data(), n);
  else
    narrowed<Bfloat16>(x, to.data(), n);
  return to.data();
}
void widen(Dtype d, const Lanes& from, void* to, int64_t n) {
  float* y = static_cast<float*>(to);
  if (d == Dtype::kFloat16)
    widened<Float16>(from.data(), y, n);
  else
    widened<Bfloat16>(from.data(), y, n);
}

}  // namespace

LaneCall::LaneCall(const Primitive& p, const Params& params, std::span<const Dtype> in, Dtype out)
    : p_(p), params_(params), in_(in.begin(), in.end()), out_(out) {
  if (!is_half(out) && std::none_of(in.begin(), in.end(), is_half))
    loop_ = p.cpu.element_loop({in.empty() ? out : in[0], out, params_});
}

void LaneCall::run(const LaneCall* call, const void* x, const void* y, const void* z, void* out,
                   int64_t n) {
  const ElementLoop& loop = call->loop_;
  if (loop.unary != nullptr) return loop.unary(x, out, n);
  if (loop.binary != nullptr) return loop.binary(x, y, out, n, 1, 1);
  if (loop.ternary != nullptr) return loop.ternary(x, y, z, out, n, 1, 1, 1);
  std::array<Lanes, 4> halves;
  std::array<Aval, 4> avals;
  std::array<View, 4> views;
  const std::array<const void*, 3> operands = {x, y, z};
  const size_t count = call->in_.size();
  for (size_t i = 0; i < count; ++i) {
    const Dtype d = call->in_[i];
    avals[i] = {d, false, Shape{n}};
    void* data = const_cast<void*>(operands[i]);
    views[i] = {is_half(d) ? narrow(d, data, halves[i], n) : data, &avals[i]};
  }
  const bool half = is_half(call->out_);
  avals[count] = {call->out_, false, Shape{n}};
  views[count] = {half ? halves[count].data() : out, &avals[count]};
  const std::span<const View> all = views;
  call->p_.cpu({all.first(count), all.subspan(count, 1), call->params_});
  if (half) widen(call->out_, halves[count], out, n);
}

}  // namespace spruce::cpu::x64
