// SPDX-License-Identifier: Apache-2.0
// state_dict and load_state_dict.
#include <algorithm>
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

// The path without "options." where it ends in the class weights of a loss. A layer of the user's
// may have an array of that name beside them.
std::string without_options(const Place& place, const std::string& path) {
  const std::string& own = place.node->slots[place.slot].name;
  if ((own != "options.weight" && own != "options.pos_weight") || !path.ends_with(own)) return path;
  const std::string name = own.substr(own.find('.') + 1);
  for (const Node::Slot& s : place.node->slots) {
    if (s.name == name) return path;
  }
  return path.substr(0, path.size() - own.size()) + name;
}

// The array of a recurrent layer or loss under PyTorch's name, or null. That the layer goes both
// ways is seen from the names that there are.
const Array* find_torch(const NamedArrays& state, const Place& place, const std::string& path) {
  if (const std::string name = without_options(place, path); name != path) return state.find(name);
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

// What a user's module has in a state beside arrays: the entries behind its path.
constexpr const char *kExtra = "_extra_state", *kVersion = "_version";

// Modules of the user's with the beginning of their names: "", "block.".
std::vector<std::pair<std::string, NodeOwner*>> owners(const std::shared_ptr<Node>& root) {
  std::vector<std::pair<std::string, NodeOwner*>> out;
  for (const auto& [path, node] : named_nodes(root)) {
    if (node->owner != nullptr) out.emplace_back(path.empty() ? "" : path + ".", node->owner);
  }
  return out;
}

// The version that a state has of the module at the prefix; the entry is taken out.
int64_t take_version(NamedArrays& state, const std::string& prefix) {
  const Array* found = state.find(prefix + kVersion);
  if (found == nullptr) return 1;
  if (found->size() != 1 || !is_integer(found->dtype())) {
    throw ValueError("load_state_dict: " + prefix + kVersion + " is " + to_string(found->aval()) +
                     "; a version is one whole number");
  }
  const auto version = found->item<int64_t>();
  state.erase(prefix + kVersion);
  return version;
}

// The state with the part at the prefix as the module's own version has it.
NamedArrays upgraded(const NamedArrays& state, const std::string& prefix, const NodeOwner& owner,
                     int64_t from) {
  if (from > owner.state_version()) {
    throw ValueError("load_state_dict: " + prefix + kVersion + " is " + std::to_string(from) +
                     ", and the module knows versions up to " +
                     std::to_string(owner.state_version()) + "; load it with a newer program");
  }
  if (from == owner.state_version()) return state;
  NamedArrays out;
  for (const auto& [name, value] : state) {
    if (!name.starts_with(prefix)) out.insert(name, value);
  }
  for (const auto& [name, value] : owner.upgrade_state(without_prefix(state, prefix), from))
    out.insert(prefix + name, value);
  return out;
}

// Takes out what is missing and may be: counts of batches whose statistics are there.
void forgive_counts(std::vector<std::string>& missing) {
  const std::set<std::string> all(missing.begin(), missing.end());
  std::erase_if(missing, [&](const std::string& name) {
    constexpr std::string_view kCount = "num_batches_tracked";
    if (!name.ends_with(kCount)) return false;
    return all.count(name.substr(0, name.size() - kCount.size()) + "running_mean") == 0;
  });
}

// "module." where that stands before each missing name among the unexpected ones; else empty.
std::string common_prefix(const LoadReport& report) {
  if (report.missing.empty()) return {};
  const std::set<std::string> given(report.unexpected.begin(), report.unexpected.end());
  for (const std::string& name : report.unexpected) {
    if (!name.ends_with("." + report.missing[0])) continue;
    const std::string prefix = name.substr(0, name.size() - report.missing[0].size());
    if (std::all_of(report.missing.begin(), report.missing.end(),
                    [&](const std::string& n) { return given.count(prefix + n) != 0; }))
      return prefix;
  }
  return {};
}

}  // namespace

