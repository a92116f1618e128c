// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/random.h"

namespace spruce::rules {

Shape key_batch(const ShapeArgs& a) {
  const Aval& key = *a.in[0];
  if (key.dtype != Dtype::kUint32) {
    throw DtypeError(std::string(a.op) + ": the data of a key is u32[...,2], got " +
                     to_string(key) + "; make keys with Key(seed), split or fold_in");
  }
  if (key.shape.empty() || key.shape.back() != 2) {
    throw ShapeError(std::string(a.op) + ": the data of a key is u32[...,2], got " +
                     to_string(key) + "; make keys with Key(seed), split or fold_in");
  }
  Shape batch = key.shape;
  batch.erase(batch.rank() - 1);
  return batch;
}

void batch_keys(const BatchArgs& a) { a.out[0] = bind1(a.p, a.in, a.params); }

SampleInput key_sample(const Shape& batch) {
  SampleInput in;
  Shape shape = batch;
  shape.push_back(2);
  in.aval = Aval{Dtype::kUint32, false, shape};
  in.low = 0;
  in.high = 1000;
  return in;
}

}  // namespace spruce::rules
