// SPDX-License-Identifier: Apache-2.0
// Puts a kernel together: its parameters in the text and the arguments of its launch side by side.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "spruce/cuda/codegen/prelude.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The largest number of blocks that texts with a grid-stride loop are launched with.
inline constexpr int64_t kMostBlocks = 1 << 20;

/// The threads of a block where a text does not need another number.
inline constexpr int64_t kThreads = 256;

/// Blocks of `threads` for n pieces of work, at most kMostBlocks.
int64_t blocks_for(int64_t n, int64_t threads);

/// The type in which texts divide numbers up to n: divisions of 64 bits take several times as long.
std::string counting_type(int64_t n);

/// One kernel in the making.
class KernelBuilder {
 public:
  /// A kernel of that name for an equation with these types.
  KernelBuilder(std::string name, const PrepareArgs& args);

  /// Text in front of the kernel, such as a prelude or functions.
  void front(std::string_view text) { front_ += text; }
  /// Declares `const T* x<i>`, the elements of input i, where it has not been declared. Numbers of
  /// the host are copied, so that there is an address of them too. Returns the name.
  std::string input(size_t i);
  /// Declares `T* y<i>`, the elements of output i.
  std::string output(size_t i);
  /// The same as elements of another type with as many bytes.
  std::string input_bits(size_t i, const std::string& type);
  std::string output_bits(size_t i, const std::string& type);
  /// Statements that the body begins with.
  void begin(std::string_view text) { begin_ += text; }
  /// Declares `type* name`, memory of the workspace, where it has not been declared.
  void workspace(std::string_view type, std::string_view name, int64_t byte_offset);
  /// Declares `const sp::i64 name`.
  void value(std::string_view name, int64_t v);
  /// The same for each of them.
  void values(std::initializer_list<std::pair<const char*, int64_t>> named);
  /// Declares a number of the type in which `dtype` is computed.
  void number(std::string_view name, Dtype dtype, double v);

  /// The launch of the kernel with this body. The prelude of scalars comes first in its text.
  Launch launch(std::string_view body, Dim3 grid, Dim3 block, int64_t shared_bytes = 0) const;
  /// A launch of one thread for each of n elements, of which the body gets the number as `i`; it
  /// ends one with `continue`.
  Launch for_each(int64_t n, std::string_view body) const;

 private:
  void declare(const std::string& parameter, const Argument& argument);

  const PrepareArgs& args_;
  std::string name_, front_, parameters_, begin_;
  std::vector<Argument> arguments_;
  std::vector<bool> inputs_, outputs_;
  std::set<std::string> workspaces_;
};

}  // namespace spruce::cuda
