// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/reduce/loops.h"

namespace spruce::cpu {
namespace internal {

thread_local ReduceLoops* reduce_recorder = nullptr;

}  // namespace internal

namespace {

class Recording {
 public:
  explicit Recording(ReduceLoops* r) { internal::reduce_recorder = r; }
  ~Recording() { internal::reduce_recorder = nullptr; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

}  // namespace

ReduceLoops reduce_loops(const Primitive& p, Dtype dtype) {
  // Over no elements.
  const Aval from{dtype, false, Shape{0, 1}}, to{dtype, false, Shape{0}};
  int64_t none = 0;
  const View in{&none, &from}, out{&none, &to};
  ReduceLoops recorded{};
  const Recording recording(&recorded);
  p.cpu({{&in, 1}, {&out, 1}, Params::make(ReduceParams{Axes{1}})});
  return recorded;
}

}  // namespace spruce::cpu
