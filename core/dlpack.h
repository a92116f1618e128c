// SPDX-License-Identifier: Apache-2.0
// DLPack: the memory of arrays handed to other libraries, and theirs taken, without a copy. The
// layout of the structs is that of dlpack.h, versions 0.8 and 1.x (github.com/dmlc/dlpack), so that
// a pointer to one of its structs is cast to the one here.
#pragma once

#include <cstdint>
#include <memory>

#include "spruce/core/array.h"

namespace spruce {
namespace dlpack {

/// DLDevice: where the memory is.
struct Device {
  int32_t type = 1;  ///< 1 for the host
  int32_t id = 0;    ///< of several devices of a type
};

/// DLDataType: the type of the elements.
struct DataType {
  uint8_t code = 0;    ///< 0 int, 1 uint, 2 float, 4 bfloat, 6 bool
  uint8_t bits = 0;    ///< of one element
  uint16_t lanes = 1;  ///< of a vector type; 1 for numbers
};

/// DLTensor: an array that something else keeps.
struct Tensor {
  void* data = nullptr;
  Device device;
  int32_t ndim = 0;
  DataType dtype;
  int64_t* shape = nullptr;    ///< ndim sizes
  int64_t* strides = nullptr;  ///< in elements; null for row-major order
  uint64_t byte_offset = 0;    ///< of the first element from `data`
};

/// DLPackVersion.
struct Version {
  uint32_t major = 1;
  uint32_t minor = 0;
};

/// DLManagedTensorVersioned, of a Python capsule named "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensorVersioned* self) = nullptr;
  uint64_t flags = 0;  ///< kReadOnly, kIsCopied
  Tensor dl_tensor;
};

/// DLManagedTensor, of a Python capsule named "dltensor": the struct of before version 1.
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor* self) = nullptr;
};

inline constexpr uint64_t kReadOnly = 1;  ///< the memory must not be written to
inline constexpr uint64_t kIsCopied = 2;  ///< the memory was copied for this struct

/// Lets go of a struct that nobody has taken.
struct Release {
  template <class T>
  void operator()(T* tensor) const {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};

/// A struct for whoever takes it by release(); what is not taken is let go.
template <class T>
using Owned = std::unique_ptr<T, Release>;

}  // namespace dlpack

/// The array for another library: its memory, which it keeps until the deleter is called, from any
/// thread. kReadOnly is set, since others may share the array: who writes all the same changes
/// arrays that are immutable. An array of another device is copied to the host, and kIsCopied set.
/// Throws TracerError under vmap and jit, ValueError for an undefined array.
dlpack::Owned<dlpack::ManagedTensorVersioned> to_dlpack(const Array& x, Loc loc = Loc::current());
/// The same in the struct of before version 1, which has no flag that forbids writing: only for
/// those who are known not to write.
dlpack::Owned<dlpack::ManagedTensor> to_dlpack_unversioned(const Array& x,
                                                           Loc loc = Loc::current());

/// The array that another library hands over. It shares the memory, which must not change any more,
/// and calls the deleter when nothing refers to it (array_view() says more); elements that do not
/// stand in row-major order, or are not aligned, are copied.
///
/// It takes the struct over in every case: where it throws, it has called the deleter. Throws
/// ValueError for a null pointer, for a version that is not 1, and as array_view(); DtypeError for
/// elements that Spruce has no dtype for; DeviceError for memory that the host cannot read;
/// ShapeError for sizes below zero and more than kMaxRank axes.
Array from_dlpack(dlpack::ManagedTensorVersioned* tensor, Loc loc = Loc::current());
/// The same from the struct of before version 1.
Array from_dlpack(dlpack::ManagedTensor* tensor, Loc loc = Loc::current());

}  // namespace spruce
