// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/module_node.h"

#include <algorithm>
#include <atomic>
#include <set>

namespace spruce::nn::internal {

std::vector<std::pair<std::string, std::shared_ptr<Node>>> named_nodes(
    const std::shared_ptr<Node>& root) {
  std::vector<std::pair<std::string, std::shared_ptr<Node>>> out, stack{{"", root}};
  std::set<const Node*> seen;
  while (!stack.empty()) {
    auto [path, node] = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(node.get()).second) continue;
    const std::string prefix = path.empty() ? "" : path + ".";
    for (size_t i = node->children.size(); i-- > 0;)
      stack.emplace_back(prefix + node->children[i].name, node->children[i].node);
    out.emplace_back(std::move(path), std::move(node));
  }
  return out;
}

std::vector<Node*> nodes(Node& root) {
  std::vector<Node*> out, stack{&root};
  std::set<const Node*> seen;
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second) continue;
    out.push_back(node);
    for (size_t i = node->children.size(); i-- > 0;) stack.push_back(node->children[i].node.get());
  }
  return out;
}

std::vector<Place> places(Node& root, Names names) {
  std::vector<Place> out;
  std::set<const Node*> seen;
  std::set<const Variable*> listed;
  std::vector<std::pair<std::string, Node*>> stack{{"", &root}};
  while (!stack.empty()) {
    const auto [prefix, node] = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second && names == Names::kFirst) continue;
    for (size_t i = 0; i < node->slots.size(); ++i) {
      if (!node->slots[i].variable->value.defined()) continue;
      const bool first = listed.insert(node->slots[i].variable.get()).second;
      if (first || names == Names::kAll) out.push_back({prefix + node->slots[i].name, node, i});
    }
    for (size_t i = node->children.size(); i-- > 0;) {
      stack.emplace_back(prefix + node->children[i].name + ".", node->children[i].node.get());
    }
  }
  return out;
}

bool has_buffers(const Node& node) {
  for (const Node::Slot& s : node.slots) {
    if (s.variable->buffer) return true;
  }
  return false;
}

std::string lazy_layers(Node& root) {
  const std::vector<Node*> all = nodes(root);
  if (std::none_of(all.begin(), all.end(), [](const Node* n) { return bool(n->make); })) return "";
  std::string out;
  for (const auto& [path, node] : named_nodes(root.shared_from_this())) {
    if (!node->make) continue;
    out += (out.empty() ? "" : ", ") + (path.empty() ? "" : "'" + path + "' ") +
           (path.empty() ? node->type : "(" + node->type + ")");
  }
  return out;
}

void check_made(const char* op, Node& root) {
  const std::string lazy = lazy_layers(root);
  if (lazy.empty()) return;
  throw ValueError(std::string(op) + ": lazy layers have no arrays until they are called: " + lazy +
                   "; call the module once before, at an example");
}

void check_part_name(const std::string& op, const std::string& name) {
  if (!name.empty() && name.find('.') == std::string::npos) return;
  throw ValueError(op + ": '" + name + "' is no name; it must not be empty and hold no dot");
}

std::string part_names(const Node& node) {
  std::string names;
  for (const Node::Child& c : node.children) names += (names.empty() ? "'" : ", '") + c.name + "'";
  return names.empty() ? "none" : names;
}

namespace {
std::atomic<uint64_t> version{1}, ids{1};
}  // namespace

uint64_t next_id() { return ids.fetch_add(1, std::memory_order_relaxed); }

uint64_t structure_version() { return version.load(std::memory_order_relaxed); }
void note_structure_change() { version.fetch_add(1, std::memory_order_relaxed); }

std::string form_text(Node& root) {
  std::string out;
  for (const Place& p : places(root, Names::kAll)) {
    const Variable& v = p.variable();
    out += p.name +
           (v.buffer          ? " buffer"
            : v.requires_grad ? " parameter"
                              : " constant") +
           ' ' + std::to_string(reinterpret_cast<uintptr_t>(&v)) + '\n';
  }
  for (const Node* node : nodes(root)) {
    out += std::to_string(node->id) + (node->training ? " training " : " evaluation ");
    if (node->layer != nullptr) out += node->layer->name() + '\n' + node->layer->form();
    for (const auto& h : node->pre_hooks) out += " pre_hook " + std::to_string(h.id);
    for (const auto& h : node->hooks) out += " hook " + std::to_string(h.id);
    for (const auto& h : node->backward_hooks) out += " backward_hook " + std::to_string(h.id);
    for (const auto& h : node->backward_pre_hooks)
      out += " backward_pre_hook " + std::to_string(h.id);
    out += '\n';
  }
  return out;
}

}  // namespace spruce::nn::internal
