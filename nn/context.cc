// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/context.h"

#include <algorithm>

#include "spruce/transforms/control/body/body.h"

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
  const uint64_t from = std::max(made_in, key.data().impl()->interpreter);
  if (const char* loop = spruce::internal::loop_within(from)) {
    throw ValueError(std::string(who) + ": draws random numbers in the body of " + loop +
                     ", which runs once for all steps, so that each step would have the same; give "
                     "each step a key, a slice of split(key, n) or fold_in(key, i), and make a "
                     "Context of it in the body; one made there of the whole key draws the same "
                     "in each");
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

void Context::look(const void* model) {
  if (scopes.empty() || scopes.back().object != model) return;
  Scope& s = scopes.back();
  s.places = s.find(model);
  for (const internal::BufferPlace& b : s.places->buffers()) known.push_back(b.place);
  if (several) return;
  if (!buffers || buffers->empty()) {
    buffers = s.places->buffers();
    for (Update& u : updates) {
      for (size_t i = 0; i < buffers->size(); ++i) {
        if ((*buffers)[i].place == u.place) u.buffer = {i};
      }
    }
    return;
  }
  // A part of the same model is none of its own.
  for (const internal::BufferPlace& b : s.places->buffers()) {
    if (known_as(*b.place).empty()) several = true;
  }
  if (!several) return;
  buffers.reset();
  for (Update& u : updates) u.buffer.clear();
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

std::vector<size_t> Context::known_as(const Array& buffer) const {
  std::vector<size_t> out;
  if (!buffers) return out;
  const Array* place = origin(&buffer);
  for (size_t i = 0; i < buffers->size(); ++i) {
    if ((*buffers)[i].place == place) return {i};
  }
  for (size_t i = 0; i < buffers->size() && buffer.defined(); ++i) {  // of a copy of its layer
    if ((*buffers)[i].content == buffer.impl()) out.push_back(i);
  }
  return out;
}

void Context::update(const Buffer& buffer, const Array& value) {
  updates.push_back({origin(&buffer.value), value, known_as(buffer.value)});
}

void Context::check_alive(const Update& update, const std::string& path) const {
  const Array& value = update.value;
  if (!value.is_tracer() || Interpreter::is_running(value.impl()->interpreter)) return;
  throw TracerError("Context: the new value of " +
                    (path.empty() ? "a buffer" : "the buffer '" + path + "'") + " is " +
                    value.impl()->describe() +
                    ", which has ended; make the Context inside of it, and let it carry or return "
                    "the model that updated() gives");
}

const Array& Context::latest(const Buffer& buffer) const {
  if (updates.empty()) return buffer.value;
  const Array* place = origin(&buffer.value);
  const std::vector<size_t> known = known_as(buffer.value);
  for (size_t k = updates.size(); k-- > 0;) {
    const Update& u = updates[k];
    if (u.buffer != known || (known.size() != 1 && u.place != place)) continue;
    check_alive(u, known.empty() ? "" : (*buffers)[known[0]].path);
    return u.value;
  }
  return buffer.value;
}

bool Context::goes_to(const Update& update, const internal::BufferPlace& buffer) const {
  const Array* at = origin(buffer.place);
  // Another tree may stand by now where a model was copied from.
  for (const Copy& c : copies) {
    if (c.origin == at && c.place->impl() != buffer.place->impl()) return false;
  }
  return update.place == at;
}

std::vector<Array> Context::successors(const std::vector<internal::BufferPlace>& of) const {
  std::vector<Array> out;
  std::vector<bool> found(updates.size(), false);
  const size_t known = buffers ? buffers->size() : 0;
  for (const internal::BufferPlace& b : of) {
    const size_t here = out.size();
    size_t path = here < known && (*buffers)[here].path == b.path ? here : 0;
    while (path < known && (*buffers)[path].path != b.path) ++path;
    out.push_back(*b.place);
    const Update* last = nullptr;
    for (size_t k = 0; k < updates.size(); ++k) {
      const std::vector<size_t>& which = updates[k].buffer;
      const bool by_path = which.size() == 1 && which[0] == path;
      // A part of the model has other paths.
      const bool by_place = which.empty() || (which.size() == 1 && path == known);
      if (!by_path && !(by_place && goes_to(updates[k], b))) continue;
      if (by_path && (*buffers)[path].shape != b.shape) {
        throw ShapeError("Context::updated: the buffer '" + b.path + "' has the shape " +
                         to_string(b.shape) + " in this model and " +
                         to_string((*buffers)[path].shape) +
                         " in the one that was called; pass that one");
      }
      found[k] = true;
      last = &updates[k];
    }
    if (last == nullptr) continue;
    check_alive(*last, b.path);
    out.back() = last->value;
  }
  check_found(found);
  return out;
}

void Context::check_found(const std::vector<bool>& found) const {
  size_t missing = 0;
  const bool any = std::find(found.begin(), found.end(), true) != found.end();
  for (size_t k = 0; k < found.size(); ++k) {
    if (found[k]) continue;
    const bool others =
        several && any && std::find(known.begin(), known.end(), updates[k].place) != known.end();
    if (others) continue;
    ++missing;
    const std::vector<size_t>& which = updates[k].buffer;
    if (which.empty()) continue;
    std::string paths;
    for (const size_t i : which)
      paths += (paths.empty() ? "'" : " or '") + (*buffers)[i].path + "'";
    if (which.size() > 1) {
      throw TreeError(
          "Context::updated: a layer that was copied before it was called has updated " + paths +
          ", which share one array; call the layer itself, or give each its own");
    }
    throw TreeError("Context::updated: a layer has updated " + paths +
                    ", and this model has no such buffer; pass the model that was called");
  }
  if (missing == 0) return;
  throw TreeError("Context::updated: " + std::to_string(missing) + " of " +
                  std::to_string(found.size()) +
                  " buffers that layers have updated are not part of this model; pass the object "
                  "that was called, not a copy of it" +
                  (buffers || several ? ""
                                      : ", or call it with ctx.of(model); where one context serves "
                                        "several models, each with ctx.of(that model)"));
}

}  // namespace spruce::nn
