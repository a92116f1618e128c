// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/stage/eval_shape.h"

namespace spruce::internal {
namespace {

class ShapeOnly final : public ArrayImpl {
 public:
  ShapeOnly(const Aval& a, uint64_t id) : ArrayImpl(a) { interpreter = id; }
  const ArrayImpl* concrete() const override { return nullptr; }
  std::string describe() const override { return "an array of eval_shape, without elements,"; }
};

}  // namespace

Array ShapeInterpreter::of_type(const Aval& aval) const {
  return Array(Ref<ArrayImpl>(new ShapeOnly(aval, id())));
}

void ShapeInterpreter::process(const Primitive& p, std::span<const Array> in, const Params& params,
                               std::span<Array> out) {
  std::vector<const Aval*> types;
  for (const Array& a : in) types.push_back(&a.impl()->aval);
  const std::vector<Aval> results = output_avals(p, types, params);
  for (size_t k = 0; k < out.size(); ++k) out[k] = of_type(results[k]);
}

std::vector<Array> ShapeInterpreter::process_custom(const std::shared_ptr<const CustomFunction>& f,
                                                    std::span<const Array> in) {
  return f->call(in);
}

}  // namespace spruce::internal
