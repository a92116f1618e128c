// SPDX-License-Identifier: Apache-2.0
// What an equation runs on a CUDA device, as data: kernels by their text, calls of libraries,
// copies. It is made from types and parameters alone; addresses come later, so that the same steps
// run eagerly and in a compiled function.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce::cuda {

/// Sizes of a grid or of a block.
struct Dim3 {
  int64_t x = 1;  ///< at most 2^31 - 1 blocks; 1,024 threads
  int64_t y = 1;  ///< at most 65,535 blocks; 1,024 threads
  int64_t z = 1;  ///< at most 65,535 blocks; 64 threads
};

/// An argument of a kernel or of a library before addresses are known.
struct Argument {
  /// Where the argument comes from.
  enum class Kind : uint8_t { kInput, kOutput, kWorkspace, kHostInput, kValue };

  Kind kind = Kind::kValue;          ///< which of the functions below has made it
  size_t index = 0;                  ///< of an input or output
  int64_t byte_offset = 0;           ///< added to the address
  uint8_t bytes = 0;                 ///< of a value
  std::array<std::byte, 8> value{};  ///< the value itself

  /// The address of input i of the equation, in memory of the device.
  static Argument input(size_t i, int64_t byte_offset = 0) {
    return {.kind = Kind::kInput, .index = i, .byte_offset = byte_offset};
  }
  /// The address of output i of the equation.
  static Argument output(size_t i, int64_t byte_offset = 0) {
    return {.kind = Kind::kOutput, .index = i, .byte_offset = byte_offset};
  }
  /// An address within Kernels::workspace_bytes, which begin at a multiple of 256.
  static Argument workspace(int64_t byte_offset) {
    return {.kind = Kind::kWorkspace, .byte_offset = byte_offset};
  }
  /// The value of input i, which is of rank 0 and in host memory (`aval->device == 0`): passed to
  /// the kernel by value, in its own dtype (bool as one byte, f16 and bf16 as two).
  static Argument host_input(size_t i) { return {.kind = Kind::kHostInput, .index = i}; }
  /// A value of up to 8 bytes.
  template <class T>
  static Argument of(const T& v) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    Argument a{.kind = Kind::kValue, .bytes = sizeof(T)};
    std::memcpy(a.value.data(), &v, sizeof(T));
    return a;
  }
};

/// One launch of a kernel.
struct Launch {
  /// A whole translation unit of CUDA C++ for NVRTC, which includes nothing. It is the key under
  /// which the compiled kernel is kept: sizes are best arguments, not text. Compiled without
  /// contraction (`--fmad=false`); write fmaf where it is meant.
  std::string text;
  std::string name;                 ///< of the extern "C" __global__ function in it
  Dim3 grid;                        ///< blocks; a launch with a size of 0 is left out
  Dim3 block;                       ///< threads, at most 1,024
  int64_t shared_bytes = 0;         ///< of `extern __shared__` memory, at most 48 KiB
  std::vector<Argument> arguments;  ///< one a parameter of the function, of its size
};

/// A call of a library (cuBLASLt, ...) on a stream.
class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  /// For messages and profiles.
  virtual std::string_view name() const = 0;
  /// Enqueues the work. `addresses` are those of Call::arguments; `stream` is a CUstream. It may be
  /// called while the stream is captured.
  virtual void enqueue(void* stream, std::span<void* const> addresses) const = 0;
};

/// A library call and the memory that it works on.
struct Call {
  std::shared_ptr<const LibraryCall> library;  ///< shared by all runs of the equation
  std::vector<Argument> arguments;  ///< inputs, outputs and workspace, in the order of the call
};

/// Bytes copied within the device; the two do not overlap, or are the same: then nothing is done.
struct Copy {
  Argument to;        ///< an output or workspace
  Argument from;      ///< an input or workspace
  int64_t bytes = 0;  ///< how many
};

/// Bytes set to one value.
struct Fill {
  Argument to;        ///< an output or workspace
  int64_t bytes = 0;  ///< how many
  uint8_t byte = 0;   ///< each of them
};

/// One of the things that run after each other on the stream.
using Step = std::variant<Launch, Call, Copy, Fill>;

/// An output that may stand in the memory of an input, where both have as many bytes.
struct InPlace {
  size_t input = 0;   ///< which is read at an element, by the thread that writes it, or before
  size_t output = 0;  ///< after which no step reads the input
};

/// What one equation runs.
struct Kernels {
  std::vector<Step> steps;        ///< in order; each sees what those before it have written
  int64_t workspace_bytes = 0;    ///< of memory that is theirs while they run, not initialised
  std::vector<InPlace> in_place;  ///< any of them at once, each input for one output
};

/// How a primitive runs on CUDA devices. Each is one file of cuda/primitives/, named as the
/// primitive, with `extern const Twin <name>_twin;` (the build lists the files). Elementwise
/// primitives and others that the code generator knows have no file.
struct Twin {
  const Primitive* primitive;  ///< whose it is
  /// The steps for these types and parameters. Inputs that are numbers of the host have
  /// `device == 0` in their type (see is_host_number); all else is on the device.
  Kernels (*make)(const PrepareArgs& args);
};

/// True for an input that is passed by value, with Argument::host_input.
inline bool is_host_number(const Aval& aval) { return aval.device == 0 && aval.shape.rank() == 0; }

/// The twin of a primitive that has a file in cuda/primitives/, or null.
const Twin* find_twin(const Primitive& primitive);

/// The steps of a primitive that the code generator writes itself (cuda/codegen/). Sets `known` to
/// false, and returns nothing, for one that it does not know.
Kernels generate(const Primitive& primitive, const PrepareArgs& args, bool& known);

}  // namespace spruce::cuda
