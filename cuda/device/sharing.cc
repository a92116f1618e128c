// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/sharing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "spruce/core/default_device.h"
#include "spruce/core/dlpack_form.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/device/device.h"
#include "spruce/cuda/driver/error.h"

namespace spruce::cuda {
namespace {

// kDLCUDA and kDLCUDAManaged.
constexpr int32_t kCuda = 2, kCudaManaged = 13;
constexpr uintptr_t kLibraryAlign = 256;  // of memory that libraries work on

// A stream that takes part in the order of the device.
CUstream not_captured(const char* op, void* handle) {
  auto* stream = static_cast<CUstream>(handle);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(driver().cuStreamIsCapturing(stream, &status), std::string(op) + ": looking at the stream");
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) {
    throw DeviceError(
        std::string(op) +
        ": the stream is being captured, and work of Spruce cannot be a part of that; "
        "end the capture first, or take another stream");
  }
  return stream;
}

// The device's work, and that of the other side on the same memory.
struct Order {
  CudaDevice* gpu;
  SharingOptions options;

  // The device comes after what the other side has enqueued.
  void device_after(const char* op) const {
    gpu->context().enter();
    if (options.stream)
      gpu->context().order(not_captured(op, *options.stream), gpu->context().stream());
  }
  // The other side comes after what the device has enqueued.
  void device_before(const char* op) const {
    gpu->context().enter();
    if (options.stream)
      gpu->context().order(gpu->context().stream(), not_captured(op, *options.stream));
    else
      gpu->context().wait(op);
  }
};

// Keeps what the memory belongs to; at its end the other side comes after the device.
std::shared_ptr<const void> ordered(std::shared_ptr<const void> owner, const Order& order) {
  struct Kept {
    std::shared_ptr<const void> owner;
    Order order;
    ~Kept() {
      try {
        order.device_before("array_view");
      } catch (const Error&) {  // of a lost device nothing reads the memory any more
      }
    }
  };
  return std::shared_ptr<const void>(new Kept{std::move(owner), order});
}

void check_memory(const char* op, const void* data, const Aval& aval, const CudaDevice& gpu) {
  unsigned type = 0;
  int ordinal = 0;
  const DriverTable& d = driver();
  const CUresult found =
      d.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device_address(data));
  if (found != CUDA_ERROR_INVALID_VALUE) check(found, std::string(op) + ": cuPointerGetAttribute");
  if (found != CUDA_SUCCESS || type == CU_MEMORYTYPE_HOST) {
    throw DeviceError(std::string(op) + ": the memory of " + to_string(aval) +
                      " is not on a GPU; spruce::array_view() takes that of the host");
  }
  check(
      d.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device_address(data)),
      std::string(op) + ": cuPointerGetAttribute");
  if (ordinal != gpu.ordinal()) {
    throw DeviceError(std::string(op) + ": the memory of " + to_string(aval) +
                      " is on cuda:" + std::to_string(ordinal) + ", not on " +
                      std::string(gpu.name()) + "; name that device");
  }
}

// `aval` is on the device, and has elements.
Array over(const char* op, const void* data, const Aval& aval, std::shared_ptr<const void> owner,
           CudaDevice& gpu) {
  const auto element = static_cast<uintptr_t>(size_of(aval.dtype));
  const auto place = reinterpret_cast<uintptr_t>(data);
  if (place % element != 0) {
    throw ValueError(std::string(op) + ": the memory of " + to_string(aval) +
                     " is not aligned to its elements of " + std::to_string(element) +
                     " bytes; copy it first");
  }
  gpu.context().enter();
  check_memory(op, data, aval, gpu);
  const auto bytes = static_cast<size_t>(aval.bytes());
  if (place % kLibraryAlign == 0) {
    return Array(Ref<internal::ArrayImpl>(
        new internal::ArrayImpl(aval, internal::Buffer::adopt(data, bytes, std::move(owner)))));
  }
  const Array copy = internal::make_array(aval);
  copy_on_device(gpu.context().stream(), internal::mutable_data(copy), data, aval.bytes());
  gpu.context().enqueued(op);
  return copy;
}

// The elements at their strides, one after the other.
Array gathered(const internal::DlpackForm& form, const Aval& aval,
               std::shared_ptr<const void> owner, CudaDevice& gpu) {
  int64_t lowest = 0, highest = 0;
  for (int axis = 0; axis < aval.shape.rank(); ++axis) {
    const int64_t reach = form.strides[axis] * (aval.shape[axis] - 1);
    lowest += std::min<int64_t>(reach, 0);
    highest += std::max<int64_t>(reach, 0);
  }
  const Aval all{aval.dtype, false, Shape{highest - lowest + 1}, aval.device};
  const char* first = form.first + lowest * static_cast<int64_t>(size_of(aval.dtype));
  const InterpreterScope now(nullptr);
  const DefaultDevice here(gpu);
  const Array elements = over("from_dlpack", first, all, std::move(owner), gpu);
  Array place(-lowest);
  for (int axis = 0; axis < aval.shape.rank(); ++axis)
    place = place + rules::iota(aval.shape, Dtype::kInt64, axis) * Array(form.strides[axis]);
  return rules::take_axis(elements, place, 0);
}

