// SPDX-License-Identifier: Apache-2.0
// One interpreter is current on each thread; every operation goes to it. None means: compute now.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "spruce/core/custom.h"
#include "spruce/core/primitive.h"

namespace spruce {

/// What a transform does with each operation while the user's function runs. An interpreter knows
/// the one that was current before it and does its own work there. Values of an interpreter carry
/// its id: two that nest never mistake each other's values.
class Interpreter {
 public:
  /// Takes a new id and has the one that is current as its parent; InterpreterScope makes it
  /// current. Throws ValueError where hundreds are nested: a recursion without an end.
  Interpreter();
  virtual ~Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  /// Neither copied nor assigned: values know it by its id.
  Interpreter& operator=(const Interpreter&) = delete;

  /// Handles one operation; `out` has as many places as the primitive has outputs. Called with this
  /// one still current.
  virtual void process(const Primitive& p, std::span<const Array> in, const Params& params,
                       std::span<Array> out) = 0;
  /// Handles one call of a function with a derivative rule of its own.
  virtual std::vector<Array> process_custom(const std::shared_ptr<const CustomFunction>& f,
                                            std::span<const Array> in) = 0;
  /// "vmap", "grad": for messages.
  virtual const char* name() const = 0;
  /// True if the function under it has an axis of that name (see psum); then its size.
  virtual bool find_axis(const std::string& name, int64_t* size) const;

  /// From 1, never given twice in a run of the program; 0 stands for concrete arrays.
  uint64_t id() const { return id_; }
  /// The interpreter that was current when this one was made; null for the outermost. Not owned.
  Interpreter* parent() const { return parent_; }

  /// The innermost one of this thread; null where operations compute at once.
  static Interpreter* current() { return current_; }
  /// Its id; 0 where operations compute at once.
  static uint64_t current_id() { return current_ == nullptr ? 0 : current_->id_; }
  /// True if the interpreter with that id is the current one or one outside of it.
  static bool is_running(uint64_t id);
  /// True for values that `this` made.
  bool owns(const Array& a) const { return a.defined() && a.impl()->interpreter == id_; }

 private:
  friend class InterpreterScope;
  static thread_local Interpreter* current_;
  uint64_t id_;
  Interpreter* parent_;
  int depth_;  // how many are around it
};

/// Makes an interpreter (or none) current while it lives.
class InterpreterScope {
 public:
  /// `i` has to live as long; null: operations compute at once meanwhile.
  explicit InterpreterScope(Interpreter* i) : saved_(Interpreter::current_) {
    Interpreter::current_ = i;
  }
  ~InterpreterScope() { Interpreter::current_ = saved_; }
  InterpreterScope(const InterpreterScope&) = delete;
  /// Neither copied nor assigned: it belongs to one block of code.
  InterpreterScope& operator=(const InterpreterScope&) = delete;

 private:
  Interpreter* saved_;
};

namespace internal {

/// Computes now, on the device of the inputs; where they are numbers alone, on the default device.
/// All inputs are concrete.
void evaluate(const Primitive& p, std::span<const Array> in, const Params& params,
              std::span<Array> out);
/// The same, and an output may take over the memory of an input that only `in` holds.
void evaluate_reusing(const Primitive& p, std::span<const Array> in, const Params& params,
                      std::span<Array> out);
/// bind1, and where it computes now the output may take over the memory of an input that only `in`
/// holds.
Array bind1_reusing(const Primitive& p, std::span<const Array> in);
/// Applies under `i` (null: computes).
void bind_into(Interpreter* i, const Primitive& p, std::span<const Array> in, const Params& params,
               std::span<Array> out);
/// Number of outputs for these inputs.
size_t output_count(const Primitive& p, std::span<const Array> in, const Params& params);
/// "dot_general: a f32[2,3], b f32[4,5]": the head of a message about a rule that is missing.
std::string describe_call(const Primitive& p, std::span<const Array> in);

}  // namespace internal
}  // namespace spruce
