// SPDX-License-Identifier: Apache-2.0
// What the structs of DLPack say, for whoever reads and writes them.
#pragma once

#include "spruce/core/dlpack.h"

namespace spruce::internal {

/// The type of the elements as DLPack has it.
dlpack::DataType dlpack_type(Dtype dtype);

/// What a struct describes.
struct DlpackForm {
  Aval aval;                    ///< on the host, whatever the struct says
  const char* first = nullptr;  ///< the first element; null where there are none
  Shape strides;                ///< steps between neighbours along each axis, in elements
  bool row_major = true;        ///< the elements follow each other in row-major order
};
/// Throws as from_dlpack(): DtypeError, ShapeError.
DlpackForm dlpack_form(const dlpack::Tensor& tensor);

/// A struct that is handed out, with what it refers to: both go when its deleter is called.
template <class Managed, class Kept>
struct DlpackKeeper {
  Managed managed;
  Kept kept;
  Shape shape, strides;
};

/// A struct over memory that `kept` keeps.
template <class Managed, class Kept>
dlpack::Owned<Managed> dlpack_over(void* data, const Aval& aval, dlpack::Device device, Kept kept) {
  using Keeper = DlpackKeeper<Managed, Kept>;
  auto* keeper = new Keeper{{}, std::move(kept), aval.shape, row_major_strides(aval.shape)};
  keeper->managed.manager_ctx = keeper;
  keeper->managed.deleter = [](Managed* self) { delete static_cast<Keeper*>(self->manager_ctx); };
  dlpack::Tensor& t = keeper->managed.dl_tensor;
  t.data = data;
  t.device = device;
  t.ndim = aval.shape.rank();
  t.dtype = dlpack_type(aval.dtype);
  t.shape = keeper->shape.begin();
  t.strides = keeper->strides.begin();
  return dlpack::Owned<Managed>(&keeper->managed);
}

}  // namespace spruce::internal
