// SPDX-License-Identifier: Apache-2.0
// What a program shares with Spruce on a GPU: streams of its own, memory that is there already, and
// structs of DLPack. Streams are taken as `void*`, to which a cudaStream_t and a CUstream convert;
// null and 1 stand for the legacy default stream and 2 for that of the thread, as CUDA has it.
#pragma once

#include <memory>
#include <optional>

#include "spruce/core/array.h"
#include "spruce/core/dlpack.h"
#include "spruce/cuda/cuda.h"

namespace spruce::cuda {

/// While it lives, Spruce's work on the device takes part in the order of a stream of the program:
/// it begins when all that the stream holds at the beginning has run, and what the stream gets
/// after the end waits for it. Neither waits on the host.
///
/// The work runs on the device's own stream all the same, as that of all threads does. So what the
/// stream gets in between is not ordered against it; and the work takes no part in a capture: a
/// stream that is captured is refused. Scopes may nest, for several streams.
///
///   { const sp::cuda::UseStream scope(stream); y = step(x); }  // x was written on `stream`
///   my_kernel<<<grid, block, 0, stream>>>(sp::cuda::device_pointer(y));
class UseStream {
 public:
  /// `stream` is one of the device. Throws DeviceError where it is captured, where `gpu` is no CUDA
  /// device, or where a kernel has failed.
  explicit UseStream(void* stream, Device& gpu = device(0), Loc loc = Loc::current());
  /// Never throws: of a device that is lost, the next read says so.
  ~UseStream();
  UseStream(const UseStream&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  UseStream& operator=(const UseStream&) = delete;

 private:
  Device& gpu_;
  void* stream_;
};

/// The address of the elements on their device, in row-major order, for kernels of the program.
/// They have to come after the operation that computes `x` (UseStream or synchronize()), must not
/// write, and `x` has to live until they have run, or until a UseStream of their stream has begun.
/// Throws ValueError for an undefined array, TracerError for a traced one, DeviceError for one that
/// is not on a CUDA device.
const void* device_pointer(const Array& x, Loc loc = Loc::current());

/// How shared memory is ordered against the other side's work.
struct SharingOptions {
  /// The stream on which the other side works with the memory; it has to exist as long as the
  /// memory is shared. Without one, the host waits: where memory is handed out, until it is
  /// computed; where memory comes back, until nothing on the device reads it any more.
  std::optional<void*> stream{};
};

/// An array over `data`, memory of the device, in row-major order, without a copy; memory whose
/// address is not a multiple of 256 is copied on the device. As for spruce::array_view(), the array
/// and all that share its memory hold `owner`, null for memory that outlives them; the memory must
/// not change meanwhile, and Spruce never writes to it.
///
/// What is written there has to be complete, or enqueued on `options.stream`, which the device then
/// waits for. When the last reference goes, that stream (without one, the host) waits for the work
/// that Spruce has enqueued, and `owner` is let go.
///
/// Elements of the type bool have to be 0 or 1; they are not looked at. Throws ShapeError for a
/// negative size; ValueError where `data` is null and there are elements, or is not aligned to an
/// element; DeviceError where it is no memory of `gpu`, or `gpu` is no CUDA device.
Array array_view(const void* data, const Shape& shape, Dtype dtype,
                 std::shared_ptr<const void> owner, Device& gpu = device(0),
                 const SharingOptions& options = {}, Loc loc = Loc::current());

/// The array for another library, in its memory on the GPU (kDLCUDA), which it keeps until the
/// deleter is called, from any thread. With `options.stream`, work on that stream finds the
/// elements computed (the argument `stream` of `__dlpack__` in the array API standard), and after
/// the deleter the memory is used again when what the stream holds has run. Without it the host
/// waits for the array here, and for all work of the device in the deleter. kReadOnly is set. An
/// array on the CPU is handed out as by spruce::to_dlpack(). Throws as that, and DeviceError for
/// another device.
dlpack::Owned<dlpack::ManagedTensorVersioned> to_dlpack(const Array& x,
                                                        const SharingOptions& options = {},
                                                        Loc loc = Loc::current());
/// The same in the struct of before version 1, which has no flag that forbids writing.
dlpack::Owned<dlpack::ManagedTensor> to_dlpack_unversioned(const Array& x,
                                                           const SharingOptions& options = {},
                                                           Loc loc = Loc::current());

/// The array of another library's struct: on the GPU where its memory is there (kDLCUDA,
/// kDLCUDAManaged), else as by spruce::from_dlpack(). It shares the memory as array_view() does,
/// and calls the deleter at the end; elements that do not stand in row-major order are copied on
/// the device. `options.stream` is the stream on which the other library has enqueued what writes
/// them and on which it uses the memory again; without it they have to be complete.
///
/// It takes the struct over in every case: where it throws, it has called the deleter. Throws as
/// spruce::from_dlpack(), and DeviceError where there is no such GPU.
Array from_dlpack(dlpack::ManagedTensorVersioned* tensor, const SharingOptions& options = {},
                  Loc loc = Loc::current());
/// The same from the struct of before version 1.
Array from_dlpack(dlpack::ManagedTensor* tensor, const SharingOptions& options = {},
                  Loc loc = Loc::current());

}  // namespace spruce::cuda
