// SPDX-License-Identifier: Apache-2.0
// Array: an immutable, dense, row-major, n-dimensional array; a cheap handle that is safe to share
// between threads.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "spruce/core/buffer.h"
#include "spruce/core/callable.h"
#include "spruce/core/dtype.h"
#include "spruce/core/error.h"
#include "spruce/core/host_span.h"
#include "spruce/core/integer_arg.h"
#include "spruce/core/shape.h"

namespace spruce {

class Index;
class ArrayAt;
class Array;
class Operand;

/// C++ numbers that become weak arrays of rank 0.
template <class T>
concept Scalar =
    std::is_arithmetic_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, long double>;

/// The C++ types of elements: bool, the sized integers, Float16, Bfloat16, float, double.
template <class T>
concept Element = Scalar<T> || kIsHalf<T>;

namespace internal {

/// What an Array points to: its type, and either memory or, in a tracer (a subclass), what a
/// transform knows of it.
class ArrayImpl : public RefCounted {
 public:
  explicit ArrayImpl(const Aval& a) : aval(a) {}
  ArrayImpl(const Aval& a, Ref<Buffer> b) : aval(a), buffer(std::move(b)) {}
  virtual ~ArrayImpl() = default;
  static void destroy(const ArrayImpl* p) { delete p; }
  static void* operator new(size_t bytes);
  static void operator delete(void* p, size_t bytes) noexcept;

  bool is_tracer() const { return interpreter != 0; }
  /// The concrete array behind a tracer (an impl that is no tracer), or null where the value is not
  /// known.
  virtual const ArrayImpl* concrete() const { return this; }
  /// "a value of vmap": what the tracer is, for messages.
  virtual std::string describe() const { return "an array"; }

  Aval aval;
  uint64_t interpreter = 0;  // the id of the interpreter that a tracer belongs to
  Ref<Buffer> buffer;        // of concrete arrays
};

}  // namespace internal

/// An immutable array of numbers. Copying shares the memory; no operation changes an array that
/// someone else can see.
class Array {
 public:
  /// No array: every operation on it throws ValueError. Stands for "not there yet".
  Array() = default;
  /// A weak array of rank 0 from a C++ number: `2.0f * x` has the dtype of x.
  template <Scalar T>
  Array(T value) : Array(scalar(dtype_of<T>(), &value, true)) {}
  /// Of the library: the handle of an array or tracer that is there already.
  explicit Array(Ref<internal::ArrayImpl> impl) : impl_(std::move(impl)) {}
  Array(const Array&) = default;
  Array(Array&&) noexcept = default;
  ~Array() = default;
  /// The variable holds another array from now on; those that shared the old one keep it.
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & noexcept = default;
  /// x[i] = v would change a copy: an array is immutable. x = x.at(i).set(v) does what it means.
  template <std::convertible_to<Array> T>
  void operator=(T&& an_array_is_immutable_use_x_at_set) && = delete;

  /// False for a default-constructed Array.
  bool defined() const { return static_cast<bool>(impl_); }
  /// Dtype, shape and weakness in one. Throws ValueError, as all that follow, for an undefined
  /// array.
  const Aval& aval() const {
    if (!impl_) throw_undefined();
    return impl_->aval;
  }
  /// The type of the elements.
  Dtype dtype() const { return aval().dtype; }
  /// True for values made from C++ numbers only: their dtype gives way to that of arrays.
  bool weak() const { return aval().weak; }
  /// The sizes of the axes; [] for a number.
  const Shape& shape() const { return aval().shape; }
  /// The size of one axis; negative axes count from the end. Throws ShapeError.
  template <std::integral T>
  int64_t shape(T axis, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return aval().shape[normalize_axis("shape", internal::axis_of(axis), rank())];
  }
  /// The number of axes, 0 to kMaxRank.
  int rank() const { return aval().shape.rank(); }
  /// Number of elements.
  int64_t size() const { return aval().shape.numel(); }
  /// Bytes of the elements.
  int64_t nbytes() const { return aval().bytes(); }
  /// Where the elements are; of a traced value, where they will be.
  Device& device() const;

