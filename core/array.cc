// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/array.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "spruce/core/empty_array_error.h"
#include "spruce/core/escaped.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/memory.h"

namespace spruce {
namespace internal {

void* ArrayImpl::operator new(size_t bytes) { return pool_allocate(bytes); }
void ArrayImpl::operator delete(void* p, size_t bytes) noexcept { pool_release(p, bytes); }

Array make_array(const Aval& aval) {
  check_shape("array", aval.shape, size_of(aval.dtype));
  Device& device = device_at(aval.device);
  try {
    return Array(Ref<ArrayImpl>(
        new ArrayImpl(aval, Buffer::allocate(static_cast<size_t>(aval.bytes()), device))));
  } catch (const std::bad_alloc&) {
    throw DeviceError("array: there is no memory on the device " + std::string(device.name()) +
                      " for " + to_string(aval) + ", " + std::to_string(aval.bytes()) +
                      " bytes; make it smaller, or let other arrays go (memory::live_bytes() says "
                      "what they hold)");
  }
}

Array make_array(const Aval& aval, const void* data) {
  Array a = make_array(aval);
  const auto bytes = static_cast<size_t>(aval.bytes());
  if (aval.device != 0)
    a.device().copy_from_host(mutable_data(a), data, bytes);
  else if (bytes > 0)
    std::memcpy(mutable_data(a), data, bytes);
  return a;
}

Array on_host(const Array& a) {
  const ArrayImpl* c = a.impl()->concrete();
  if (c == nullptr) return {};
  if (c->aval.device == 0)
    return c == a.impl() ? a : Array(Ref<ArrayImpl>(const_cast<ArrayImpl*>(c)));
  Aval aval = c->aval;
  aval.device = 0;
  const Array out = make_array(aval);
  device_at(c->aval.device)
      .copy_to_host(mutable_data(out), c->buffer->data(), static_cast<size_t>(aval.bytes()));
  return out;
}

void throw_ragged(size_t expected, size_t got, Loc loc) {
  const LocScope at(loc);
  throw ShapeError("array: nested lists are ragged: one has " + std::to_string(got) +
                   " entries, the first has " + std::to_string(expected));
}

namespace {

template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_same_v<From, bool> || std::is_same_v<To, bool>)
    return std::is_same_v<From, To>;
  else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>)
    return std::in_range<To>(value);
  else
    return false;
}

}  // namespace
}  // namespace internal

Array array(std::initializer_list<internal::WrittenNumber> values, Loc loc) {
  Dtype dtype = values.size() == 0 ? Dtype::kFloat32 : values.begin()->dtype;
  for (const internal::WrittenNumber& n : values) dtype = promote(dtype, n.dtype);
  return array(values, dtype, loc);
}

Array array(std::initializer_list<internal::WrittenNumber> values, Dtype dtype, Loc loc) {
  const Shape shape{values.size()};
  if (is_floating(dtype)) {
    std::vector<double> numbers;
    for (const internal::WrittenNumber& n : values) numbers.push_back(n.real);
    return internal::from_list(std::span<const double>(numbers), shape, dtype, loc);
  }
  std::vector<int64_t> numbers;
  for (const internal::WrittenNumber& n : values) numbers.push_back(n.whole);
  return internal::from_list(std::span<const int64_t>(numbers), shape, dtype, loc);
}

Array Array::scalar(Dtype dtype, const void* value, bool weak) {
  Array a = internal::make_array(Aval{dtype, weak, Shape{}});
  std::memcpy(internal::mutable_data(a), value, static_cast<size_t>(size_of(dtype)));
  return a;
}

void Array::throw_undefined() {
  throw internal::EmptyArrayError(
      "array: this Array is empty (default-constructed, or moved from); give it a value before it "
      "is used");
}

Device& Array::device() const { return device_at(aval().device); }

