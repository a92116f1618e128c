// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/stage/stage.h"

#include <algorithm>

#include "spruce/core/escaped.h"
#include "spruce/core/graph/custom_call.h"
#include "spruce/core/public_name.h"

namespace spruce::internal {
namespace {

class StageTracer final : public ArrayImpl {
 public:
  StageTracer(uint64_t id, const char* transform, const Aval& a, ValueId v)
      : ArrayImpl(a), value(v), transform_(transform) {
    interpreter = id;
  }
  const ArrayImpl* concrete() const override { return nullptr; }
  std::string describe() const override { return std::string("a traced value of ") + transform_; }

  const ValueId value;

 private:
  const char* transform_;
};

std::string place_text(Loc loc) {
  const std::string whole = to_string(loc);
  return whole.substr(whole.find_last_of('/') + 1);
}

// Names the operation that uses the constant and its line, or else `name`.
[[noreturn]] void throw_captured(const Graph& graph, const Graph::Constant& c,
                                 const char* name = "jit") {
  std::string user = name, place;
  for (const Equation& e : graph.equations) {
    if (std::find(e.inputs.begin(), e.inputs.end(), c.id) == e.inputs.end()) continue;
    user = internal::public_name(e.primitive->name);
    place = e.place;
    break;
  }
  const LocReset reset;
  const LocScope at(place.empty() ? Loc::none() : Loc::text(place.c_str()));
  throw_escaped(user, c.value);
}

}  // namespace

Array StageInterpreter::make(ValueId v) const {
  return Array(
      Ref<ArrayImpl>(new StageTracer(id(), name_, graph_.avals[static_cast<size_t>(v)], v)));
}

ValueId StageInterpreter::id_of(const Array& a) {
  if (owns(a)) return static_cast<const StageTracer*>(a.impl())->value;
  if (RuleKindScope::captures(a)) throw_escaped(name_, a);
  const auto [it, added] = constants_.try_emplace(a.impl(), 0);
  if (added) {
    it->second = graph_.add_value(a.aval());
    graph_.constants.push_back({it->second, a});
  }
  return it->second;
}

Array StageInterpreter::input(const Aval& aval) {
  const ValueId v = graph_.add_value(aval);
  graph_.inputs.push_back(v);
  return make(v);
}

void StageInterpreter::output(const Array& a) { graph_.outputs.push_back(id_of(a)); }

void StageInterpreter::process(const Primitive& p, std::span<const Array> in, const Params& params,
                               std::span<Array> out) {
  std::vector<const Aval*> types(in.size());
  for (size_t i = 0; i < in.size(); ++i) types[i] = &in[i].impl()->aval;
  Equation e;
  e.primitive = &p;
  e.params = params;
  e.place = place_text(LocScope::current());
  const std::vector<Aval> results = output_avals(p, types, params);
  for (const Array& a : in) e.inputs.push_back(id_of(a));
  for (size_t k = 0; k < out.size(); ++k) {
    e.outputs.push_back(graph_.add_value(results[k]));
    out[k] = make(e.outputs[k]);
  }
  graph_.equations.push_back(std::move(e));
}

std::vector<Array> StageInterpreter::process_custom(const std::shared_ptr<const CustomFunction>& f,
                                                    std::span<const Array> in) {
  StageInterpreter body(name_);
  std::vector<Array> args, out;
  for (const Array& a : in) args.push_back(body.input(a.aval()));
  {
    const InterpreterScope scope(&body);
    out = f->call(args);
  }
  for (const Array& a : out) body.output(a);
  Graph graph = body.take();
  for (const Graph::Constant& c : graph.constants) {
    if (c.value.is_tracer()) throw_captured(graph, c);
  }
  return bind_all(custom_call_p, in, make_custom_call(std::move(graph), f));
}

bool captures_tracers(const Graph& graph, const char* name) {
  bool any = false;
  for (const Graph::Constant& c : graph.constants) {
    if (!c.value.is_tracer()) continue;
    if (!Interpreter::is_running(c.value.impl()->interpreter)) throw_captured(graph, c, name);
    any = true;
  }
  return any;
}

}  // namespace spruce::internal