  /// The only element. T must be the C++ type of the dtype, or a wider one of the same kind: f16
  /// and bf16 read as float, integers as any integer type that holds the value. Throws TracerError
  /// under vmap and jit, and for a value with a tangent (stop_gradient(x).item<T>() reads it),
  /// ShapeError unless there is exactly one element, DtypeError if T does not fit.
  template <Element T>
  T item(Loc loc = Loc::current()) const {
    const LocScope at(loc);
    T out;
    read_item(dtype_of<T>(), &out);
    return out;
  }
  /// All elements in row-major order. Throws DtypeError unless T is the C++ type of the dtype;
  /// TracerError as item().
  template <Element T>
  std::vector<T> to_vector(Loc loc = Loc::current()) const {
    const LocScope at(loc);
    std::vector<T> out(static_cast<size_t>(size()));
    read(dtype_of<T>(), out.data(), sizeof(T));
    return out;
  }
  /// The elements where they are, without a copy, in row-major order. The span keeps the memory, of
  /// a temporary too, and shows the same elements whatever becomes of the array: updates that would
  /// be in place copy meanwhile. Of an array on another device it is a copy. Throws as to_vector().
  template <Element T>
  HostSpan<T> data(Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return {host_memory(dtype_of<T>()), static_cast<size_t>(size())};
  }

  /// True where the only element is not zero. Throws as item().
  explicit operator bool() const { return truth(); }

  /// The same elements with another shape; one size may be -1. Shares the memory. Throws
  /// ShapeError.
  Array reshape(const Shape& shape, Loc loc = Loc::current()) const;
  /// Sizes without braces are refused.
  template <std::integral N, class... More>
  Array reshape(N, const More&...) const {
    return internal::refused_sizes<Array, N>();
  }
  /// The elements converted to `dtype`.
  Array astype(Dtype dtype, Loc loc = Loc::current()) const;

  /// NumPy's indexing with one index: an integer, slice(), ellipsis, newaxis, or an integer or
  /// boolean array.
  Array operator[](const Index& index) const;
  /// NumPy's indexing with several: x[{0, slice(1, 3), ellipsis}].
  Array operator[](std::initializer_list<Index> indices) const;
  /// A range-for over an array is refused: it could mean rows, x[i] for i below x.shape(0), or
  /// elements, x.data<float>().
  template <class T = Array>
  internal::NoIterator<T> begin() const {
    static_assert(internal::kNever<T>,
                  "spruce: an Array is no range; its rows are x[i] for i below x.shape(0), its "
                  "elements x.data<float>()");
    return {};
  }
  template <class T = Array>
  internal::NoIterator<T> end() const {
    return {};
  }

  /// A place for a pure update: x.at(0, slice(1, 3)).set(y). With std::move(x).at(...) the memory
  /// is reused where nothing else holds it.
  template <class... I>
  ArrayAt at(const I&... indices) const&;
  template <class... I>
  ArrayAt at(const I&... indices) &&;

  /// Of the library: what the handle points to, null for an undefined array; the Array owns it.
  internal::ArrayImpl* impl() const { return impl_.get(); }
  /// The same as a counted reference.
  const Ref<internal::ArrayImpl>& ref() const { return impl_; }
  /// True for a value that a transform traces, false for a concrete or undefined array.
  bool is_tracer() const { return impl_ && impl_->is_tracer(); }

  /// `x += y` is `x = x + y`: this handle gets a new array, of the promoted dtype and the broadcast
  /// shape; others that share the old one keep it. The same holds for the three that follow.
  Array& operator+=(Operand o) &;
  /// x = x - y.
  Array& operator-=(Operand o) &;
  /// x = x * y.
  Array& operator*=(Operand o) &;
  /// x = x / y; integers and bool become f32.
  Array& operator/=(Operand o) &;
  /// Of a temporary, x[i] += v: it would change a copy. x = x.at(i).add(v) does what it means.
  template <std::convertible_to<Array> T>
  void operator+=(T&& an_array_is_immutable_use_x_at_add) && = delete;
  template <std::convertible_to<Array> T>
  void operator-=(T&& an_array_is_immutable_use_x_at_subtract) && = delete;
  template <std::convertible_to<Array> T>
  void operator*=(T&& an_array_is_immutable_use_x_at_multiply) && = delete;
  template <std::convertible_to<Array> T>
  void operator/=(T&& an_array_is_immutable_use_x_at_divide) && = delete;

