// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/dlpack.h"

#include <cstring>
#include <string>

#include "spruce/core/array_view.h"

namespace spruce {
namespace {

constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kBool = 6;
// kDLCPU, and the memory of the host that CUDA and ROCm have pinned.
constexpr int32_t kHost = 1, kCudaHost = 3, kRocmHost = 11;

dlpack::DataType type_of(Dtype d) {
  const auto bits = static_cast<uint8_t>(8 * size_of(d));
  if (is_bool(d)) return {kBool, bits, 1};
  if (d == Dtype::kBfloat16) return {kBfloat, bits, 1};
  if (is_floating(d)) return {kFloat, bits, 1};
  return {is_signed_integer(d) ? kInt : kUint, bits, 1};
}

Dtype dtype_of_dlpack(const dlpack::DataType& t) {
  for (int d = 0; d < kDtypeCount; ++d) {
    const dlpack::DataType known = type_of(static_cast<Dtype>(d));
    if (known.code == t.code && known.bits == t.bits && t.lanes == 1) return static_cast<Dtype>(d);
  }
  throw DtypeError("from_dlpack: Spruce has no dtype for elements of code " +
                   std::to_string(t.code) + ", " + std::to_string(t.bits) + " bits and " +
                   std::to_string(t.lanes) + " lanes; convert them where they come from");
}

// Steps between neighbours along each axis, in elements, of an array in row-major order.
Shape row_major(const Shape& shape) {
  Shape strides = shape;
  int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

// What the struct that is handed out keeps: it is freed with it.
template <class Managed>
struct Keeper {
  Managed managed;
  Array array;
  Shape shape, strides;
};

template <class Managed>
dlpack::Owned<Managed> hand_out(const char* op, const Array& x, bool* copied) {
  x.aval();  // throws for an undefined array
  const Array host = x.is_tracer() ? Array() : internal::on_host(x);
  if (!host.defined()) {
    throw TracerError(std::string(op) + ": " + x.impl()->describe() + " of type " +
                      to_string(x.aval()) + " has no memory yet; hand it out behind the transform");
  }
  *copied = x.aval().device != 0;
  auto* keeper = new Keeper<Managed>{{}, host, host.shape(), row_major(host.shape())};
  keeper->managed.manager_ctx = keeper;
  keeper->managed.deleter = [](Managed* self) {
    delete static_cast<Keeper<Managed>*>(self->manager_ctx);
  };
  dlpack::Tensor& t = keeper->managed.dl_tensor;
  t.data = internal::mutable_data(host);
  t.ndim = host.rank();
  t.dtype = type_of(host.dtype());
  t.shape = keeper->shape.begin();
  t.strides = keeper->strides.begin();
  return dlpack::Owned<Managed>(&keeper->managed);
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
  if (t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr))
    throw ShapeError("from_dlpack: there are " + std::to_string(t.ndim) + " axes" +
                     (t.ndim > 0 ? " and no sizes" : ""));
  const std::span<const int64_t> sizes(t.shape, static_cast<size_t>(t.ndim));
  const Aval aval{dtype_of_dlpack(t.dtype), false, Shape(sizes)};
  check_shape(op, aval.shape, size_of(aval.dtype));
  const char* first = static_cast<const char*>(t.data);
  if (first == nullptr || aval.numel() == 0)
    return internal::view_memory(op, nullptr, aval, nullptr);
  first += t.byte_offset;

  const Shape packed = row_major(aval.shape);
  const Shape strides =
      t.strides == nullptr ? packed : Shape(std::span<const int64_t>(t.strides, sizes.size()));
  bool in_order =
      reinterpret_cast<uintptr_t>(first) % static_cast<size_t>(size_of(aval.dtype)) == 0;
  for (int axis = 0; axis < aval.shape.rank(); ++axis)
    in_order = in_order && (aval.shape[axis] == 1 || strides[axis] == packed[axis]);
  if (in_order) return internal::view_memory(op, first, aval, std::move(owner));
  const Array copy = gathered(first, aval, strides);
  internal::check_bools(op, aval, internal::mutable_data(copy));
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
