// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/device/executable.h"

#include <optional>
#include <utility>

#include "spruce/core/array.h"
#include "spruce/core/graph/build.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/rules/group.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/core/step_run.h"
#include "spruce/cuda/cuda.h"
#include "spruce/cuda/device/device.h"
#include "spruce/cuda/device/host_step.h"
#include "spruce/cuda/driver/error.h"
#include "spruce/cuda/driver/ranges.h"
#include "spruce/cuda/plan/graph_cache.h"
#include "spruce/cuda/plan/layout.h"
#include "spruce/cuda/plan/step_times.h"
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

// Types that name the device, in nested graphs too. A number among the constants stays on the host:
// it goes with the launch. So do the constants of groups that are written as one kernel.
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

// The graph with its values on the device, each product and the bias and activation after it as one
// equation, and fused groups replaced by their equations where no kernel runs the whole group.
Graph prepared(Graph graph, uint8_t device) {
  place(graph, device, true);
  Graph out = rebuild(join_products(std::move(graph)),
                      [](Graph& g, Equation e, std::vector<ValueId>& renamed) {
                        const GraphPtr body = rules::group_body(e);
                        if (body == nullptr || kernels_for(g, e))
                          g.equations.push_back(std::move(e));
                        else
                          splice_for(g, e, *body, renamed);
                      });
  return out;
}

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(Graph graph, CudaDevice& device)
      : device_(device),
        graph_(std::move(graph)),
        strided_(graph_),
        cuda_graphs_(device.context()) {
    std::vector<std::optional<Kernels>> kernels(graph_.equations.size());
    std::vector<const std::string*> texts;
    std::vector<EquationMemory> memory(graph_.equations.size());
    for (size_t n = 0; n < graph_.equations.size(); ++n) {
      const Equation& e = graph_.equations[n];
      if (!runs(n)) continue;
      kernels[n] = kernels_for(graph_, e, strided_.input_strides(n), strided_.output_strides(e));
      if (!kernels[n]) continue;
      memory[n] = {kernels[n]->workspace_bytes, kernels[n]->in_place};
      for (const Step& step : kernels[n]->steps) {
        if (const auto* launch = std::get_if<Launch>(&step)) texts.push_back(&launch->text);
      }
    }
    device_.context().load(texts);
    for (size_t n = 0; n < kernels.size(); ++n) {
      const Equation& e = graph_.equations[n];
      if (!runs(n)) {
        steps_.push_back(nullptr);
      } else if (kernels[n]) {
        steps_.push_back(std::make_unique<const Steps>(*std::move(kernels[n]), device_.context(),
                                                       e.primitive->name));
      } else {
        steps_.push_back(nullptr);
        by_host_ = true;
      }
    }
    layout_ = make_layout(graph_, memory, strided_);
    for (const Graph::Constant& c : graph_.constants) {
      constants_.push_back(rules::to_device(c.value, device_.index()));
    }
    std::vector<int32_t> timed;
    for (size_t n = 0; n < graph_.equations.size(); ++n) {
      if (runs(n)) timed.push_back(static_cast<int32_t>(n));
    }
    if (!layout_.copied_outputs.empty()) timed.push_back(-1);
    times_.emplace(device_.context(), std::move(timed));
  }

  int64_t donor(size_t k) const override { return layout_.donors[k]; }

  void run(std::span<const View> in, std::span<const View> out, bool& began) const override {
    const CudaDevice::Arena arena(device_, layout_.arena_bytes);
    const Range range("jit");
    const bool timed = internal::profile_step.load(std::memory_order_relaxed) != nullptr;
    device_.context().enter();
    if (timed) times_->begin();
    std::vector<void*> addresses;
    for (const View& v : in) addresses.push_back(v.data);
    for (const View& v : out) addresses.push_back(v.data);
    addresses.push_back(arena.data());
    const auto run_all = [&](CUstream stream) { enqueue(stream, addresses, timed); };
    began = true;
    if (by_host_) {
      run_all(device_.context().stream());
    } else {
      // As a graph the steps follow each other without the host, whose time is not theirs.
      const int mode = 2 * static_cast<int>(matmul_precision()) + (timed ? 1 : 0);
      cuda_graphs_.run(addresses, mode, timed, run_all);
    }
    device_.context().enqueued("jit");
    if (timed) times_->report(graph_);
  }

 private:
  // True if equation n is a step.
  bool runs(size_t n) const { return !internal::is_view(graph_.equations[n]) && strided_.runs(n); }

  // `addresses`: inputs, outputs, arena.
  char* address(ValueId v, std::span<void* const> addresses) const {
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
  char* input_address(size_t n, size_t i, std::span<void* const> addresses) const {
    const ValueId v = graph_.equations[n].inputs[i];
    const rules::StridedPlace* p = strided_.input(n, i);
    if (p == nullptr) return address(v, addresses);
    return address(p->base, addresses) + p->offset * size_of(graph_.avals[at(v)].dtype);
  }

  // The number of the host that the value is, or null.
  const void* number(ValueId v) const {
    const Aval& aval = graph_.avals[at(v)];
    const ValuePlace& place = layout_.values[at(v)];
    if (!is_host_number(aval) || place.where != ValuePlace::Where::kConstant) return nullptr;
    return internal::mutable_data(graph_.constants[place.index].value);
  }

  void enqueue(CUstream stream, std::span<void* const> addresses, bool timed) const {
    std::vector<void*> in, out;
    std::vector<const void*> host_in;
    size_t marks = 0;
    const auto mark = [&] {
      if (timed) times_->mark(stream, marks++);
    };
    for (size_t n = 0; n < graph_.equations.size(); ++n) {
      const Equation& e = graph_.equations[n];
      if (!runs(n)) continue;
      mark();
      const Range range(e.primitive->name, e.place);
      if (steps_[n] == nullptr) {
        const internal::WithinStep within;
        run_by_host(n, addresses);
        continue;
      }
      in.clear();
      out.clear();
      host_in.clear();
      for (size_t i = 0; i < e.inputs.size(); ++i) {
        in.push_back(input_address(n, i, addresses));
        host_in.push_back(number(e.inputs[i]));
      }
      for (const ValueId v : e.outputs) out.push_back(address(v, addresses));
      steps_[n]->enqueue(
          stream, {in, host_in, out, static_cast<char*>(addresses.back()) + layout_.workspaces[n]});
    }
    if (!layout_.copied_outputs.empty()) mark();
    for (const size_t k : layout_.copied_outputs) {
      const ValueId v = graph_.outputs[k];
      const auto bytes = static_cast<size_t>(graph_.avals[at(v)].bytes());
      if (bytes == 0) continue;
      check(driver().cuMemcpyDtoDAsync(device_address(addresses[graph_.inputs.size() + k]),
                                       device_address(address(v, addresses)), bytes, stream),
            "jit: copying a result");
    }
    mark();
  }

  void run_by_host(size_t n, std::span<void* const> addresses) const {
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

  CudaDevice& device_;
  Graph graph_;
  rules::Layouts strided_;
  Layout layout_;
  std::vector<std::unique_ptr<const Steps>>
      steps_;                               // by equation; null for views and what has no kernels
  std::vector<Array> constants_;            // on the device
  bool by_host_ = false;                    // the host has a part in some equations
  mutable std::optional<StepTimes> times_;  // these two under the lock of the arena
  mutable GraphCache cuda_graphs_;
};

}  // namespace

std::unique_ptr<const Executable> make_executable(const Graph& graph, CudaDevice& device) {
  return std::make_unique<const CudaExecutable>(prepared(graph, device.index()), device);
}

}  // namespace spruce::cuda
