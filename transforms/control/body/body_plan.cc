// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/body/body_plan.h"

#include <algorithm>

#include "spruce/transforms/control/body/kernel_cache.h"

namespace spruce::internal {

BodyPlan::BodyPlan(const Graph& body, size_t consts, size_t carry, BlockLayout& layout)
    : plan_(body, true, consts), consts_(consts) {
  workspace_ = layout.add(plan_.workspace_bytes());
  in_ = layout.add(inputs() * sizeof(void*));
  out_ = layout.add(outputs() * sizeof(void*));
  for (size_t i = 0; i < carry; ++i) {
    const bool in_place = plan_.results()[i].donor == static_cast<int64_t>(consts + i);
    carry_.add(in_place, static_cast<size_t>(output(i).bytes()), layout);
  }
}

BodyPlan::Frame BodyPlan::bind(void* workspace) const {
  auto* base = static_cast<char*>(workspace);
  plan_.bind(base + workspace_);
  return {base + workspace_, reinterpret_cast<const void**>(base + in_),
          reinterpret_cast<void**>(base + out_)};
}

void BodyPlan::move_carry(const Frame& f, bool first, bool to_outputs, std::span<const View> init,
                          std::span<const View> outputs, void* workspace) const {
  carry_.move(
      f.in + consts_, f.out, first, to_outputs, [&](size_t i) { return init[i].data; },
      [&](size_t i) { return outputs[i].data; }, workspace);
}

bool on_cpu(std::span<const Array> arrays) {
  return std::all_of(arrays.begin(), arrays.end(),
                     [](const Array& a) { return a.aval().device == 0; });
}

StepFunction::StepFunction(const GraphPtr& body) : executor_(ready_body(body)) {}

std::vector<Array> StepFunction::operator()(std::vector<Array> args) const {
  Call call(*executor_);
  for (Array& a : args) call.add(std::move(a));
  call.run();
  std::vector<Array> out;
  for (size_t k = 0; k < executor_->source().outputs.size(); ++k)
    out.push_back(std::move(call.result(k)));
  return out;
}

std::vector<Array> run_prepared(
    const Primitive& p, std::span<const Array> in, const Params& params,
    std::unique_ptr<const PreparedKernel> (*prepare)(const PrepareArgs&)) {
  const std::shared_ptr<const ReadyKernel> ready = ready_kernel(p, params, in, prepare);
  std::vector<View> in_views, out_views;
  std::vector<Array> out;
  for (const Array& a : in) in_views.push_back({mutable_data(a), &a.aval()});
  for (const Aval& type : ready->out) out.push_back(make_array(type));
  for (const Array& a : out) out_views.push_back({mutable_data(a), &a.aval()});
  const Array workspace = make_array(
      {Dtype::kUint8, false, Shape{static_cast<int64_t>(ready->kernel->workspace_bytes())}});
  ready->kernel->run({in_views, out_views, ready->optimized, mutable_data(workspace)});
  return out;
}

}  // namespace spruce::internal
