// SPDX-License-Identifier: Apache-2.0
// A struct of DLPack as another library makes it.
#pragma once

#include <cstdint>
#include <vector>

#include "spruce/core/dlpack.h"

namespace spruce {

/// A struct over floats, and a count of the calls of its deleter. Without steps the elements stand
/// in row-major order.
template <class Managed>
struct ForeignTensor {
  ForeignTensor(void* data, std::vector<int64_t> sizes, std::vector<int64_t> steps)
      : shape(std::move(sizes)), strides(std::move(steps)) {
    dlpack::Tensor& t = managed.dl_tensor;
    t.data = data;
    t.ndim = static_cast<int32_t>(shape.size());
    t.dtype = {2, 32, 1};
    t.shape = shape.data();
    t.strides = strides.empty() ? nullptr : strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) {
      ++static_cast<ForeignTensor*>(self->manager_ctx)->deleted;
    };
  }

  std::vector<int64_t> shape, strides;
  Managed managed;
  int deleted = 0;
};

}  // namespace spruce
