// SPDX-License-Identifier: Apache-2.0
// The primitives behind debug::print, check and host_call: their parameters, and what their rules
// share. The first two have one output without elements, by which passes know what comes before
// what.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce {

/// debug_print prints its inputs; check throws CheckError unless its first input is true.
/// host_call is a function of the user's.
extern const Primitive debug_print_p, check_p, host_call_p;

/// Of debug_print, whose inputs are the values, and of check, whose first input is the condition.
/// Behind the values there may be inputs that are not looked at.
struct MessageParams {
  std::string format;           ///< with {} where a value goes
  std::string place;            ///< the user's line
  std::vector<int64_t> sizes;   ///< of the axes that vmap has put in front, the outermost first
  std::vector<int64_t> mapped;  ///< by input, as far as it goes: bit k says that it has axis k
};

/// Of host_call. The inputs are those of the function; behind them there may be others.
struct HostCallParams {
  Opaque function;          ///< an internal::HostFunction
  bool vectorized = false;  ///< under vmap it is called once, on all examples
  bool effects = false;     ///< it is called although nothing needs its results
};

namespace internal {

/// What a host_call calls.
struct HostFunction {
  /// From concrete arrays of the CPU to as many as there are results.
  std::function<std::vector<Array>(std::span<const Array>)> call;
  size_t inputs = 0;          ///< how many it takes
  std::vector<Aval> results;  ///< types of the results
  std::string place;          ///< the user's line, where it is known
};

/// The name of the file and the line of the current place; "" for none.
std::string current_place();

/// The text of a format around its places for values: "a {} b" is "a " and " b". {{ and }} are
/// braces. `problem` is set to what is wrong with it.
std::vector<std::string> format_pieces(std::string_view format, std::string* problem);

/// The examples of a message: one where there is no vmap, else all of them, row by row.
class Examples {
 public:
  /// `in` are concrete; they have to live as long.
  Examples(const MessageParams& params, std::span<const Array> in);

  int64_t count() const { return count_; }
  /// What input i is for example n.
  Array input(size_t i, int64_t n) const;
  /// The format with the inputs from `first` on in the places for values.
  std::string text(int64_t n, size_t first) const;
  /// Which one n is: "[3] of [8]"; "" where there is no vmap.
  std::string name(int64_t n) const;

 private:
  const MessageParams& params_;
  std::span<const Array> in_;
  std::vector<std::string> pieces_;
  int64_t count_ = 1;
};

/// The rules of debug_print and check; `first` is the number of inputs in front of the values.
std::vector<Aval> shapes_of_message(const ShapeArgs& a, size_t first);
void jvp_of_message(const JvpArgs& a);
void batch_of_message(const BatchArgs& a);

/// True if there are effects in the graphs of these parameters.
bool has_effects(const Params& params);
/// The rule of vmap for loops and branches that have effects and whose examples go different ways:
/// one example after the other. Throws ValueError where they use an axis by its name.
void batch_one_by_one(const BatchArgs& a);

}  // namespace internal
}  // namespace spruce
