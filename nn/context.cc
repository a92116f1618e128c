// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/context.h"

namespace spruce::nn {

namespace {

// FNV-1a of 64 bits.
uint64_t hash_of(const std::string& path) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

Key Context::key_at(const char* who, const void* layer, size_t size) {
  if (!key.data().defined()) {
    throw ValueError(std::string(who) +
                     ": draws random numbers in training, and the context has no key; make it with "
                     "Context{.training = true, .key = key}, or give the Module one by seed(key)");
  }
  const std::string path = path_of(layer, size);
  const int64_t use = uses[path]++;
  ++keys_used;
  if (path.empty()) return random::fold_in(key, use);
  const uint64_t hash = hash_of(path);
  const Key own = random::fold_in(random::fold_in(key, static_cast<int64_t>(hash & 0xffffffffu)),
                                  static_cast<int64_t>(hash >> 32));
  return random::fold_in(own, use);
}

void Context::push_object(const void* object, size_t size,
                          internal::LayerPlaces (*find)(const void*)) {
  scopes.push_back({.object = object, .size = size, .find = find});
}

void Context::look() {
  if (scopes.empty()) return;
  Scope& s = scopes.back();
  if (s.object != nullptr && !s.places) s.places = s.find(s.object);
}

void Context::push_name(std::string name) { scopes.push_back({.name = std::move(name)}); }

// The path of the layer in the outermost of the objects from `first` to `end` that holds it.
std::optional<std::string> Context::find(size_t first, size_t end, const void* layer, size_t size) {
  for (size_t i = first; i < end; ++i) {
    Scope& s = scopes[i];
    if (!s.places) s.places = s.find(s.object);
    if (std::optional<std::string> path = s.places->path_of(layer, size)) return path;
  }
  return std::nullopt;
}

std::string Context::path_of(const void* layer, size_t size) {
  std::string path;
  size_t first = 0;  // the objects behind the last name begin here
  const auto innermost = [&](size_t end) {
    if (end - first < 2) return std::string();
    return find(first, end - 1, scopes[end - 1].object, scopes[end - 1].size).value_or("");
  };
  for (size_t i = 0; i < scopes.size(); ++i) {
    if (scopes[i].object != nullptr) continue;
    path = internal::join_path(internal::join_path(path, innermost(i)), scopes[i].name);
    first = i + 1;
  }
  const std::optional<std::string> own = find(first, scopes.size(), layer, size);
  return internal::join_path(path, own ? *own : innermost(scopes.size()));
}

void internal::ObjectScope::leave() {
  ctx_.scopes.erase(ctx_.scopes.begin() + static_cast<ptrdiff_t>(before_), ctx_.scopes.end());
}

const Array* Context::origin(const Array* place) const {
  for (const Copy& c : copies) {
    if (c.place == place) return c.origin;
  }
  return place;
}

const Array& Context::latest(const Buffer& buffer) const {
  const Array* place = origin(&buffer.value);
  for (size_t k = updates.size(); k-- > 0;) {
    if (updates[k].place == place) return updates[k].value;
  }
  return buffer.value;
}

void Context::replace(const Array& place, Array& value, std::vector<size_t>& found) const {
  const Array* at = origin(&place);
  // Another tree may stand by now where a model was copied from.
  for (const Copy& c : copies) {
    if (c.origin == at && c.place->impl() != place.impl()) return;
  }
  for (size_t k = 0; k < updates.size(); ++k) {
    if (updates[k].place == at) {
      value = updates[k].value;
      found[k] = 1;
    }
  }
}

void Context::check_found(const std::vector<size_t>& found) const {
  size_t missing = 0;
  for (const size_t f : found) missing += f == 0 ? 1 : 0;
  if (missing > 0) {
    throw TreeError("Context::updated: " + std::to_string(missing) + " of " +
                    std::to_string(found.size()) +
                    " buffers that layers have updated are not part of this model; pass the object "
                    "that was called, not a copy of it");
  }
}

}  // namespace spruce::nn
