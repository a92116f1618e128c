// SPDX-License-Identifier: Apache-2.0
// Calls a C++ function of the user's on the values of its inputs. It has no derivative of its own:
// custom_jvp and custom_vjp give it one.
#include <cstring>

#include "spruce/core/default_device.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce {
namespace {

using internal::HostFunction;

const HostFunction& function_of(const Params& params) {
  const Opaque& f = params.get<HostCallParams>().function;
  if (f == nullptr)
    throw GraphError(
        "host_call: the function is C++ code, which the text of a graph does not hold");
  return *static_cast<const HostFunction*>(f.get());
}

// The device of the first input that says where an operation runs.
uint8_t device_of(Avals in) {
  for (const Aval* a : in) {
    if (internal::is_placed(*a)) return a->device;
  }
  return 0;
}

std::vector<Aval> host_call_shapes(const ShapeArgs& a) {
  const HostFunction& f = function_of(a.params);
  if (a.in.size() < f.inputs)
    throw GraphError("host_call: takes " + std::to_string(f.inputs) + " inputs, there are " +
                     std::to_string(a.in.size()));
  std::vector<Aval> out = f.results;
  for (Aval& aval : out) aval.device = device_of(a.in.first(f.inputs));
  return out;
}

void check_result(const HostFunction& f, size_t k, const Array& got) {
  const Aval& want = f.results[k];
  if (got.defined() && got.shape() == want.shape && got.dtype() == want.dtype) return;
  const std::string which = f.results.size() > 1 ? "result " + std::to_string(k) : "the result";
  const std::string message = "host_call: " + which + " of the function is " +
                              (got.defined() ? to_string(got.aval()) : "an empty Array") +
                              ", and host_call was told " + to_string(want);
  const LocScope at(f.place.empty() ? Loc::none() : Loc::text(f.place.c_str()));
  if (!got.defined()) throw ValueError(message);
  if (!(got.shape() == want.shape)) throw ShapeError(message);
  throw DtypeError(message + "; convert it with astype");
}

// The results, of the types that were promised.
std::vector<Array> results_of(const HostFunction& f, std::span<const Array> in) {
  const LocReset reset;
  std::vector<Array> out = f.call(in);
  if (out.size() != f.results.size()) {
    const LocScope at(f.place.empty() ? Loc::none() : Loc::text(f.place.c_str()));
    throw TreeError("host_call: the function gives " + std::to_string(out.size()) +
                    " arrays, and host_call was told " + std::to_string(f.results.size()));
  }
  for (size_t k = 0; k < out.size(); ++k) check_result(f, k, out[k]);
  return out;
}

std::vector<Array> host_call_call(std::span<const Array> in, const Params& params) {
  const HostFunction& f = function_of(params);
  std::vector<const Aval*> types;
  std::vector<Array> host;
  for (const Array& a : in.first(f.inputs)) {
    types.push_back(&a.aval());
    host.push_back(rules::to_device(a, 0));
  }
  const uint8_t device = device_of(types);
  const InterpreterScope none(nullptr);
  const DefaultDevice here(0);
  std::vector<Array> out = results_of(f, host);
  for (Array& a : out) a = rules::to_device(a, device);
  return out;
}

// Calls `f` for one example after the other.
std::vector<Array> call_each(const HostFunction& f, const std::vector<bool>& batched,
                             const std::vector<Aval>& types, int64_t size,
                             std::span<const Array> in) {
  std::vector<Array> out;
  for (const Aval& type : types) out.push_back(internal::make_array(type));
  for (int64_t n = 0; n < size; ++n) {
    std::vector<Array> one;
    for (size_t i = 0; i < in.size(); ++i) {
      Aval type = in[i].aval();
      if (batched[i]) type.shape.erase(0);
      const auto* data = static_cast<const char*>(internal::mutable_data(in[i]));
      one.push_back(batched[i] ? internal::make_array(type, data + n * type.bytes()) : in[i]);
    }
    const std::vector<Array> results = results_of(f, one);
    for (size_t k = 0; k < out.size(); ++k) {
      const int64_t bytes = results[k].nbytes();
      if (bytes > 0)
        std::memcpy(static_cast<char*>(internal::mutable_data(out[k])) + n * bytes,
                    internal::mutable_data(results[k]), static_cast<size_t>(bytes));
    }
  }
  return out;
}

void host_call_batch(const BatchArgs& a) {
  HostCallParams p = a.params.get<HostCallParams>();
  const auto one = std::static_pointer_cast<const HostFunction>(p.function);
  auto all = std::make_shared<HostFunction>(*one);
  for (Aval& type : all->results) type.shape.insert(0, a.size);
  std::vector<Array> in;
  for (size_t i = 0; i < one->inputs; ++i)
    in.push_back(p.vectorized ? rules::materialize_batch(a.in[i], a.batched[i], a.size) : a.in[i]);
  if (!p.vectorized) {
    all->call = [one, types = all->results, size = a.size,
                 batched = std::vector<bool>(a.batched.begin(), a.batched.end())](
                    std::span<const Array> x) { return call_each(*one, batched, types, size, x); };
  }
  p.function = std::move(all);
  const std::vector<Array> out = bind_all(a.p, in, Params::make(std::move(p)));
  for (size_t k = 0; k < out.size(); ++k) a.out[k] = out[k];
}

}  // namespace

extern constinit const Primitive host_call_p = {
    .name = "host_call",
    .shapes = host_call_shapes,
    .batch = host_call_batch,
    .params = kParamsOf<HostCallParams>,
    .call = host_call_call,
};

}  // namespace spruce
