// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/device/program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spruce/core/array.h"
#include "spruce/core/graph/build.h"
#include "spruce/core/rules/group.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/core/step_run.h"
#include "spruce/cuda/device/control.h"
#include "spruce/cuda/device/device.h"
#include "spruce/cuda/device/host_step.h"
#include "spruce/cuda/driver/error.h"
#include "spruce/cuda/driver/ranges.h"
#include "spruce/cuda/products/epilogue.h"

namespace spruce::cuda {
namespace {

using internal::at;

// The kernels of an equation; nothing where there are none.
std::optional<Kernels> kernels_for(const Graph& g, const Equation& e,
                                   std::span<const Shape* const> in_strides = {},
                                   std::span<const Shape* const> out_strides = {}) {
  const std::vector<const Aval*> in = types_of(g, e.inputs), out = types_of(g, e.outputs);
  bool known = true;
  Kernels kernels = kernels_of(*e.primitive, {in, out, e.params, in_strides, out_strides}, known);
  if (!known) return std::nullopt;
  return kernels;
}

// A number among the constants stays on the host: it goes with the launch. So do the constants of
// groups that are written as one kernel.
void place(Graph& g, uint8_t device, bool constants_too) {
  for (Aval& a : g.avals) a.device = device;
  for (Graph::Constant& c : g.constants) {
    if (c.value.rank() == 0)
      g.avals[at(c.id)].device = 0;
    else if (constants_too)
      c.value = rules::to_device(c.value, device);
  }
  for (Equation& e : g.equations) {
    const bool group = e.primitive->kind == PrimitiveKind::kGroup;
    e.params = e.params.map_graphs([&](const GraphPtr& body) -> GraphPtr {
      Graph placed = *body;
      place(placed, device, !group);
      return std::make_shared<const Graph>(std::move(placed));
    });
  }
}

// Each product and the bias and activation after it as one equation, and fused groups replaced by
// their equations where no kernel runs the whole group.
Graph with_kernels(const Graph& graph) {
  return rebuild(join_products(graph), [](Graph& g, Equation e, std::vector<ValueId>& renamed) {
    const GraphPtr body = rules::group_body(e);
    if (body == nullptr || kernels_for(g, e))
      g.equations.push_back(std::move(e));
    else
      splice_for(g, e, *body, renamed);
  });
}

}  // namespace

Graph on_gpu(Graph graph, uint8_t device) {
  place(graph, device, true);
  return graph;
}

Program::Program(const Graph& graph, CudaDevice& device, size_t first_carried)
    : device_(device), graph_(with_kernels(graph)), strided_(graph_) {
  const size_t equations = graph_.equations.size();
  steps_.resize(equations);
  controls_.resize(equations);
  std::vector<std::optional<Kernels>> kernels(equations);
  std::vector<const std::string*> texts;
  std::vector<EquationMemory> memory(equations);
  for (size_t n = 0; n < equations; ++n) {
    const Equation& e = graph_.equations[n];
    if (!runs(n)) continue;
    if ((controls_[n] = make_control(e, device)) != nullptr) {
      memory[n] = {static_cast<int64_t>(controls_[n]->workspace_bytes()), controls_[n]->in_place()};
      needs_host_ = needs_host_ || controls_[n]->needs_host();
      launches_ += controls_[n]->launches();
      continue;
    }
    kernels[n] = kernels_for(graph_, e, strided_.input_strides(n), strided_.output_strides(e));
    if (!kernels[n]) {
      needs_host_ = true;
      continue;
    }
    launches_ += static_cast<int64_t>(kernels[n]->steps.size());
    memory[n] = {kernels[n]->workspace_bytes, kernels[n]->in_place};
    for (const Step& step : kernels[n]->steps) {
      if (const auto* launch = std::get_if<Launch>(&step)) texts.push_back(&launch->text);
    }
  }
  device_.context().load(texts);
  for (size_t n = 0; n < equations; ++n) {
    if (!kernels[n]) continue;
    steps_[n] = std::make_unique<const Steps>(*std::move(kernels[n]), device_.context(),
                                              graph_.equations[n].primitive->name);
  }
  layout_ = make_layout(graph_, memory, strided_, first_carried);
  launches_ += static_cast<int64_t>(layout_.copied_outputs.size());
  for (const Graph::Constant& c : graph_.constants)
    constants_.push_back(rules::to_device(c.value, device_.index()));
}

Program::~Program() = default;

bool Program::has_control() const {
  return std::any_of(controls_.begin(), controls_.end(),
                     [](const auto& c) { return c != nullptr; });
}
size_t Program::steps() const {
  size_t out = 0;
  for (size_t n = 0; n < graph_.equations.size(); ++n) out += runs(n) ? 1 : 0;
  return out;
}

bool Program::runs(size_t n) const {
  return !internal::is_view(graph_.equations[n]) && strided_.runs(n);
}

char* Program::address(ValueId v, std::span<void* const> addresses) const {
  const ValuePlace& place = layout_.values[at(v)];
  const auto begin = [&]() -> void* {
    switch (place.where) {
      case ValuePlace::Where::kInput:
        return addresses[place.index];
      case ValuePlace::Where::kOutput:
        return addresses[graph_.inputs.size() + place.index];
      case ValuePlace::Where::kConstant:
        return internal::mutable_data(constants_[place.index]);
      default:
        return addresses.back();
    }
  };
  return static_cast<char*>(begin()) + place.offset;
}

char* Program::input_address(size_t n, size_t i, std::span<void* const> addresses) const {
  const ValueId v = graph_.equations[n].inputs[i];
  const rules::StridedPlace* p = strided_.input(n, i);
  if (p == nullptr) return address(v, addresses);
  return address(p->base, addresses) + p->offset * size_of(graph_.avals[at(v)].dtype);
}

// The number of the host that the value is, or null.
const void* Program::number(ValueId v) const {
  const Aval& aval = graph_.avals[at(v)];
  const ValuePlace& place = layout_.values[at(v)];
  if (!is_host_number(aval) || place.where != ValuePlace::Where::kConstant) return nullptr;
  return internal::mutable_data(graph_.constants[place.index].value);
}

void Program::enqueue(CUstream stream, std::span<void* const> addresses, StepTimes* times) const {
  std::vector<void*> in, out;
  std::vector<const void*> host_in;
  size_t begin = times != nullptr ? times->mark(stream) : 0;
  const auto ends = [&](int32_t equation) {
    if (times == nullptr) return;
    const size_t end = times->mark(stream);
    times->add(graph_, equation, begin, end);
    begin = end;
  };
  for (size_t n = 0; n < graph_.equations.size(); ++n) {
    const Equation& e = graph_.equations[n];
    if (!runs(n)) continue;
    const Range range(e.primitive->name, e.place);
    if (steps_[n] == nullptr && controls_[n] == nullptr) {
      const internal::WithinStep within;
      run_by_host(n, addresses);
    } else {
      in.clear();
      out.clear();
      host_in.clear();
      for (size_t i = 0; i < e.inputs.size(); ++i) {
        in.push_back(input_address(n, i, addresses));
        host_in.push_back(number(e.inputs[i]));
      }
      for (const ValueId v : e.outputs) out.push_back(address(v, addresses));
      const Steps::Memory memory{in, host_in, out,
                                 static_cast<char*>(addresses.back()) + layout_.workspaces[n]};
      if (steps_[n] != nullptr) {
        steps_[n]->enqueue(stream, memory);
      } else {
        const internal::WithinStep within;
        controls_[n]->enqueue(stream, memory, times);
      }
    }
    ends(static_cast<int32_t>(n));
  }
  if (layout_.copied_outputs.empty()) return;
  copy_outputs(stream, addresses);
  ends(-1);
}

void Program::copy_outputs(CUstream stream, std::span<void* const> addresses) const {
  for (const size_t k : layout_.copied_outputs) {
    const ValueId v = graph_.outputs[k];
    copy_on_device(stream, addresses[graph_.inputs.size() + k], address(v, addresses),
                   graph_.avals[at(v)].bytes());
  }
}

void Program::run_by_host(size_t n, std::span<void* const> addresses) const {
  const Equation& e = graph_.equations[n];
  std::vector<Aval> types;
  types.reserve(e.inputs.size() + e.outputs.size());
  std::vector<View> in, out;
  const auto view = [&](ValueId v, void* data) {
    types.push_back(graph_.avals[at(v)]);
    const void* host = number(v);
    return View{host != nullptr ? const_cast<void*>(host) : data, &types.back()};
  };
  for (size_t i = 0; i < e.inputs.size(); ++i)
    in.push_back(view(e.inputs[i], input_address(n, i, addresses)));
  for (const ValueId v : e.outputs) out.push_back(view(v, address(v, addresses)));
  run_without_kernels(*e.primitive, {in, out, e.params}, device_);
}

}  // namespace spruce::cuda