 private:
  static Array scalar(Dtype dtype, const void* value, bool weak);
  [[noreturn]] static void throw_undefined();
  Array host_value(const char* op) const;
  void read_item(Dtype as, void* out) const;
  void read(Dtype as, void* out, size_t element_bytes) const;
  Ref<internal::Buffer> host_memory(Dtype as) const;
  bool truth() const;

  Ref<internal::ArrayImpl> impl_;
};

/// An array, or what converts to one, as the operand of an operator. It brings along the line of
/// the user's code, for which an operator has no parameter. (operator! takes an Array: there the
/// conversion to bool would be as good. cond and switch_, whose arguments end in a pack, take one
/// too.)
class Operand {
 public:
  /// Converts `x` to an Array; `where` is filled in by the compiler.
  template <std::convertible_to<Array> T>
  Operand(T&& x, Loc where = Loc::current()) : array(std::forward<T>(x)), loc(where) {}

  Array array;  ///< the operand itself
  Loc loc;      ///< the line of the user's code
};

/// Arithmetic with NumPy's broadcasting and the promotion of docs/promotion.md. Temporaries give
/// their memory to the result.
Array operator+(Operand a, Operand b);
/// subtract(a, b); of one operand, negative(a).
Array operator-(Operand a, Operand b);
/// multiply(a, b), element by element; matmul() is the product of matrices.
Array operator*(Operand a, Operand b);
/// divide(a, b): integers and bool are converted to f32.
Array operator/(Operand a, Operand b);
/// remainder(a, b): with the sign of b, as in Python and unlike C++.
Array operator%(Operand a, Operand b);
Array operator-(Operand a);
Array operator+(Operand a);
/// bitwise_and(a, b), of bool or integers. Throws DtypeError for floats, as all operators on bits.
Array operator&(Operand a, Operand b);
/// bitwise_or(a, b).
Array operator|(Operand a, Operand b);
/// bitwise_xor(a, b).
Array operator^(Operand a, Operand b);
/// bitwise_not(a): the logical not of bool.
Array operator~(Operand a);
/// logical_not(a): bool, true where a is zero; of any dtype.
Array operator!(const Array& a);
/// left_shift(a, b), of integers. Throws DtypeError for others.
Array operator<<(Operand a, Operand b);
/// right_shift(a, b), of integers: signed ones fill with their sign.
Array operator>>(Operand a, Operand b);
/// less(a, b): bool, element by element; false where one is NaN. No comparison has a gradient.
Array operator<(Operand a, Operand b);
/// less_equal(a, b).
Array operator<=(Operand a, Operand b);
/// greater(a, b).
Array operator>(Operand a, Operand b);
/// greater_equal(a, b).
Array operator>=(Operand a, Operand b);
/// Elementwise, as in NumPy; array_equal() compares whole arrays.
Array operator==(Operand a, Operand b);
/// not_equal(a, b), element by element; true where one is NaN.
Array operator!=(Operand a, Operand b);

/// Prints the elements as NumPy does, large arrays in summary; a traced value prints its type.
std::ostream& operator<<(std::ostream& out, const Array& a);
/// What `<<` prints.
std::string to_string(const Array& a);

namespace internal {

/// A new array of that type, on the device that the type names, with memory that is not
/// initialised, for a kernel to fill.
Array make_array(const Aval& aval);
/// A new array with the bytes of `data`, which are on the host.
Array make_array(const Aval& aval, const void* data);
/// The array, without tangents, in memory that the host can read: a copy where it is on a device
/// whose memory it cannot. Undefined where the value is not known.
Array on_host(const Array& a);
/// The memory of an array that nobody else has seen yet.
inline void* mutable_data(const Array& a) { return a.impl()->buffer->data(); }

}  // namespace internal

/// The only element: x.item<T>().
template <Element T>
T item(const Array& x, Loc loc = Loc::current()) {
  return x.item<T>(loc);
}

/// The dtype of numbers that are written down: that of T, but f32 for double, since a C++ number
/// with a point is a double whether it is meant or not. `std::vector<double>` and
/// `std::span<const double>` are f64.
template <Element T>
constexpr Dtype dtype_of_literal() {
  return std::is_same_v<T, double> ? Dtype::kFloat32 : dtype_of<T>();
}

namespace internal {

template <class R>
struct IsVector : std::false_type {};
template <class T, class A>
struct IsVector<std::vector<T, A>> : std::true_type {};

// Elements side by side, other than a vector or a span of const elements, which have functions of
// their own.
template <class R>
concept ElementRange =
    !IsVector<R>::value && std::ranges::contiguous_range<const R&> &&
    std::ranges::sized_range<const R&> && Element<std::ranges::range_value_t<const R&>>;
// A C++ number of any type that is written down.
struct WrittenNumber {
  template <Element T>
  requires std::is_arithmetic_v<T> WrittenNumber(T value)
      : real(static_cast<double>(value)),
        whole(static_cast<int64_t>(std::is_floating_point_v<T> ? 0 : value)),
        dtype(dtype_of_literal<T>()) {}
  double real;
  int64_t whole;  // of an integer; the bits of an unsigned one
  Dtype dtype;
};
template <class R>
inline constexpr Dtype kDtypeOfRange = dtype_of<std::ranges::range_value_t<const R&>>();

}  // namespace internal

/// An array with the elements of `values`, in row-major order, of that shape; the dtype is that of
/// T, or the one that is given, to which they are converted as by astype(). Throws ShapeError if
/// their number is not that of the shape.
template <Element T>
Array array(std::span<const T> values, const Shape& shape, Dtype dtype = dtype_of<T>(),
            Loc loc = Loc::current());
template <Element T>
Array array(const std::vector<T>& values, const Shape& shape, Dtype dtype = dtype_of<T>(),
            Loc loc = Loc::current());
/// The same of std::array, C arrays, std::span and what else has its elements side by side; without
/// a shape the rank is 1.
template <internal::ElementRange R>
Array array(const R& values, const Shape& shape, Dtype dtype = internal::kDtypeOfRange<R>,
            Loc loc = Loc::current());
template <internal::ElementRange R>
Array array(const R& values, Loc loc = Loc::current());
/// A matrix of rows of one length. Throws ShapeError for ragged ones.
template <Element T>
Array array(const std::vector<std::vector<T>>& rows, Dtype dtype = dtype_of<T>(),
            Loc loc = Loc::current());
/// Numbers that are written down: the dtype is dtype_of_literal<T>() here and below, f32 for {1.0,
/// 2.0}, unless one is given.
template <Element T>
Array array(std::initializer_list<T> values, const Shape& shape,
            Dtype dtype = dtype_of_literal<T>(), Loc loc = Loc::current());
/// The same with rank 1.
template <Element T>
Array array(const std::vector<T>& values, Loc loc = Loc::current());
template <Element T>
Array array(const std::vector<T>& values, std::same_as<Dtype> auto dtype, Loc loc = Loc::current());
template <Element T>
Array array(std::initializer_list<T> values, Loc loc = Loc::current());
template <Element T>
Array array(std::initializer_list<T> values, std::same_as<Dtype> auto dtype,
            Loc loc = Loc::current());
/// Numbers of several types: {1, 2.5f, INFINITY} is f32[3], the dtype to which they promote; {} is
/// f32[0].
Array array(std::initializer_list<internal::WrittenNumber> values, Loc loc = Loc::current());
Array array(std::initializer_list<internal::WrittenNumber> values, Dtype dtype,
            Loc loc = Loc::current());
/// Nested lists: array({{1.0f, 2.0f}, {3.0f, 4.0f}}) is f32[2,2]. Throws ShapeError for ragged
/// ones.
template <Element T>
Array array(std::initializer_list<std::initializer_list<T>> values,
            Dtype dtype = dtype_of_literal<T>(), Loc loc = Loc::current());
template <Element T>
Array array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
            Dtype dtype = dtype_of_literal<T>(), Loc loc = Loc::current());
/// A strong array of rank 0: array(1.0) is f32[]; Array(1.0) is a weak one.
template <Element T>
Array array(T value, Dtype dtype = dtype_of_literal<T>());

}  // namespace spruce

#include "spruce/core/array_inl.h"
