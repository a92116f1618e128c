// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/body/body.h"

#include "spruce/core/escaped.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/transforms/function/run_under.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/stage/stage.h"

namespace spruce::internal {
namespace {

constexpr int64_t kSmall = 16;  // elements of a constant that stays in the body

// The place of the operation whose body is being staged: while the body runs, its own operations
// say where they are.
thread_local Loc operation = Loc::none();

class OperationScope {
 public:
  explicit OperationScope(Loc loc) : saved_(operation) { operation = loc; }
  ~OperationScope() { operation = saved_; }
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

 private:
  Loc saved_;
};

struct Loop {
  const char* name = nullptr;
  uint64_t id = 0;  // of the interpreter of its body
};
thread_local Loop innermost;

class LoopScope {
 public:
  LoopScope(const char* name, uint64_t id) : saved_(innermost) { innermost = {name, id}; }
  ~LoopScope() { innermost = saved_; }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

 private:
  Loop saved_;
};

bool stays(const Array& a) { return !a.is_tracer() && a.size() <= kSmall && a.aval().device == 0; }

bool takes(const Aval& wide, const Aval& narrow) {
  return wide.shape == narrow.shape &&
         promote(wide.dtype, wide.weak, narrow.dtype, narrow.weak) == wide.dtype;
}

}  // namespace

void convert_output(Graph& graph, size_t k, const Aval& to) {
  ValueId v = graph.outputs[k];
  Aval type = graph.avals[static_cast<size_t>(v)];
  const auto apply = [&](const Primitive& p, Params params) {
    const ValueId out = graph.add_value(type);
    graph.equations.push_back({&p, std::move(params), {v}, {out}, {}});
    v = out;
  };
  if (type.dtype != to.dtype || type.weak != to.weak) {
    type.dtype = to.dtype;
    type.weak = to.weak;
    apply(convert_element_type_p, Params::make(ConvertParams{to.dtype, to.weak}));
  }
  if (type.device != to.device && is_placed(to)) {  // a number may be anywhere
    type.device = to.device;
    apply(to_device_p, Params::make(ToDeviceParams{std::string(device_at(to.device).name())}));
  }
  graph.outputs[k] = v;
}

std::vector<Aval> Body::results() const {
  std::vector<Aval> out;
  for (const ValueId v : graph.outputs) out.push_back(graph.avals[static_cast<size_t>(v)]);
  return out;
}

Body stage_body(const char* name, const FlatBody& f, std::span<const Aval> in) {
  StageInterpreter interpreter(name);
  std::vector<Array> args;
  for (const Aval& aval : in) args.push_back(interpreter.input(aval));
  const OperationScope scope(LocScope::current());
  const std::vector<Array> out = run_under(interpreter, [&] { return f(args); });
  for (const Array& a : out) interpreter.output(a);
  Body body{passes::outermost_dead_code(interpreter.take()), {}};
  Graph& graph = body.graph;
  (void)captures_tracers(graph, name);
  std::vector<ValueId> inputs;
  std::vector<Graph::Constant> constants;
  for (Graph::Constant& c : graph.constants) {
    if (stays(c.value)) {
      constants.push_back(std::move(c));
    } else {
      inputs.push_back(c.id);
      body.consts.push_back(std::move(c.value));
    }
  }
  inputs.insert(inputs.end(), graph.inputs.begin(), graph.inputs.end());
  graph.inputs = std::move(inputs);
  graph.constants = std::move(constants);
  return body;
}

Body stage_step(const char* name, const FlatBody& f, std::span<const Aval> in) {
  const FlatBody step = [&](std::span<const Array> args) {
    const LoopScope within(name, Interpreter::current_id());
    return f(args);
  };
  return stage_body(name, step, in);
}

const char* loop_within(uint64_t interpreter) {
  return innermost.id > interpreter ? innermost.name : nullptr;
}

std::vector<std::string> leaf_paths(const std::string& root,
                                    const std::vector<tree::Entry>& entries) {
  std::vector<std::string> out;
  for (const tree::Entry& e : entries) {
    if (!e.value.defined()) continue;
    out.push_back(e.path.empty() ? root : root + "." + e.path);
  }
  return out;
}

std::string form_difference(const tree::Structure& first,
                            const std::vector<tree::Entry>& first_leaves,
                            const tree::Structure& second,
                            const std::vector<tree::Entry>& second_leaves) {
  std::string difference = first.difference(second);
  for (size_t i = 0; i < first_leaves.size() && difference.empty(); ++i) {
    const bool defined = first_leaves[i].value.defined();
    if (defined == second_leaves[i].value.defined()) continue;
    const std::string path = first_leaves[i].path;
    difference = "at " + (path.empty() ? "the root" : path) + ": an array in the " +
                 (defined ? "first, an undefined one in the second"
                          : "second, an undefined one in the first");
  }
  return difference;
}

void check_carry_form(const char* op, const tree::Structure& before,
                      const std::vector<tree::Entry>& before_leaves, const tree::Structure& after,
                      const std::vector<tree::Entry>& after_leaves) {
  const std::string difference = form_difference(before, before_leaves, after, after_leaves);
  if (difference.empty()) return;
  const LocScope at(operation);
  throw TreeError(std::string(op) +
                  ": the carry before the body and the one after it have different forms: " +
                  difference + "; return a carry like the one that the body gets");
}

void check_running(const char* op, std::span<const Array> values) {
  for (const Array& a : values) {
    if (a.is_tracer() && !Interpreter::is_running(a.impl()->interpreter)) throw_escaped(op, a);
  }
}

Body settle_carry(const char* op, std::vector<Array>& init, const std::vector<std::string>& paths,
                  const std::function<Body(std::span<const Aval>)>& stage) {
  check_running(op, init);
  std::vector<Aval> types;
  for (const Array& a : init) types.push_back(a.aval());
  for (;;) {
    Body body = stage(types);
    const std::vector<Aval> results = body.results();
    bool again = false;
    for (size_t i = 0; i < types.size(); ++i) {
      Aval& before = types[i];
      Aval after = results[i];
      if (before == after) continue;
      if (before.device != after.device) {
        if (is_placed(before) && is_placed(after)) {
          throw DeviceError(std::string(op) + ": " + paths[i] + " is " + to_string(before) +
                            " before the body and " + to_string(after) +
                            " after it; a carry stays on its device: move one of them with "
                            "to_device");
        }
        if (!is_placed(before)) {  // a number that the body computes with on a device
          before.device = after.device;
          again = true;
          continue;
        }
        after.device = before.device;
        if (before == after) {
          convert_output(body.graph, i, before);
          continue;
        }
      }
      if (before.weak && takes(after, before) && (!after.weak || after.dtype != before.dtype)) {
        types[i] = after;
        again = true;
      } else if (after.weak && takes(before, after)) {
        convert_output(body.graph, i, before);
      } else if (!(before.shape == after.shape) || before.dtype != after.dtype) {
        const std::string message = std::string(op) + ": " + paths[i] + " is " + to_string(before) +
                                    " before the body and " + to_string(after) + " after it; ";
        if (!(before.shape == after.shape))
          throw ShapeError(message + "a carry keeps its shape from step to step");
        throw DtypeError(message + "convert one of them with astype");
      }
    }
    if (again) continue;
    for (size_t i = 0; i < init.size(); ++i) {
      if (!(init[i].aval() == types[i]))
        init[i] = rules::to_device(rules::convert(init[i], types[i].dtype, types[i].weak),
                                   types[i].device);
    }
    return body;
  }
}

}  // namespace spruce::internal
