// SPDX-License-Identifier: Apache-2.0
// Whether a module's forward changes what is not registered.
#pragma once

#include <cstring>

#include "spruce/nn/functionalize.h"

namespace spruce::nn {
namespace internal {

/// Throws ValueError: what `module` did that a pure function does not.
[[noreturn]] void throw_not_pure(const ModuleRef& module, const std::string& what);
/// Throws that error unless the arrays are the same, bit for bit.
void check_same_arrays(const ModuleRef& module, const std::vector<Array>& first,
                       const std::vector<Array>& second, const char* what);

template <class M>
std::string object_bytes(const M& object) {
  std::string bytes(sizeof(M), '\0');
  std::memcpy(bytes.data(), static_cast<const void*>(&object), sizeof(M));
  return bytes;
}

}  // namespace internal

/// Calls the forward of a module four times through functionalize, twice in each mode, and throws
/// ValueError where it is no pure function of its arguments, parameters, buffers, mode and key:
/// where fields of the object change that are not registered (a counter, an Array that is kept),
/// where two equal calls give different results, or where the module's own arrays change. `key` is
/// what dropout draws from. What a forward changes outside of the object, and does not read back,
/// is not seen. The module's arrays stay what they are.
template <class M, class... Args>
void check_pure(M& module, const Key& key, const Args&... args) {
  const auto f = functionalize(module);
  for (const bool training : {false, true}) {
    const ApplyOptions options{.training = training, .key = key};
    const std::string before = internal::object_bytes(module);
    const auto first = f.apply(f.params, f.buffers, options, args...);
    if (internal::object_bytes(module) != before) {
      internal::throw_not_pure(module,
                               "changes fields of the object that are not registered; make them "
                               "buffers by register_buffer and update_buffer, or return them");
    }
    const auto second = f.apply(f.params, f.buffers, options, args...);
    std::vector<Array> a, b;
    internal::gather(first.first, a);
    internal::gather(second.first, b);
    internal::check_same_arrays(module, a, b, "gives another result when it is called again");
    internal::check_same_arrays(module, tree::leaves(first.second), tree::leaves(second.second),
                                "gives other buffers when it is called again");
  }
  internal::check_same_arrays(module, tree::leaves(module.named_parameters()),
                              tree::leaves(f.params), "changes parameters of the module");
  internal::check_same_arrays(module, tree::leaves(module.named_buffers()), tree::leaves(f.buffers),
                              "changes buffers of the module without update_buffer");
}
/// The same with Key(0).
template <class M, class A, class... Args>
requires(!std::is_same_v<A, Key>) void check_pure(M& module, const A& a, const Args&... args) {
  check_pure(module, Key(0), a, args...);
}

}  // namespace spruce::nn
