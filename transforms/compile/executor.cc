// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/executor.h"

#include <algorithm>
#include <new>
#include <span>

#include "spruce/core/debug.h"
#include "spruce/core/default_device.h"
#include "spruce/core/graph/find.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/memory.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/transforms/compile/plan.h"
#include "spruce/transforms/passes/compile_log.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce::internal {

struct Executor::Frame {
  std::vector<Array> args, results;
  std::vector<Array*> origins;  // where each argument was moved from, or null
  bool overwritten = false;     // the memory of an argument may hold something else
  std::vector<const void*> in;
  std::vector<void*> out;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  int64_t counted = 0;  // of the workspace, what holds arrays

  ~Frame() {
    if (workspace == nullptr) return;
    pool_release(workspace, workspace_bytes);
    count_live(-counted);
  }
};

Executor::Executor(Graph source, std::string name)
    : source_(std::move(source)), device_(device_of(source_)), name_(std::move(name)) {}

Executor::~Executor() {
  for (auto& f : frames_) delete f.load();
  delete plan_.load();
}

const Plan& Executor::plan() const {
  const Plan* p = plan_.load(std::memory_order_acquire);
  if (p != nullptr) return *p;
  const std::lock_guard lock(mutex_);
  p = plan_.load(std::memory_order_relaxed);
  if (p == nullptr) {
    const CompileScope scope(name_);
    const DefaultDevice here(0);
    Graph runnable = passes::optimize(
        device_.several || device_.index != 0 ? without_devices(source_) : source_);
    const CompilePhase phase("plan");
    p = new Plan(std::move(runnable));
    phase.done(p->graph());
    plan_.store(p, std::memory_order_release);
  }
  return *p;
}

const Executable* Executor::compiled_by(uint8_t device) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [index, executable] : compiled_) {
    if (index == device) return executable.get();
  }
  if (passes::has_effects(source_)) {  // they are the host's
    compiled_.emplace_back(device, nullptr);
    return nullptr;
  }
  const CompileScope scope(name_);
  const DefaultDevice here(0);
  compiled_.emplace_back(device,
                         device_at(device).compile(passes::optimize(without_devices(source_))));
  return compiled_.back().second.get();
}

Executor::Frame* Executor::take() const {
  for (auto& slot : frames_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    Frame* f = slot.exchange(nullptr, std::memory_order_acquire);
    if (f != nullptr) return f;
  }
  auto* f = new Frame;
  f->args.reserve(source_.inputs.size());
  f->origins.reserve(source_.inputs.size());
  f->results.resize(source_.outputs.size());
  f->in.resize(source_.inputs.size());
  f->out.resize(source_.outputs.size());
  return f;
}

void Executor::give(Frame* frame) const noexcept {
  frame->args.clear();
  frame->origins.clear();
  frame->overwritten = false;
  for (Array& a : frame->results) a = Array();
  for (auto& slot : frames_) {
    Frame* empty = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(empty, frame, std::memory_order_release,
                                     std::memory_order_relaxed))
      return;
  }
  delete frame;
}

namespace {

bool held_once(const Array& a) { return a.impl()->unique() && a.impl()->buffer->may_be_reused(); }

Array view_of(const Array& x, const Aval& aval) {
  return Array(Ref<ArrayImpl>(new ArrayImpl(aval, x.impl()->buffer)));
}

// make_array() without its message: the caller knows more.
Array new_result(const Aval& aval) {
  return Array(Ref<ArrayImpl>(
      new ArrayImpl(aval, Buffer::allocate(static_cast<size_t>(aval.bytes()), cpu_device()))));
}

}  // namespace

void Executor::run(Frame& f) const {
  GraphDevice device = device_;
  if (!device.several && device.index == 0) {  // it follows its arguments
    device = {};
    for (const Array& a : f.args) device.add(a.aval());
  }
  bool by_operation = Interpreter::current() != nullptr || debug_nans() || device.several;
  for (const Array& a : f.args) by_operation = by_operation || a.is_tracer();
  if (!by_operation && device.index != 0) {
    if (const Executable* compiled = compiled_by(device.index))
      return run_on(f, device.index, *compiled);
    by_operation = true;
  }
  if (by_operation) {
    const bool follows = !device.several && device.index != device_.index;
    std::vector<Array> out =
        apply_graph(follows ? on_device(source_, device.index) : source_, f.args);
    for (size_t k = 0; k < out.size(); ++k) f.results[k] = std::move(out[k]);
    return;
  }
  const Plan& plan = this->plan();
  try {
    run_plan(f, plan);
  } catch (const std::bad_alloc&) {
    const auto calls_user = [](const Equation& e) { return e.primitive == &host_call_p; };
    if (find_equation(plan.graph(), calls_user) != nullptr) throw;  // it may be the user's
    throw_no_memory(plan);
  }
}

