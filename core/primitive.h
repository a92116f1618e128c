// SPDX-License-Identifier: Apache-2.0
// A primitive is data: a name, a shape rule, a CPU kernel, and the rules that the transforms need.
// Each is one file in a folder of core/primitives/, `extern constinit const Primitive <name>_p`;
// the folders are the registry.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/cpu_kernel.h"
#include "spruce/core/params.h"

namespace spruce {

/// The types of a primitive's inputs.
using Avals = std::span<const Aval* const>;

/// One operand of a kernel: memory and its type.
struct View {
  void* data;        ///< the first element; only elements of outputs may be written
  const Aval* aval;  ///< their type; lives as long as the call
  /// From element to element along each axis, in elements; null for row-major order without gaps,
  /// which is all that a kernel sees unless Primitive::takes_strides says more.
  const Shape* strides = nullptr;

  /// The elements as T, the C++ type of the dtype; not checked.
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  /// The sizes of the axes.
  const Shape& shape() const { return aval->shape; }
  /// The type of the elements.
  Dtype dtype() const { return aval->dtype; }
  /// Number of elements.
  int64_t numel() const { return aval->shape.numel(); }
  /// `strides`, or those of dense elements.
  Shape steps() const { return strides != nullptr ? *strides : row_major_strides(aval->shape); }
};

/// What a kernel gets. It fills every element of `out`, whose types are those of the shape rule,
/// and reads `in`. An output may stand in the memory of an input only where the primitive or its
/// prepared kernel says in_place.
struct KernelArgs {
  std::span<const View> in;   ///< in the order of the primitive
  std::span<const View> out;  ///< in the order of the primitive, to be filled
  const Params& params;       ///< of this application
  /// As many bytes as the prepared kernel asked for, aligned to 64; null without one.
  void* workspace = nullptr;
};

struct Primitive;

/// A kernel made for one equation of a compiled graph: what follows from types and parameters is
/// settled. Several threads may run it at once; it keeps nothing between runs and needs no memory
/// but the workspace.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  /// `args` has the types that it was prepared for.
  virtual void run(const KernelArgs& args) const = 0;
  /// Bytes of KernelArgs::workspace.
  virtual size_t workspace_bytes() const { return 0; }
  /// True if output `out` may stand in the memory of input `in`, which has as many bytes.
  virtual bool in_place(size_t in, size_t out) const = 0;
};

/// What a prepared kernel is made from.
struct PrepareArgs {
  Avals in;              ///< types of the inputs
  Avals out;             ///< types of the outputs, by the shape rule
  const Params& params;  ///< of the equation
  /// As View::strides, one an input; empty where all are dense.
  std::span<const Shape* const> in_strides = {};
  /// The same of the outputs.
  std::span<const Shape* const> out_strides = {};

  /// The strides of input i; null for a dense one.
  const Shape* input_strides(size_t i) const {
    return in_strides.empty() ? nullptr : in_strides[i];
  }
  /// The same of output k.
  const Shape* output_strides(size_t k) const {
    return out_strides.empty() ? nullptr : out_strides[k];
  }
};

/// What is asked of a primitive about an operand that stands within another array.
struct StridesArgs {
  Avals in;              ///< types of the inputs
  Avals out;             ///< types of the outputs
  const Params& params;  ///< of the equation
  bool output;           ///< of an output; else of an input
  size_t index;          ///< of the input or output
  const Shape& strides;  ///< along each of its axes, in elements; of inputs, 0 repeats
};

/// What a shape rule gets: `op` is the primitive's name, for messages.
struct ShapeArgs {
  const char* op;        ///< the name
  Avals in;              ///< types of the inputs
  const Params& params;  ///< of this application
};

/// Forward mode. `tangents[i]` is undefined where it is zero (at least one is defined). The rule
/// fills `out` and `out_tangents`; an out tangent that stays undefined is zero. It is written with
/// public operations and is linear in the tangents. Tangents have the dtype and shape of their
/// value.
struct JvpArgs {
  const Primitive& p;               ///< the one that is differentiated
  std::span<const Array> in;        ///< values of the inputs
  std::span<const Array> tangents;  ///< one an input, undefined where zero
  const Params& params;             ///< of this application
  std::span<Array> out;             ///< the values of the outputs, for the rule to fill
  std::span<Array> out_tangents;    ///< their tangents; what stays undefined is zero
};

/// The transpose of a primitive that is linear in the inputs i with `linear(i)`: from the
/// cotangents `cts` of the outputs (undefined where zero; at least one is defined) the rule fills
/// `out[i]` for the linear inputs. What stays undefined is zero.
struct TransposeArgs {
  const Primitive& p;               ///< the one that is transposed
  std::span<const Array> cts;       ///< cotangents, one an output, undefined where zero
  std::span<const Array> in;        ///< the inputs; undefined where linear
  std::span<const Aval> avals;      ///< types of all inputs
  std::span<const Aval> out_avals;  ///< types of the outputs
  const Params& params;             ///< of this application
  std::span<Array> out;             ///< cotangents, one an input, for the rule to fill

