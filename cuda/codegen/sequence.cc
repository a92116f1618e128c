// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/sequence.h"

#include <map>

#include "spruce/cuda/codegen/loops.h"
#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {

Argument argument_of(const Place& place) {
  switch (place.kind) {
    case Place::Kind::kInput:
      return Argument::input(place.index, place.offset);
    case Place::Kind::kOutput:
      return Argument::output(place.index, place.offset);
    default:
      return Argument::workspace(place.offset);
  }
}

namespace {

// An argument of an equation's step as one of the whole.
class Moved {
 public:
  Moved(const std::vector<Place>& in, const std::vector<Place>& out, int64_t workspace)
      : in_(in), out_(out), workspace_(workspace) {}

  Argument operator()(const Argument& a) const {
    Argument moved = a;
    switch (a.kind) {
      case Argument::Kind::kInput:
        moved = argument_of(in_[a.index]);
        moved.byte_offset += a.byte_offset;
        return moved;
      case Argument::Kind::kOutput:
        moved = argument_of(out_[a.index]);
        moved.byte_offset += a.byte_offset;
        return moved;
      case Argument::Kind::kWorkspace:
        moved.byte_offset += workspace_;
        return moved;
      case Argument::Kind::kHostInput:
        moved.index = in_[a.index].index;
        return moved;
      default:
        return moved;
    }
  }
  void step(const Step& step, Kernels& to) const {
    Step moved = step;
    if (auto* launch = std::get_if<Launch>(&moved)) {
      for (Argument& a : launch->arguments) a = (*this)(a);
    } else if (auto* call = std::get_if<Call>(&moved)) {
      for (Argument& a : call->arguments) a = (*this)(a);
    } else if (auto* copy = std::get_if<Copy>(&moved)) {
      copy->to = (*this)(copy->to);
      copy->from = (*this)(copy->from);
    } else if (auto* fill = std::get_if<Fill>(&moved)) {
      fill->to = (*this)(fill->to);
    }
    to.steps.push_back(std::move(moved));
  }

 private:
  const std::vector<Place>&in_, &out_;
  int64_t workspace_;
};

// Writes the elements of a constant, which are few.
Launch constant_kernel(const PrepareArgs& args, const Array& value, int64_t at) {
  KernelBuilder kernel("constant", args);
  const int64_t bytes = size_of(value.dtype());
  const std::string to = declare_bits(kernel, of_workspace(at), bytes);
  const auto* from = static_cast<const unsigned char*>(internal::mutable_data(value));
  std::string body;
  for (int64_t i = 0; i < value.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, from + i * bytes, static_cast<size_t>(bytes));
    body += "  " + to + "[" + std::to_string(i) + "] = " + std::string(bits_type(bytes)) + "(" +
            std::to_string(bits) + "ull);\n";
  }
  return kernel.launch(body, {1}, {1});
}

}  // namespace

Kernels sequence(const PrepareArgs& args, const Graph& body, bool& known) {
  Kernels out;
  known = true;
  std::map<ValueId, Place> places;
  std::map<ValueId, Aval> avals;
  const auto aval_of = [&](ValueId v) -> const Aval& {
    auto [at, fresh] = avals.try_emplace(v, body.avals[static_cast<size_t>(v)]);
    if (fresh) at->second.device = 1;  // in memory of the device, whichever it is
    return at->second;
  };
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    places[body.inputs[i]] = of_input(i);
    avals[body.inputs[i]] = *args.in[i];
  }
  for (const Graph::Constant& c : body.constants) {
    const int64_t at = reserve(out, c.value.nbytes());
    out.steps.push_back(constant_kernel(args, c.value, at));
    places[c.id] = of_workspace(at);
  }
  for (const Equation& e : body.equations) {
    std::vector<Place> from, to;
    std::vector<const Aval*> in, made;
    for (const ValueId v : e.inputs) {
      from.push_back(places.at(v));
      in.push_back(&aval_of(v));
    }
    for (const ValueId v : e.outputs) {
      made.push_back(&aval_of(v));
      Place place = of_workspace(0);
      bool output = false;
      for (size_t k = 0; k < body.outputs.size() && !output; ++k) {
        output = body.outputs[k] == v;
        if (output) place = of_output(k);
      }
      if (!output) place = of_workspace(reserve(out, made.back()->bytes()));
      to.push_back(place);
      places[v] = place;
    }
    const PrepareArgs sub{in, made, e.params};
    Kernels kernels;
    if (const Twin* twin = find_twin(*e.primitive))
      kernels = twin->make(sub);
    else
      kernels = generate(*e.primitive, sub, known);
    if (!known) return {};
    const Moved moved(from, to, reserve(out, kernels.workspace_bytes));
    for (const Step& step : kernels.steps) moved.step(step, out);
  }
  // Outputs that are inputs, constants or other outputs.
  for (size_t k = 0; k < body.outputs.size(); ++k) {
    const Place& place = places.at(body.outputs[k]);
    const Aval& aval = aval_of(body.outputs[k]);
    if ((place.kind == Place::Kind::kOutput && place.index == k) || aval.numel() == 0) continue;
    if (place.kind == Place::Kind::kInput)
      whole_copy(args, place.index, k, out);
    else
      out.steps.push_back(Copy{Argument::output(k), argument_of(place), aval.bytes()});
  }
  return out;
}

}  // namespace spruce::cuda
