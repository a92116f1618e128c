// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/finfo.h"

#include <string>

#include "spruce/core/op_scope.h"

namespace spruce {

FloatInfo finfo(Dtype dtype, Loc loc) {
  const OpScope at("finfo", loc);
  switch (dtype) {
    case Dtype::kFloat16:
      return {16, 0x1p-10, 65504, 0x1p-14};
    case Dtype::kBfloat16:
      return {16, 0x1p-7, 0x1.fep127, 0x1p-126};
    case Dtype::kFloat32:
      return {32, 0x1p-23, 0x1.fffffep127, 0x1p-126};
    case Dtype::kFloat64:
      return {64, 0x1p-52, 0x1.fffffffffffffp1023, 0x1p-1022};
    default:
      throw DtypeError("finfo: " + std::string(short_name(dtype)) +
                       " is not floating; the limits of integers are std::numeric_limits");
  }
}

}  // namespace spruce