LoadReport load(Node& root, const std::vector<Place>& places, const NamedArrays& state,
                const LoadOptions& options, LoadReport report) {
  std::string problems;
  std::vector<std::pair<Place, Array>> loaded;
  std::set<const Array*> used;
  tree::internal::PathFinder finder(state);
  for (const Place& p : places) {
    const std::string name = options.rename ? options.rename(p.name) : p.name;
    const Array* found = finder.find(name);
    if (found == nullptr) found = find_torch(state, p, name);
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
      loaded.emplace_back(
          p, rules::to_device(rules::convert(given, own.dtype(), own.weak()), own.aval().device));
    }
  }
  for (const auto& [name, value] : state) {
    if (used.count(&value) == 0) report.unexpected.push_back(name);
  }
  forgive_counts(report.missing);
  std::string names;
  if (options.strict) {
    for (const std::string& n : report.missing) names += "\n  missing: " + options.prefix + n;
    for (const std::string& n : report.unexpected) names += "\n  unexpected: " + options.prefix + n;
  }
  if (!problems.empty()) throw ShapeError("load_state_dict: shapes differ:" + problems + names);
  if (!names.empty()) {
    if (const std::string lazy = lazy_layers(root); !lazy.empty())
      names += "\n  lazy layers have no arrays until they are called: " + lazy +
               "; call the module once before, at an example";
    if (const std::string prefix = common_prefix(report); !prefix.empty())
      names += "\n  load with {.prefix = \"" + options.prefix + prefix + "\"}: all names begin so";
    throw TreeError("load_state_dict: the names differ" + names +
                    "\n  load with {.strict = false} to take over what fits");
  }
  for (auto& [place, value] : loaded) place.variable().value = std::move(value);
  return report;
}

}  // namespace internal

NamedArrays ModuleRef::state_dict(const StateOptions& options, Loc loc) const {
  const LocScope at(loc);
  internal::check_made("state_dict", *node());
  const internal::ValuesNow now(*node());
  NamedArrays out;
  for (const internal::Place& p : internal::places(*node(), internal::Names::kAll)) {
    if (!p.variable().persistent) continue;
    std::string name = p.name;
    if (options.torch_names) name = internal::without_options(p, name);
    if (options.torch_names && torch_name(name, false) != name) {
      name = torch_name(
          name, internal::is_bidirectional(p.node->layer.get(), p.node->slots[p.slot].name));
    }
    out.insert(options.prefix + name, now(p.variable()));
  }
  for (const auto& [prefix, owner] : internal::owners(node())) {
    const std::string begin = options.prefix + prefix;
    if (Array extra = owner->get_extra_state(); extra.defined())
      out.insert(begin + internal::kExtra, std::move(extra));
    if (owner->state_version() != 1)
      out.insert(begin + internal::kVersion, array(owner->state_version()));
  }
  return out;
}

LoadReport ModuleRef::load_state_dict(const NamedArrays& state, const LoadOptions& options,
                                      Loc loc) const {
  const LocScope at(loc);
  std::vector<internal::Place> places = internal::places(*node(), internal::Names::kAll);
  std::erase_if(places, [](const internal::Place& p) { return !p.variable().persistent; });
  NamedArrays own = internal::without_prefix(state, options.prefix);
  std::vector<std::pair<internal::NodeOwner*, Array>> extras;
  LoadReport report;
  for (const auto& [prefix, owner] : internal::owners(node())) {
    const int64_t version = internal::take_version(own, prefix);
    own = internal::upgraded(own, prefix, *owner, version);
    const std::string name = prefix + internal::kExtra;
    if (!owner->get_extra_state().defined()) continue;
    if (const Array* found = own.find(name)) {
      extras.emplace_back(owner, *found);
      own.erase(name);
    } else {
      report.missing.push_back(name);
    }
  }
  report = internal::load(*node(), places, own, options, std::move(report));
  for (const auto& [owner, extra] : extras) owner->set_extra_state(extra);
  return report;
}

}  // namespace spruce::nn