namespace {

// `advice` is for a traced value that has no number yet.
Array value_on_host(const Array& a, const char* op, const char* advice) {
  (void)a.aval();
  Array value = internal::on_host(a);
  const internal::ArrayImpl& c = *a.impl();
  if (!value.defined() && !Interpreter::is_running(c.interpreter)) internal::throw_escaped(op, a);
  if (!value.defined()) {
    throw TracerError(std::string(op) + ": " + c.describe() + " of type " + to_string(c.aval) +
                      " has no value while its function is traced; " + advice +
                      ", or hand the value out as a result");
  }
  return value;
}

// A traced value whose number is known has a tangent, which a C++ number cannot have.
void check_no_tangent(const char* op, const Array& a) {
  if (!a.is_tracer()) return;
  if (!Interpreter::is_running(a.impl()->interpreter)) internal::throw_escaped(op, a);
  throw TracerError(std::string(op) + ": " + a.impl()->describe() + " of type " +
                    to_string(a.aval()) +
                    " is read as C++ numbers, which have no derivative; read stop_gradient(x), or "
                    "hand the value out as a second result");
}

}  // namespace

Array Array::host_value(const char* op) const {
  return value_on_host(*this, op, "use where or another array operation instead");
}

void Array::read_item(Dtype as, void* out) const {
  const Array host = host_value("item");
  const internal::ArrayImpl& c = *host.impl();
  check_no_tangent("item", *this);
  if (c.aval.numel() != 1) {
    throw ShapeError("item: an array of type " + to_string(c.aval) + " has " +
                     std::to_string(c.aval.numel()) +
                     " elements; item reads arrays with exactly one");
  }
  const void* data = c.buffer->data();
  bool done = false;
  visit_dtype(c.aval.dtype, [&]<class From>(From) {
    visit_dtype(as, [&]<class To>(To) {
      From value;
      std::memcpy(&value, data, sizeof value);
      To result{};
      if constexpr (std::is_same_v<From, To>) {
        result = value;
        done = true;
      } else if constexpr (kIsHalf<From> &&
                           (std::is_same_v<To, float> || std::is_same_v<To, double>)) {
        result = static_cast<float>(value);
        done = true;
      } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, double>) {
        result = value;
        done = true;
      } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
        if (internal::fits<To>(value)) {
          result = static_cast<To>(value);
          done = true;
        }
      }
      std::memcpy(out, &result, sizeof result);
    });
  });
  if (!done) {
    throw DtypeError("item: an array of type " + to_string(c.aval) + " does not read as " +
                     std::string(name(as)) + "; ask for its own C++ type or convert with astype");
  }
}

void Array::read(Dtype as, void* out, size_t element_bytes) const {
  const Array host = host_value("to_vector");
  const internal::ArrayImpl& c = *host.impl();
  check_no_tangent("to_vector", *this);
  if (c.aval.dtype != as) {
    throw DtypeError("to_vector: an array of type " + to_string(c.aval) + " does not read as " +
                     std::string(name(as)) + "; ask for its own C++ type or convert with astype");
  }
  const size_t bytes = static_cast<size_t>(c.aval.numel()) * element_bytes;
  if (bytes > 0) std::memcpy(out, c.buffer->data(), bytes);
}

Ref<internal::Buffer> Array::host_memory(Dtype as) const {
  const Array host = host_value("data");
  const internal::ArrayImpl& c = *host.impl();
  check_no_tangent("data", *this);
  if (c.aval.dtype != as) {
    throw DtypeError("data: an array of type " + to_string(c.aval) + " does not read as " +
                     std::string(name(as)) + "; ask for its own C++ type or convert with astype");
  }
  return c.buffer;
}

bool Array::truth() const {
  const Array host = value_on_host(
      *this, "bool", "use where instead of if and ?:, & instead of &&, | instead of ||");
  const internal::ArrayImpl& c = *host.impl();
  if (c.aval.numel() != 1) {
    throw ShapeError(
        "bool: an array of type " + to_string(c.aval) + " has " + std::to_string(c.aval.numel()) +
        " elements; reduce it with any or all first, or write & instead of && and | instead of ||");
  }
  return visit_dtype(c.aval.dtype, [&]<class T>(T) {
    T value;
    std::memcpy(&value, c.buffer->data(), sizeof value);
    if constexpr (kIsHalf<T>)
      return static_cast<float>(value) != 0.0f;
    else
      return value != T{};
  });
}

}  // namespace spruce
