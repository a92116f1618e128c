// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/dlpack.h"

#include <cstring>
#include <string>

#include "spruce/core/array_view.h"
#include "spruce/core/dlpack_form.h"
#include "spruce/core/empty_array_error.h"

namespace spruce {
namespace internal {
namespace {

constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kBool = 6;

Dtype dtype_for(const dlpack::DataType& t) {
  for (int d = 0; d < kDtypeCount; ++d) {
    const dlpack::DataType known = dlpack_type(static_cast<Dtype>(d));
    if (known.code == t.code && known.bits == t.bits && t.lanes == 1) return static_cast<Dtype>(d);
  }
  throw DtypeError("from_dlpack: Spruce has no dtype for elements of code " +
                   std::to_string(t.code) + ", " + std::to_string(t.bits) + " bits and " +
                   std::to_string(t.lanes) + " lanes; convert them where they come from");
}

}  // namespace

dlpack::DataType dlpack_type(Dtype d) {
  const auto bits = static_cast<uint8_t>(8 * size_of(d));
  if (is_bool(d)) return {kBool, bits, 1};
  if (d == Dtype::kBfloat16) return {kBfloat, bits, 1};
  if (is_floating(d)) return {kFloat, bits, 1};
  return {is_signed_integer(d) ? kInt : kUint, bits, 1};
}

DlpackForm dlpack_form(const dlpack::Tensor& t) {
  if (t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr))
    throw ShapeError("from_dlpack: there are " + std::to_string(t.ndim) + " axes" +
                     (t.ndim > 0 ? " and no sizes" : ""));
  const std::span<const int64_t> sizes(t.shape, static_cast<size_t>(t.ndim));
  DlpackForm f{{dtype_for(t.dtype), false, Shape(sizes)}, nullptr, {}, true};
  check_shape("from_dlpack", f.aval.shape, size_of(f.aval.dtype));
  if (t.data == nullptr || f.aval.numel() == 0) return f;
  f.first = static_cast<const char*>(t.data) + t.byte_offset;
  const Shape packed = row_major_strides(f.aval.shape);
  f.strides =
      t.strides == nullptr ? packed : Shape(std::span<const int64_t>(t.strides, sizes.size()));
  for (int axis = 0; axis < f.aval.shape.rank(); ++axis)
    f.row_major = f.row_major && (f.aval.shape[axis] == 1 || f.strides[axis] == packed[axis]);
  return f;
}

}  // namespace internal
namespace {

// kDLCPU, and the memory of the host that CUDA and ROCm have pinned.
constexpr int32_t kHost = 1, kCudaHost = 3, kRocmHost = 11;

template <class Managed>
dlpack::Owned<Managed> hand_out(const char* op, const Array& x, bool* copied) {
  if (!x.defined()) internal::throw_undefined(op, "x");
  const Array host = x.is_tracer() ? Array() : internal::on_host(x);
  if (!host.defined()) {
    throw TracerError(std::string(op) + ": " + x.impl()->describe() + " of type " +
                      to_string(x.aval()) + " has no memory yet; hand it out behind the transform");
  }
  *copied = x.aval().device != 0;
  return internal::dlpack_over<Managed>(internal::mutable_data(host), host.aval(), {kHost, 0},
                                        host);
}

// The elements at their strides, one after the other.
Array gathered(const char* first, const Aval& aval, const Shape& strides) {
  const Array out = internal::make_array(aval);
  auto* to = static_cast<char*>(internal::mutable_data(out));
  const int64_t bytes = size_of(aval.dtype);
  Shape at = aval.shape;
  for (int64_t& i : at) i = 0;
  int64_t offset = 0;
  for (int64_t n = aval.numel(); n > 0; --n, to += bytes) {
    std::memcpy(to, first + offset * bytes, static_cast<size_t>(bytes));
    for (int axis = at.rank() - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++at[axis] < aval.shape[axis]) break;
      offset -= at[axis] * strides[axis];
      at[axis] = 0;
    }
  }
  return out;
}

Array take_in(const dlpack::Tensor& t, std::shared_ptr<const void> owner) {
  constexpr const char* op = "from_dlpack";
  if (t.device.type != kHost && t.device.type != kCudaHost && t.device.type != kRocmHost) {
    throw DeviceError("from_dlpack: the memory is on a device of type " +
                      std::to_string(t.device.type) +
                      ", which the host cannot read; copy it to the host first");
  }
  const internal::DlpackForm f = internal::dlpack_form(t);
  if (f.first == nullptr) return internal::view_memory(op, nullptr, f.aval, nullptr);
  const auto element = static_cast<size_t>(size_of(f.aval.dtype));
  if (f.row_major && reinterpret_cast<uintptr_t>(f.first) % element == 0)
    return internal::view_memory(op, f.first, f.aval, std::move(owner));
  const Array copy = gathered(f.first, f.aval, f.strides);
  internal::check_bools(op, f.aval, internal::mutable_data(copy));
  return copy;
}

template <class Managed>
std::shared_ptr<Managed> owner_of(Managed* tensor) {
  if (tensor == nullptr) throw ValueError("from_dlpack: the pointer is null");
  return std::shared_ptr<Managed>(tensor, dlpack::Release{});
}

}  // namespace

dlpack::Owned<dlpack::ManagedTensorVersioned> to_dlpack(const Array& x, Loc loc) {
  const LocScope at(loc);
  bool copied = false;
  auto out = hand_out<dlpack::ManagedTensorVersioned>("to_dlpack", x, &copied);
  out->flags = dlpack::kReadOnly | (copied ? dlpack::kIsCopied : 0);
  return out;
}

dlpack::Owned<dlpack::ManagedTensor> to_dlpack_unversioned(const Array& x, Loc loc) {
  const LocScope at(loc);
  bool copied = false;
  return hand_out<dlpack::ManagedTensor>("to_dlpack_unversioned", x, &copied);
}

Array from_dlpack(dlpack::ManagedTensorVersioned* tensor, Loc loc) {
  const LocScope at(loc);
  const auto owner = owner_of(tensor);
  if (tensor->version.major != 1) {
    throw ValueError("from_dlpack: the struct is of DLPack " +
                     std::to_string(tensor->version.major) + "." +
                     std::to_string(tensor->version.minor) + "; 1.x is known");
  }
  return take_in(tensor->dl_tensor, owner);
}

Array from_dlpack(dlpack::ManagedTensor* tensor, Loc loc) {
  const LocScope at(loc);
  const auto owner = owner_of(tensor);
  return take_in(tensor->dl_tensor, owner);
}

}  // namespace spruce