  /// True if input i is one for which a cotangent is asked.
  bool linear(size_t i) const { return !in[i].defined(); }
};

/// vmap. `batched[i]` says that `in[i]` has the mapped axis of `size` in front; at least one does,
/// or a body asks for the axis by its name (empty where vmap was given none). The rule fills `out`,
/// with the mapped axis in front unless it clears `out_batched[k]`.
struct BatchArgs {
  const Primitive& p;             ///< the one that is mapped
  std::span<const Array> in;      ///< inputs, mapped ones with the mapped axis in front
  std::span<const bool> batched;  ///< one an input: whether it is mapped
  int64_t size;                   ///< of the mapped axis
  std::string_view axis_name;     ///< of the mapped axis, empty for none
  const Params& params;           ///< of the application to one element
  std::span<Array> out;           ///< for the rule to fill
  std::span<bool> out_batched;    ///< one an output, true at first
};

/// Elements of an input that stand in an output along axes: for 0 <= i[j] < count[j], the one at
/// begin[j] + i[j] * step[j] along each axis j of the output is the one at from[k] + the sum of
/// i[j] * stride[j] over the j with axis[j] == k along each axis k of the input.
struct IndexMap {
  size_t input = 0;  ///< its number
  Shape begin;       ///< by axis of the output
  Shape step;        ///< the same, not negative
  Shape count;       ///< the same
  Shape from;        ///< by axis of the input
  Axes axis;     ///< by axis of the output: one of the input, or -1, along which all are the same
  Shape stride;  ///< by axis of the output, of any sign
};

/// How an input is read by some rows of the outputs, a row being a place along the first axis.
enum class RowRead : uint8_t {
  kRows,  ///< the same rows
  kWhole  ///< all of it
};

/// What a rule about rows gets.
struct RowArgs {
  Avals in;              ///< types of the inputs
  Avals out;             ///< types of the outputs
  const Params& params;  ///< of the equation
  int64_t all;           ///< how many rows there are
  int64_t rows;          ///< how many are computed at once, more than 1, one after the other
};

/// One input for the property tests: random values in [low, high]; integers are drawn in the same
/// range.
struct SampleInput {
  Aval aval;              ///< its type
  double low = -2;        ///< the smallest value
  double high = 2;        ///< the largest value
  bool distinct = false;  ///< no two elements closer than the step of finite differences: no ties,
                          ///< no kinks within
  std::vector<double> values;  ///< where given, these very values
};

/// One application of a primitive for the property tests. Float inputs of f32 are also run in f64
/// (and, for the forward rules, in f16 and bf16) unless `fixed_dtypes`.
struct Sample {
  std::vector<SampleInput> in;  ///< one an input
  Params params;                ///< of the application
  bool fixed_dtypes = false;    ///< run in the dtypes of `in` only
};

/// What an elementwise primitive's expression is made from (core/scalar/expression.h).
struct ScalarArgs;

/// How a primitive relates its outputs to its inputs; what graph passes look at.
enum class PrimitiveKind : uint8_t {
  kOther,        ///< none of what follows; passes take it as a whole
  kElementwise,  ///< each output element depends on the input elements at the same place (after
                 ///< broadcasting)
  kReduction,    ///< params are ReduceParams
  kView,         ///< the output is the memory of input 0 with another shape
  kMove,         ///< elements of the inputs, each axis of which is that axis of the output
  kGroup,        ///< params are GroupParams: equations that run as one
  kScan,         ///< params are ScanParams (core/rules/control_flow.h)
  kWhile,        ///< params are WhileParams
  kCond,         ///< params are CondParams
};

/// What one element of a primitive costs, beside keeping it.
enum class ElementCost : uint8_t {
  kHigh,  ///< more than to read it from memory, or not known
  kLow,   ///< less than to read it from memory
  kLeast  ///< no more than to store it in the cache and load it again
};

/// What an elementwise primitive of two inputs makes of many elements, in whatever order they are
/// joined, up to rounding, signs of zeros and which NaN it is.
enum class Monoid : uint8_t { kNone, kSum, kProduct, kMax, kMin, kAnd, kOr };

