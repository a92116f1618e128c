// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive.h"

#include "spruce/transforms/batch.h"
#include "spruce/transforms/dual.h"

namespace spruce::internal {

void jvp_by_expansion(const JvpArgs& args) {
  const std::vector<Array> values = bind_all(args.p, args.in, args.params);
  DualInterpreter dual("jvp");
  std::vector<Array> in(args.in.size()), out;
  for (size_t i = 0; i < in.size(); ++i) in[i] = dual.make(args.in[i], args.tangents[i]);
  {
    const InterpreterScope scope(&dual);
    out = args.p.expand(in, args.params);
  }
  for (size_t k = 0; k < out.size(); ++k) {
    args.out[k] = values[k];
    args.out_tangents[k] = dual.tangent(out[k]);
  }
}

void batch_by_expansion(const BatchArgs& args) {
  BatchInterpreter batch(args.size, "");
  std::vector<Array> in(args.in.size()), out;
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = args.batched[i] ? batch.make(args.in[i]) : args.in[i];
  {
    const InterpreterScope scope(&batch);
    out = args.p.expand(in, args.params);
  }
  for (size_t k = 0; k < out.size(); ++k) {
    args.out_batched[k] = batch.owns(out[k]);
    args.out[k] = batch.unwrap(out[k]);
  }
}

}  // namespace spruce::internal
