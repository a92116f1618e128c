// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive/tape.h"

#include "spruce/core/default_device.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/transforms/vmap/batch.h"

namespace spruce::internal {
namespace {

class LinearTracer final : public ArrayImpl {
 public:
  LinearTracer(uint64_t id, const Aval& a, int64_t n) : ArrayImpl(a), number(n) {
    interpreter = id;
  }
  const ArrayImpl* concrete() const override { return nullptr; }
  std::string describe() const override { return "a tangent of grad"; }

  const int64_t number;
};

}  // namespace

Array Tape::make(const Aval& aval, int64_t number) const {
  return Array(Ref<ArrayImpl>(new LinearTracer(id(), aval, number)));
}

int64_t Tape::number_of(const Array& a) const {
  return static_cast<const LinearTracer*>(a.impl())->number;
}

Array Tape::input(const Aval& aval) {
  const auto number = static_cast<int64_t>(avals_.size());
  avals_.push_back(aval);
  inputs_.push_back(number);
  return make(aval, number);
}

void Tape::process(const Primitive& p, std::span<const Array> in, const Params& params,
                   std::span<Array> out) {
  bool linear = false;
  for (const Array& a : in) linear = linear || owns(a);
  if (!linear) return bind_into(parent(), p, in, params, out);
  std::vector<const Aval*> types(in.size());
  for (size_t i = 0; i < in.size(); ++i) types[i] = &in[i].impl()->aval;
  const size_t first_operand = operands_.size(), first_result = avals_.size();
  for (const Aval& a : output_avals(p, types, params)) avals_.push_back(a);
  for (const Array& a : in) {
    if (owns(a))
      operands_.push_back({Array(), number_of(a)});
    else
      operands_.push_back({a, -1});
  }
  operations_.push_back(
      {&p, params, first_operand, in.size(), first_result, out.size(), kept(LocScope::current())});
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = make(avals_[first_result + k], static_cast<int64_t>(first_result + k));
}

std::vector<Array> Tape::process_custom(const std::shared_ptr<const CustomFunction>& f,
                                        std::span<const Array> in) {
  bool linear = false;
  for (const Array& a : in) linear = linear || owns(a);
  if (linear) return f->call(in);  // a rule may call it on tangents where it is linear in them
  const InterpreterScope scope(parent());
  return bind_custom(f, in);
}

std::vector<Array> Tape::transpose(std::span<const Array> outputs,
                                   std::span<const Array> cotangents) const {
  std::vector<Array> cts(avals_.size());
  const auto accumulate = [&](int64_t number, const Array& ct) {
    Array& sum = cts[static_cast<size_t>(number)];
    sum = sum.defined() ? std::move(sum) + ct : ct;
  };
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (owns(outputs[k]) && cotangents[k].defined())
      accumulate(number_of(outputs[k]), cotangents[k]);
  }
  std::vector<Array> in, out;
  std::vector<Aval> in_avals;
  const Loc outer = LocScope::current();
  const LocReset reset;  // operations name their own places
  for (size_t n = operations_.size(); n-- > 0;) {
    const Operation& op = operations_[n];
    const std::span<Array> results(cts.data() + op.first_result, op.results);
    bool any = false;
    for (const Array& ct : results) any = any || ct.defined();
    if (!any) continue;
    const std::span<const Operand> operands(operands_.data() + op.first_operand, op.operands);
    in.assign(op.operands, Array());
    out.assign(op.operands, Array());
    in_avals.clear();
    for (size_t i = 0; i < op.operands; ++i) {
      in[i] = operands[i].constant;
      in_avals.push_back(operands[i].linear < 0 ? operands[i].constant.aval()
                                                : avals_[static_cast<size_t>(operands[i].linear)]);
    }
    const LocScope at(op.loc.file() == nullptr ? outer : op.loc);
    if (op.p->transpose == nullptr) {
      throw DerivativeError(std::string(op.p->name) +
                            ": reverse mode meets an operation on tangents that has no transpose "
                            "rule; it is not linear in them");
    }
    const DefaultDevice here(device_among(in_avals));
    op.p->transpose({*op.p,
                     results,
                     in,
                     in_avals,
                     {avals_.data() + op.first_result, op.results},
                     op.params,
                     out});
    for (size_t i = 0; i < op.operands; ++i) {
      if (operands[i].linear >= 0 && out[i].defined()) accumulate(operands[i].linear, out[i]);
    }
    for (Array& ct : results) ct = Array();  // its last use: the memory is free for the next
  }
  std::vector<Array> result(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) result[i] = cts[static_cast<size_t>(inputs_[i])];
  return result;
}

std::vector<Array> Tape::apply(std::span<const Array> outputs,
                               std::span<const Array> tangents) const {
  std::vector<Array> values(avals_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    values[static_cast<size_t>(inputs_[i])] =
        tangents[i].defined() ? tangents[i]
                              : rules::zeros_of(avals_[static_cast<size_t>(inputs_[i])]);
  }
  std::vector<Array> in;
  const Loc outer = LocScope::current();
  const LocReset reset;  // operations name their own places
  for (const Operation& op : operations_) {
    in.clear();
    for (size_t i = 0; i < op.operands; ++i) {
      const Operand& o = operands_[op.first_operand + i];
      in.push_back(o.linear < 0 ? o.constant : values[static_cast<size_t>(o.linear)]);
    }
    const LocScope at(op.loc.file() == nullptr ? outer : op.loc);
    const std::vector<Array> out = bind_all(*op.p, in, op.params);
    for (size_t k = 0; k < op.results; ++k) values[op.first_result + k] = out[k];
  }
  std::vector<Array> result(outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (owns(outputs[k])) result[k] = values[static_cast<size_t>(number_of(outputs[k]))];
  }
  return result;
}

bool in_reverse_mode(std::span<const Array> tangents) {
  Interpreter* const current = Interpreter::current();
  if (dynamic_cast<const Tape*>(current) != nullptr) return true;
  std::vector<Array> inner(tangents.begin(), tangents.end());
  for (const Interpreter* i = current; i != nullptr; i = i->parent()) {
    if (dynamic_cast<const Tape*>(i) != nullptr) {
      for (const Array& t : inner) {
        if (i->owns(t)) return true;
      }
    } else if (const auto* batch = dynamic_cast<const BatchInterpreter*>(i)) {
      for (Array& t : inner) t = batch->unwrap(t);
    }
  }
  return false;
}

}  // namespace spruce::internal
