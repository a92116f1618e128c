// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/interpreter.h"

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "spruce/core/debug.h"
#include "spruce/core/escaped.h"

namespace spruce {

thread_local constinit Interpreter* Interpreter::current_ = nullptr;

Interpreter::Interpreter() : parent_(current_) {
  static std::atomic<uint64_t> next{1};
  id_ = next.fetch_add(1, std::memory_order_relaxed);
}

bool Interpreter::is_running(uint64_t id) {
  for (const Interpreter* i = current_; i != nullptr; i = i->parent_) {
    if (i->id_ == id) return true;
  }
  return false;
}

bool Interpreter::find_axis(const std::string& name, int64_t* size) const {
  return parent_ != nullptr && parent_->find_axis(name, size);
}

namespace {

constexpr size_t kInline = 8;

// A few elements without heap memory, more with it.
template <class T>
class Scratch {
 public:
  explicit Scratch(size_t n) : n_(n) {
    if (n > kInline) heap_.resize(n);
  }
  T* data() { return n_ > kInline ? heap_.data() : inline_.data(); }
  T& operator[](size_t i) { return data()[i]; }
  std::span<T> span() { return {data(), n_}; }

 private:
  size_t n_;
  std::array<T, kInline> inline_;
  std::vector<T> heap_;
};

// Arrays that others hold for the length of a call: no reference is counted.
class LentArrays {
 public:
  explicit LentArrays(std::initializer_list<Input> in) : n_(in.size()) {
    Array* to = arrays_;
    for (const Input& i : in) new (to++) Array(Ref<internal::ArrayImpl>::lent(i.array().impl()));
  }
  ~LentArrays() {}  // what is lent is not given up
  LentArrays(const LentArrays&) = delete;
  LentArrays& operator=(const LentArrays&) = delete;
  std::span<const Array> span() const { return {arrays_, n_}; }