Array take_in(const dlpack::Tensor& t, std::shared_ptr<const void> owner,
              const SharingOptions& options) {
  auto& gpu = of_cuda(device(t.device.id), "from_dlpack");
  const Order order{&gpu, options};
  order.device_after("from_dlpack");
  const internal::DlpackForm form = internal::dlpack_form(t);
  Aval aval = form.aval;
  aval.device = gpu.index();
  if (form.first == nullptr) return internal::make_array(aval);
  const auto kept = ordered(std::move(owner), order);
  if (!form.row_major) return gathered(form, aval, kept, gpu);
  return over("from_dlpack", form.first, aval, kept, gpu);
}

bool is_on_gpu(const dlpack::Tensor& t) {
  return t.device.type == kCuda || t.device.type == kCudaManaged;
}

// An array that is handed out; when it comes back, the device comes after the other side.
struct HandedOut {
  Array array;
  Order order;

  ~HandedOut() {
    try {
      order.device_after("deleter of to_dlpack");
      if (!order.options.stream) driver().cuCtxSynchronize();
    } catch (const Error&) {  // of a lost device nothing is used again
    }
  }
};

template <class Managed>
dlpack::Owned<Managed> hand_out(const char* op, const Array& x, const SharingOptions& options) {
  CudaDevice& gpu = of_cuda(x.device(), op);
  const Order order{&gpu, options};
  order.device_before(op);
  std::unique_ptr<const HandedOut> kept(new HandedOut{x, order});
  return internal::dlpack_over<Managed>(internal::mutable_data(x), x.aval(), {kCuda, gpu.ordinal()},
                                        std::move(kept));
}

bool is_of_host(const Array& x) { return x.aval().device == 0 || x.is_tracer(); }

}  // namespace

UseStream::UseStream(void* stream, Device& gpu, Loc loc) : gpu_(gpu), stream_(stream) {
  const LocScope at(loc);
  Order{&of_cuda(gpu, "UseStream"), {stream}}.device_after("UseStream");
}

UseStream::~UseStream() {
  try {
    Order{&of_cuda(gpu_, "UseStream"), {stream_}}.device_before("UseStream");
  } catch (const Error&) {
  }
}

const void* device_pointer(const Array& x, Loc loc) {
  const LocScope at(loc);
  const Aval& aval = x.aval();
  if (x.is_tracer()) {
    throw TracerError("device_pointer: " + x.impl()->describe() + " of type " + to_string(aval) +
                      " has no memory yet; ask for it behind the transform");
  }
  of_cuda(x.device(), "device_pointer");
  return internal::mutable_data(x);
}

Array array_view(const void* data, const Shape& shape, Dtype dtype,
                 std::shared_ptr<const void> owner, Device& gpu, const SharingOptions& options,
                 Loc loc) {
  const LocScope at(loc);
  constexpr const char* op = "array_view";
  CudaDevice& of = of_cuda(gpu, op);
  const Order order{&of, options};
  check_shape(op, shape, size_of(dtype));
  const Aval aval{dtype, false, shape, of.index()};
  if (aval.numel() == 0) return internal::make_array(aval);
  if (data == nullptr) {
    throw ValueError(std::string(op) + ": the pointer is null and the shape is that of " +
                     to_string(aval));
  }
  order.device_after(op);
  return over(op, data, aval, ordered(std::move(owner), order), of);
}

dlpack::Owned<dlpack::ManagedTensorVersioned> to_dlpack(const Array& x,
                                                        const SharingOptions& options, Loc loc) {
  const LocScope at(loc);
  if (is_of_host(x)) return spruce::to_dlpack(x, loc);
  auto out = hand_out<dlpack::ManagedTensorVersioned>("to_dlpack", x, options);
  out->flags = dlpack::kReadOnly;
  return out;
}

dlpack::Owned<dlpack::ManagedTensor> to_dlpack_unversioned(const Array& x,
                                                           const SharingOptions& options, Loc loc) {
  const LocScope at(loc);
  if (is_of_host(x)) return spruce::to_dlpack_unversioned(x, loc);
  return hand_out<dlpack::ManagedTensor>("to_dlpack_unversioned", x, options);
}

Array from_dlpack(dlpack::ManagedTensorVersioned* tensor, const SharingOptions& options, Loc loc) {
  const LocScope at(loc);
  // What is no struct of version 1 is refused there.
  if (tensor == nullptr || tensor->version.major != 1 || !is_on_gpu(tensor->dl_tensor))
    return spruce::from_dlpack(tensor, loc);
  return take_in(tensor->dl_tensor, {tensor, dlpack::Release{}}, options);
}

Array from_dlpack(dlpack::ManagedTensor* tensor, const SharingOptions& options, Loc loc) {
  const LocScope at(loc);
  if (tensor == nullptr || !is_on_gpu(tensor->dl_tensor)) return spruce::from_dlpack(tensor, loc);
  return take_in(tensor->dl_tensor, {tensor, dlpack::Release{}}, options);
}

}  // namespace spruce::cuda
