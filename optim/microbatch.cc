// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/microbatch.h"

namespace spruce::optim::internal {

void check_microbatch(const MicrobatchOptions& o, size_t arguments) {
  for (const int argnum : o.argnums) {
    if (argnum >= 0 && static_cast<size_t>(argnum) < arguments) continue;
    throw ValueError("microbatch: argnum " + std::to_string(argnum) + " of a call with " +
                     std::to_string(arguments) + " arguments; they are counted from 0");
  }
}

std::vector<Array> in_parts(const std::vector<Array>& leaves, int64_t size) {
  std::vector<Array> out;
  for (const Array& a : leaves) {
    const int64_t batch = leaves.front().rank() == 0 ? 0 : leaves.front().shape()[0];
    if (a.rank() == 0 || a.shape()[0] != batch || batch == 0 || batch % size != 0) {
      throw ShapeError("microbatch: " + to_string(a.aval()) + " in a batch of " +
                       std::to_string(batch) + " and parts of " + std::to_string(size) +
                       "; all arrays of the batch need one first axis, a multiple of the size");
    }
    Shape shape = a.shape();
    shape[0] = size;
    shape.insert(0, batch / size);
    out.push_back(reshape(a, shape));
  }
  if (out.empty()) throw ShapeError("microbatch: no arrays in the arguments of the batch");
  return out;
}

Array of_parts(const Array& a) {
  if (a.rank() < 2) {
    throw ShapeError(
        "microbatch: with kConcatenate the function gives a number for a part, as the " +
        to_string(a.aval()) +
        " of all parts; give a result for each example, along axis 0, or take kSum or "
        "kMean");
  }
  Shape shape = a.shape();
  shape.erase(0);
  shape[0] = -1;
  return reshape(a, shape);
}

}  // namespace spruce::optim::internal
