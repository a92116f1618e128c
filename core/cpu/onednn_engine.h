// SPDX-License-Identifier: Apache-2.0
// What all uses of oneDNN share: the engine, a stream for each thread, one thread for each call.
#pragma once

#include <dnnl.hpp>

#ifdef SPRUCE_HAS_OPENMP
#include <omp.h>
#endif

namespace spruce::cpu::onednn {

inline const dnnl::engine& engine() {
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}

inline const dnnl::stream& stream() {
  thread_local const dnnl::stream s(engine());
  return s;
}

/// Runs a primitive on this thread's stream. oneDNN's own way through its C++ types would allocate
/// for every argument.
template <size_t N>
void execute(const dnnl::primitive& primitive, const dnnl_exec_arg_t (&args)[N]) {
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive.get(), stream().get(), static_cast<int>(N), args),
      "could not execute a primitive");
}

/// oneDNN sizes its team by the calling thread's setting; while one of these lives, that is one
/// thread.
class OneThread {
 public:
#ifdef SPRUCE_HAS_OPENMP
  OneThread() : saved_(omp_get_max_threads()) {
    if (saved_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (saved_ != 1) omp_set_num_threads(saved_);
  }

 private:
  int saved_;
#else
  OneThread() {}
#endif
};

}  // namespace spruce::cpu::onednn
