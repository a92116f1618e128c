// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/vmap/batch.h"

#include <memory>
#include <utility>

#include "spruce/core/default_device.h"
#include "spruce/transforms/vmap/collectives.h"

namespace spruce::internal {
namespace {

class BatchTracer final : public ArrayImpl {
 public:
  BatchTracer(uint64_t id, const Array& v) : ArrayImpl(without_front(v.aval())), value(v) {
    interpreter = id;
  }
  const ArrayImpl* concrete() const override { return nullptr; }
  std::string describe() const override { return "a traced value of vmap"; }

  const Array value;

 private:
  static Aval without_front(Aval aval) {
    aval.shape.erase(0);
    return aval;
  }
};

const Array& value_of(const Array& a) { return static_cast<const BatchTracer*>(a.impl())->value; }

// Of a composite that states no batching rule: vmap of `expand`.
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

}  // namespace

Array BatchInterpreter::make(const Array& batched) const {
  return Array(Ref<ArrayImpl>(new BatchTracer(id(), batched)));
}

Array BatchInterpreter::unwrap(const Array& a) const { return owns(a) ? value_of(a) : a; }

bool BatchInterpreter::find_axis(const std::string& name, int64_t* size) const {
  if (!axis_name_.empty() && name == axis_name_) {
    *size = size_;
    return true;
  }
  return Interpreter::find_axis(name, size);
}

void BatchInterpreter::process(const Primitive& p, std::span<const Array> in, const Params& params,
                               std::span<Array> out) {
  if (is_collective(p) && collective_axis(params) == axis_name_) {
    const InterpreterScope scope(parent());
    out[0] = run_collective(p, in, params, *this);
    return;
  }
  std::vector<Array> values(in.size());
  const auto batched = std::make_unique<bool[]>(in.size());
  bool any = false;
  for (size_t i = 0; i < in.size(); ++i) {
    batched[i] = owns(in[i]);
    values[i] = batched[i] ? value_of(in[i]) : in[i];
    any = any || batched[i];
  }
  // Without a mapped operand, a body may still ask for the axis.
  if (!any && (axis_name_.empty() || !asks_for_axis(params, axis_name_)))
    return bind_into(parent(), p, in, params, out);
  const auto out_batched = std::make_unique<bool[]>(out.size());
  for (size_t k = 0; k < out.size(); ++k) out_batched[k] = true;
  {
    const InterpreterScope scope(parent());
    const SameDevice here(values);
    const BatchArgs args{p,      values, {batched.get(), in.size()},     size_, axis_name_,
                         params, out,    {out_batched.get(), out.size()}};
    if (p.batch != nullptr && !p.expands(params)) {
      p.batch(args);
    } else if (p.expand != nullptr) {
      batch_by_expansion(args);
    } else {
      throw TracerError(describe_call(p, in) +
                        ": this operation cannot be mapped by vmap; it has no batching rule");
    }
  }
  for (size_t k = 0; k < out.size(); ++k) {
    if (out_batched[k]) out[k] = make(out[k]);
  }
}

std::vector<Array> BatchInterpreter::process_custom(const std::shared_ptr<const CustomFunction>& f,
                                                    std::span<const Array> in) {
  std::vector<Array> values(in.size());
  std::vector<bool> batched(in.size());
  bool any = false;
  for (size_t i = 0; i < in.size(); ++i) {
    batched[i] = owns(in[i]);
    values[i] = unwrap(in[i]);
    any = any || batched[i];
  }
  const InterpreterScope scope(parent());
  if (!any) return bind_custom(f, in);
  std::vector<Array> out = bind_custom(f->batch(size_, std::move(batched)), values);
  for (Array& a : out) a = make(a);
  return out;
}

}  // namespace spruce::internal
