// SPDX-License-Identifier: Apache-2.0
// state_dict and load_state_dict.
#include <set>

#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/to_device.h"
#include "spruce/core/tree/path_finder.h"
#include "spruce/nn/module_ref.h"
#include "spruce/nn/torch_names.h"

namespace spruce::nn {
namespace internal {
namespace {

// The arrays of the state whose names begin with the prefix, without it.
NamedArrays without_prefix(const NamedArrays& state, const std::string& prefix) {
  NamedArrays out;
  for (const auto& [name, value] : state) {
    if (name.starts_with(prefix)) out.insert(name.substr(prefix.size()), value);
  }
  return out;
}

// The array of a recurrent layer under PyTorch's name, or null. That the layer goes both ways is
// seen from the names that there are.
const Array* find_torch(const NamedArrays& state, const std::string& path) {
  const std::string name = torch_name(path, false);
  if (name == path) return nullptr;
  const bool both = state.contains(name.substr(0, name.rfind("_l")) + "_l0_reverse");
  return state.find(both ? torch_name(path, true) : name);
}

// Whether a path in a layer is that of a cell of a recurrent layer that goes both ways.
bool is_bidirectional(const AnyLayer* layer, const std::string& path) {
  if (layer == nullptr) return false;
  const size_t cells = path.starts_with("cells.") ? 0 : path.rfind(".cells.") + 1;
  return ('\n' + layer->form()).find('\n' + path.substr(0, cells) + "bidirectional: true") !=
         std::string::npos;
}

}  // namespace

LoadReport load(const std::vector<Place>& places, const NamedArrays& given_state,
                const LoadOptions& options) {
  LoadReport report;
  std::string problems;
  std::vector<std::pair<Place, Array>> loaded;
  std::set<const Array*> used;
  const NamedArrays stripped =
      options.prefix.empty() ? NamedArrays() : without_prefix(given_state, options.prefix);
  const NamedArrays& state = options.prefix.empty() ? given_state : stripped;
  tree::internal::PathFinder finder(state);
  for (const Place& p : places) {
    const std::string name = options.rename ? options.rename(p.name) : p.name;
    const Array* found = finder.find(name);
    if (found == nullptr) found = find_torch(state, name);
    if (found == nullptr) {
      report.missing.push_back(p.name);
      continue;
    }
    used.insert(found);
    const Array &own = p.variable().value, &given = *found;
    if (given.is_tracer()) {
      throw TracerError("load_state_dict: " + p.name +
                        " is a traced value, a module keeps known ones; return it from the "
                        "function and load it there");
    }
    if (!(own.shape() == given.shape())) {
      problems += "\n  " + p.name + ": the module has " + to_string(own.aval()) +
                  ", the state has " + to_string(given.aval());
    } else {
      if (own.dtype() != given.dtype()) {
        report.converted.push_back(p.name + ": " + std::string(short_name(given.dtype())) + " to " +
                                   std::string(short_name(own.dtype())));
      }
      loaded.emplace_back(p, rules::to_device(astype(given, own.dtype()), own.aval().device));
    }
  }
  for (const auto& [name, value] : state) {
    if (used.count(&value) == 0) report.unexpected.push_back(name);
  }
  if (!problems.empty()) throw ShapeError("load_state_dict: shapes differ:" + problems);
  if (options.strict && !(report.missing.empty() && report.unexpected.empty())) {
    std::string text = "load_state_dict: the names differ";
    for (const std::string& n : report.missing) text += "\n  missing: " + n;
    for (const std::string& n : report.unexpected) text += "\n  unexpected: " + n;
    throw TreeError(text + "\n  load with {.strict = false} to take over what fits");
  }
  for (auto& [place, value] : loaded) place.variable().value = std::move(value);
  return report;
}

}  // namespace internal

NamedArrays ModuleRef::state_dict(const StateOptions& options) const {
  NamedArrays out;
  for (const internal::Place& p : internal::places(*node_, internal::Names::kAll)) {
    if (!p.variable().persistent) continue;
    std::string name = p.name;
    if (options.torch_names && torch_name(name, false) != name) {
      name = torch_name(
          name, internal::is_bidirectional(p.node->layer.get(), p.node->slots[p.slot].name));
    }
    out.insert(options.prefix + name, p.variable().value);
  }
  return out;
}

LoadReport ModuleRef::load_state_dict(const NamedArrays& state, const LoadOptions& options,
                                      Loc loc) const {
  const LocScope at(loc);
  std::vector<internal::Place> places = internal::places(*node_, internal::Names::kAll);
  std::erase_if(places, [](const internal::Place& p) { return !p.variable().persistent; });
  return internal::load(places, state, options);
}

}  // namespace spruce::nn