void Executor::throw_no_memory(const Plan& plan) const {
  int64_t results = 0;
  for (size_t k = 0; k < plan.results().size(); ++k) {
    if (plan.results()[k].from == Plan::Result::From::kOwn)
      results += plan.graph().avals[static_cast<size_t>(plan.graph().outputs[k])].bytes();
  }
  throw DeviceError("jit: there is no memory on the device " + std::string(cpu_device().name()) +
                    " for the compiled function '" + name_ + "': its plan takes " +
                    std::to_string(plan.temporary_bytes()) +
                    " bytes for what it computes on the "
                    "way and " +
                    std::to_string(results) +
                    " bytes for results; lower().memory() "
                    "says which values these are");
}

void Executor::run_on(Frame& f, uint8_t device, const Executable& compiled) const {
  std::vector<View> in, out;
  bool donated = false, began = false;  // beginning harms what was donated only
  for (Array& a : f.args) {
    a = rules::to_device(a, device);
    in.push_back({mutable_data(a), &a.aval()});
  }
  for (size_t k = 0; k < f.results.size(); ++k) {
    Aval aval = source_.avals[static_cast<size_t>(source_.outputs[k])];
    aval.device = device;
    const int64_t donor = compiled.donor(k);
    const bool taken = donor >= 0 && held_once(f.args[static_cast<size_t>(donor)]);
    donated = donated || taken;
    f.results[k] = taken ? view_of(f.args[static_cast<size_t>(donor)], aval) : make_array(aval);
    out.push_back({mutable_data(f.results[k]), &f.results[k].aval()});
  }
  compiled.run(in, out, donated ? f.overwritten : began);
}

namespace {

// The input whose memory the result takes over in this call, or -1: one that the caller gave up.
int64_t donor_of(const Plan::Result& r, std::span<const Array> args) {
  const auto given = [&](int64_t i) { return held_once(args[static_cast<size_t>(i)]); };
  if (r.donor < 0 || given(r.donor)) return r.donor;
  const auto other = std::find_if(r.other_donors.begin(), r.other_donors.end(), given);
  return other == r.other_donors.end() ? -1 : *other;
}

}  // namespace

void Executor::run_plan(Frame& f, const Plan& plan) const {
  if (f.workspace == nullptr && plan.workspace_bytes() > 0) {
    f.workspace = pool_allocate(plan.workspace_bytes());
    f.workspace_bytes = plan.workspace_bytes();
    f.counted = static_cast<int64_t>(plan.temporary_bytes());
    count_live(f.counted);
    plan.bind(f.workspace);
  }
  const Graph& g = plan.graph();
  const std::span<const Plan::Result> results = plan.results();
  bool donated = false;
  for (size_t i = 0; i < f.args.size(); ++i) f.in[i] = mutable_data(f.args[i]);
  for (size_t k = 0; k < results.size(); ++k) {
    const Plan::Result& r = results[k];
    const Aval& aval = g.avals[static_cast<size_t>(g.outputs[k])];
    switch (r.from) {
      case Plan::Result::From::kOwn: {
        const int64_t donor = donor_of(r, f.args);
        donated = donated || donor >= 0;
        f.results[k] =
            donor >= 0 ? view_of(f.args[static_cast<size_t>(donor)], aval) : new_result(aval);
        f.out[k] = mutable_data(f.results[k]);
        break;
      }
      case Plan::Result::From::kInput:
        f.results[k] = view_of(f.args[r.index], aval);
        break;
      case Plan::Result::From::kConstant:
        f.results[k] = view_of(g.constants[r.index].value, aval);
        break;
      case Plan::Result::From::kOutput:
        f.results[k] = view_of(f.results[r.index], aval);
        break;
    }
  }
  plan.run(f.workspace, f.in.data(), f.out.data(), donated ? &f.overwritten : nullptr);
}

void Call::add(const Array& a) {
  frame_->args.push_back(a);
  frame_->origins.push_back(nullptr);
}
void Call::add(Array&& a) {
  frame_->args.push_back(std::move(a));
  frame_->origins.push_back(&a);
}
void Call::give_back() noexcept {
  if (frame_->overwritten) return;
  for (size_t i = 0; i < frame_->args.size(); ++i) {
    if (Array* origin = frame_->origins[i]) *origin = std::move(frame_->args[i]);
  }
}
void Call::run() {
  try {
    run_frame();
  } catch (...) {
    give_back();
    throw;
  }
}
void Call::run_frame() {
  const size_t given = frame_->args.size(), wanted = executor_.source().inputs.size();
  if (given < wanted) {
    throw ValueError("jit: the function takes " + std::to_string(wanted) + " arrays and " +
                     std::to_string(given) +
                     " were left when they were taken: a variable stands in two arguments, and "
                     "one of them moved it, as in f(std::move(x), x); copy it first");
  }
  executor_.run(*frame_);
}
Array& Call::result(size_t k) { return frame_->results[k]; }

}  // namespace spruce::internal