/// A primitive operation. Rules that are null do not exist; using one is an error that says so.
struct Primitive {
  /// As graphs print it: that of the file and of the variable without `_p`; lives as long as the
  /// program.
  const char* name;
  /// The function that users call, for messages; null where it has the primitive's name.
  const char* public_name = nullptr;
  /// The type of the only output. Throws ShapeError or DtypeError. Exactly one of `shape` and
  /// `shapes` is set.
  Aval (*shape)(const ShapeArgs&) = nullptr;
  /// The types of several outputs.
  std::vector<Aval> (*shapes)(const ShapeArgs&) = nullptr;
  /// The kernel of the CPU, for every type that the shape rule lets through; null where there is
  /// nothing to compute, or where `call` does.
  CpuKernel cpu = nullptr;
  /// Of an elementwise primitive, for every type that the shape rule lets through: adds what it
  /// does to one element to a scalar::Program and returns the number of the result. What generators
  /// of code read.
  int (*scalar)(const ScalarArgs&) = nullptr;
  /// Forward mode; reverse mode transposes what it computes of the tangents.
  void (*jvp)(const JvpArgs&) = nullptr;
  /// Reverse mode: the transpose in the inputs in which the primitive is linear.
  void (*transpose)(const TransposeArgs&) = nullptr;
  /// The rule of vmap.
  void (*batch)(const BatchArgs&) = nullptr;
  /// Applications on which the property tests try the rules.
  std::vector<Sample> (*samples)() = nullptr;
  /// Parses the parameters; null for a primitive without any.
  ParamsParser params = nullptr;
  /// What passes may take for granted.
  PrimitiveKind kind = PrimitiveKind::kOther;
  /// Of an elementwise primitive: what it costs to compute it again instead of keeping it.
  ElementCost cost = ElementCost::kHigh;
  /// Two inputs, whose order makes no difference.
  bool commutative = false;
  /// Of an elementwise primitive that is associative, up to rounding, and has a neutral element.
  Monoid monoid = Monoid::kNone;
  /// An output may be written over an input with as many bytes.
  bool in_place = false;
  /// Runs on arrays of any device by calling public operations (custom rules, nested graphs)
  /// instead of a kernel.
  std::vector<Array> (*call)(std::span<const Array> in, const Params& params) = nullptr;
  /// For a fused composite: the same function in public operations. Where jvp or batch are null,
  /// they are derived from it.
  std::vector<Array> (*expand)(std::span<const Array> in, const Params& params) = nullptr;
  /// Makes a kernel for one equation of a compiled graph; null (or a null result) where `cpu` is as
  /// good.
  std::unique_ptr<const PreparedKernel> (*prepare)(const PrepareArgs& args) = nullptr;
  /// True if the kernels of every device read this input, or write this output, with these strides:
  /// then compiling leaves out what would only move its elements (core/rules/layouts.h). Each
  /// operand is asked about by itself. Null where all have to be dense.
  bool (*takes_strides)(const StridesArgs&) = nullptr;
  /// Where the only output has its elements from, of a primitive that does nothing but move them:
  /// of maps that meet, the later one holds. None for a reshape that joins axes. Null for others.
  std::vector<IndexMap> (*index_maps)(const PrepareArgs& args) = nullptr;
  /// Of a reduction: the elementwise primitive that joins two elements, in whatever order.
  const Primitive* combine = nullptr;
  /// Reads about as much of input 0 as it gives, not all of it.
  bool reads_part = false;
  /// Floating-point operations of one application; null where each element of the output (of the
  /// input, for reductions) takes about one.
  double (*flops)(const PrepareArgs& args) = nullptr;
  /// For outputs that all have `all` rows: how the inputs are read, if any `rows` of them may be
  /// computed by themselves, with the same bits; none else. Null where they never are. Elementwise
  /// primitives and reductions need none (core/rules/row_blocks.h).
  std::optional<std::vector<RowRead>> (*rows)(const RowArgs&) = nullptr;
  /// The parameters for that many rows; null where they are those of all.
  Params (*row_params)(const Params& params, int64_t rows) = nullptr;
  /// Of a scatter whose updates have `all` rows: whether these may be taken in block by block, each
  /// into what the blocks before it made, with the same bits.
  bool (*updates_in_blocks)(const RowArgs&) = nullptr;
  /// True for parameters with which `expand` takes the place of jvp and batch.
  bool (*prefer_expand)(const Params& params) = nullptr;

  /// What a reduction makes of its elements; kNone of other primitives.
  Monoid reduces_by() const { return combine != nullptr ? combine->monoid : Monoid::kNone; }
  /// True if `expand` takes the place of jvp and batch for these parameters.
  bool expands(const Params& p) const {
    return expand != nullptr && prefer_expand != nullptr && prefer_expand(p);
  }
};

/// All primitives, in the order of their names.
std::span<const Primitive* const> all_primitives();
/// The primitive of that name, or null.
const Primitive* find_primitive(std::string_view name);

/// The output types by the primitive's rule.
std::vector<Aval> output_avals(const Primitive& p, Avals in, const Params& params);

/// One of the inputs in `bind1(p, {a, b})`: refers to an array that lives during the call, so that
/// no reference is counted for it.
class Input {
 public:
  Input(const Array& a) : array_(&a) {}  ///< Keeps the address alone.
  /// The array itself.
  const Array& array() const { return *array_; }

 private:
  const Array* array_;
};

/// Applies a primitive with one output under the current interpreter. Throws what the shape rule
/// throws, and TracerError for a traced value that has escaped from its function.
Array bind1(const Primitive& p, std::span<const Array> in, const Params& params = {});
Array bind1(const Primitive& p, std::initializer_list<Input> in, const Params& params = {});
/// The same for any number of outputs.
std::vector<Array> bind_all(const Primitive& p, std::span<const Array> in,
                            const Params& params = {});
inline std::vector<Array> bind_all(const Primitive& p, std::initializer_list<Array> in,
                                   const Params& params = {}) {
  return bind_all(p, std::span<const Array>(in.begin(), in.size()), params);
}

}  // namespace spruce
