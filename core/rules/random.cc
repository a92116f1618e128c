// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/random.h"

#include "spruce/core/rules/elementwise.h"

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

void check_draws(const ShapeArgs& a, size_t parameters) {
  if (a.in.size() != parameters + 1) {
    throw GraphError(std::string(a.op) + ": takes keys and " + std::to_string(parameters) +
                     " arrays, " + std::to_string(a.in.size()) + " inputs are given");
  }
  const Shape batch = key_batch(a);
  for (const Aval* x : a.in.subspan(1)) {
    bool fits = is_floating(x->dtype) && batch.rank() <= x->shape.rank();
    for (int i = 0; fits && i < batch.rank(); ++i) fits = batch[i] == x->shape[i];
    if (!fits) {
      throw ShapeError(std::string(a.op) + ": takes floating arrays whose shape begins with " +
                       to_string(batch) + ", that of the keys; got " + to_string(*x));
    }
  }
}

void batch_draws(const BatchArgs& a) {
  std::vector<Array> in;
  for (size_t i = 0; i < a.in.size(); ++i)
    in.push_back(materialize_batch(a.in[i], a.batched[i], a.size));
  a.out[0] = bind1(a.p, in, a.params);
}

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