 private:
  size_t n_;
  union {
    Array arrays_[kInline];
  };
};

Device* device_of(const Primitive& p, std::span<const Array> in) {
  Device* device = nullptr;
  const Array* first = nullptr;
  for (const Array& a : in) {
    if (a.impl()->interpreter != 0) internal::throw_escaped(std::string(p.name), a);
    Device* d = &a.impl()->buffer->device();
    if (device == nullptr || (d != device && first->rank() == 0 && first->weak())) {
      device = d;
      first = &a;
    } else if (d != device && !(a.rank() == 0 && a.weak())) {
      throw DeviceError(std::string(p.name) + ": inputs stand on " + std::string(device->name()) +
                        " and on " + std::string(d->name()) + "; move one with to_device");
    }
  }
  return device == nullptr ? &cpu_device() : device;
}

Array view_of(const Array& x, const Aval& aval) {
  return Array(Ref<internal::ArrayImpl>(new internal::ArrayImpl(aval, x.impl()->buffer)));
}

}  // namespace

namespace internal {

std::string describe_call(const Primitive& p, std::span<const Array> in) {
  std::string s = std::string(p.name) + "(";
  for (size_t i = 0; i < in.size(); ++i) s += (i > 0 ? ", " : "") + to_string(in[i].aval());
  return s + ")";
}

namespace {

// Memory of an input that only `in` holds and that the output fits into exactly.
const Array* reusable(const Primitive& p, std::span<const Array> in, const Aval& out) {
  if (!p.in_place) return nullptr;
  for (const Array& a : in) {
    const ArrayImpl& x = *a.impl();
    if (x.aval.shape == out.shape && size_of(x.aval.dtype) == size_of(out.dtype) && x.unique() &&
        x.buffer->unique())
      return &a;
  }
  return nullptr;
}

void compute(const Primitive& p, std::span<const Array> in, const Params& params,
             std::span<Array> out, bool reuse) {
  Device* device = device_of(p, in);
  if (p.call != nullptr) {
    std::vector<Array> results = p.call(in, params);
    for (size_t k = 0; k < out.size(); ++k) out[k] = std::move(results[k]);
    return;
  }
  Scratch<const Aval*> avals(in.size());
  for (size_t i = 0; i < in.size(); ++i) avals[i] = &in[i].impl()->aval;
  if (p.shape != nullptr) {
    const Aval aval = p.shape({p.name, avals.span(), params});
    const Array* taken = reuse && p.kind != PrimitiveKind::kView ? reusable(p, in, aval) : nullptr;
    if (p.kind == PrimitiveKind::kView)
      out[0] = view_of(in[0], aval);
    else
      out[0] = taken != nullptr ? view_of(*taken, aval) : make_array(aval, *device);
  } else {
    const std::vector<Aval> types = p.shapes({p.name, avals.span(), params});
    for (size_t k = 0; k < out.size(); ++k) out[k] = make_array(types[k], *device);
  }
  if (p.kind != PrimitiveKind::kView) {
    Scratch<View> in_views(in.size()), out_views(out.size());
    for (size_t i = 0; i < in.size(); ++i) in_views[i] = {in[i].impl()->buffer->data(), avals[i]};
    for (size_t k = 0; k < out.size(); ++k)
      out_views[k] = {out[k].impl()->buffer->data(), &out[k].impl()->aval};
    const KernelArgs args{in_views.span(), out_views.span(), params};
    if (device == &cpu_device() && p.cpu != nullptr) {
      p.cpu(args);
    } else {
      device->run(p, args);
    }
  }
  if (debug_nans()) check_nans(p, in, out);
}

}  // namespace

void evaluate(const Primitive& p, std::span<const Array> in, const Params& params,
              std::span<Array> out) {
  compute(p, in, params, out, false);
}

void evaluate_reusing(const Primitive& p, std::span<const Array> in, const Params& params,
                      std::span<Array> out) {
  compute(p, in, params, out, !debug_nans());
}

Array bind1_reusing(const Primitive& p, std::span<const Array> in) {
  for (const Array& a : in) (void)a.aval();
  Array out;
  Interpreter* i = Interpreter::current();
  if (i == nullptr)
    evaluate_reusing(p, in, {}, {&out, 1});
  else
    i->process(p, in, {}, {&out, 1});
  return out;
}

void bind_into(Interpreter* i, const Primitive& p, std::span<const Array> in, const Params& params,
               std::span<Array> out) {
  if (i == nullptr) {
    const InterpreterScope scope(nullptr);
    evaluate(p, in, params, out);
  } else {
    const InterpreterScope scope(i);
    i->process(p, in, params, out);
  }
}

size_t output_count(const Primitive& p, std::span<const Array> in, const Params& params) {
  if (p.shape != nullptr) return 1;
  Scratch<const Aval*> avals(in.size());
  for (size_t i = 0; i < in.size(); ++i) avals[i] = &in[i].aval();
  return p.shapes({p.name, avals.span(), params}).size();
}

}  // namespace internal

std::vector<Aval> output_avals(const Primitive& p, Avals in, const Params& params) {
  if (p.shape != nullptr) return {p.shape({p.name, in, params})};
  return p.shapes({p.name, in, params});
}

Array bind1(const Primitive& p, std::span<const Array> in, const Params& params) {
  for (const Array& a : in) (void)a.aval();  // throws for an undefined one
  Array out;
  Interpreter* i = Interpreter::current();
  if (i == nullptr) {
    internal::evaluate(p, in, params, {&out, 1});
  } else {
    i->process(p, in, params, {&out, 1});
  }
  return out;
}

Array bind1(const Primitive& p, std::initializer_list<Input> in, const Params& params) {
  if (in.size() <= kInline) return bind1(p, LentArrays(in).span(), params);
  std::vector<Array> counted;
  for (const Input& i : in) counted.push_back(i.array());
  return bind1(p, counted, params);
}

std::vector<Array> bind_all(const Primitive& p, std::span<const Array> in, const Params& params) {
  for (const Array& a : in) (void)a.aval();
  std::vector<Array> out(internal::output_count(p, in, params));
  Interpreter* i = Interpreter::current();
  if (i == nullptr) {
    internal::evaluate(p, in, params, out);
  } else {
    i->process(p, in, params, out);
  }
  return out;
}

std::vector<Array> bind_custom(const std::shared_ptr<const CustomFunction>& f,
                               std::span<const Array> in) {
  Interpreter* i = Interpreter::current();
  return i == nullptr ? f->call(in) : i->process_custom(f, in);
}

}  // namespace spruce
