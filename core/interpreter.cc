// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/interpreter.h"

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "spruce/core/debug.h"
#include "spruce/core/default_device.h"
#include "spruce/core/escaped.h"
#include "spruce/core/public_name.h"

namespace spruce {

thread_local constinit Interpreter* Interpreter::current_ = nullptr;

Interpreter::Interpreter()
    : parent_(current_), depth_(current_ != nullptr ? current_->depth_ + 1 : 0) {
  constexpr int kMostNested = 400;  // as deep as a stack of 8 MB bears
  if (depth_ >= kMostNested) {
    throw ValueError("transforms: " + std::to_string(kMostNested) +
                     " of them, or loops and branches, run within each other; does a function call "
                     "itself by jit, grad, vmap or cond without an end? A loop over arrays is "
                     "while_loop or scan");
  }
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
class SmallArray {
 public:
  explicit SmallArray(size_t n) : n_(n) {
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

Array view_of(const Array& x, const Aval& aval) {
  return Array(Ref<internal::ArrayImpl>(new internal::ArrayImpl(aval, x.impl()->buffer)));
}

}  // namespace

namespace internal {

uint8_t device_among(std::span<const Array> arrays) {
  for (const Array& a : arrays) {
    if (a.defined() && is_placed(a.aval())) return a.aval().device;
  }
  return DefaultDevice::index();
}

uint8_t device_among(std::span<const Aval> types) {
  for (const Aval& a : types) {
    if (is_placed(a)) return a.device;
  }
  return DefaultDevice::index();
}

namespace {

[[noreturn]] void throw_two_devices(const Primitive& p, const Aval& a, const Aval& b) {
  throw DeviceError(internal::public_name(p.name) + ": " + to_string(a) + " is on " +
                    std::string(device_at(a.device).name()) + " and " + to_string(b) + " on " +
                    std::string(device_at(b.device).name()) +
                    "; move one to the device of the other with to_device(x, device)");
}

// Gives the results of an operation the device where it runs: that of the inputs. Without any that
// says where, numbers stay on the host, and arrays are made on the default device.
void place(const Primitive& p, Avals in, std::span<Aval> out) {
  if (p.call != nullptr) return;  // its operations are placed one by one
  const Aval* where = nullptr;
  for (const Aval* a : in) {
    if (!is_placed(*a)) continue;
    if (where == nullptr)
      where = a;
    else if (a->device != where->device)
      throw_two_devices(p, *where, *a);
  }
  for (Aval& a : out) {
    if (where != nullptr)
      a.device = where->device;
    else
      a.device = in.empty() || a.shape.rank() > 0 ? DefaultDevice::index() : uint8_t{0};
  }
}

}  // namespace

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
    if (x.aval.shape == out.shape && size_of(x.aval.dtype) == size_of(out.dtype) &&
        x.aval.device == out.device && x.unique() && x.buffer->may_be_reused())
      return &a;
  }
  return nullptr;
}

// The elements of `x` as an array of that type. A number of the host that becomes an array of a
// device is copied there.
Array view_or_copy(const Array& x, const Aval& aval) {
  if (aval.device == x.impl()->aval.device) return view_of(x, aval);
  return make_array(aval, x.impl()->buffer->data());
}

void compute(const Primitive& p, std::span<const Array> in, const Params& params,
             std::span<Array> out, bool reuse) {
  for (const Array& a : in) {
    if (a.impl()->interpreter != 0) throw_escaped(public_name(p.name), a);
  }
  if (p.call != nullptr) {
    std::vector<Array> results = p.call(in, params);
    for (size_t k = 0; k < out.size(); ++k) out[k] = std::move(results[k]);
    return;
  }
  SmallArray<const Aval*> avals(in.size());
  for (size_t i = 0; i < in.size(); ++i) avals[i] = &in[i].impl()->aval;
  if (p.shape != nullptr) {
    Aval aval = p.shape({p.name, avals.span(), params});
    place(p, avals.span(), {&aval, 1});
    const Array* taken = reuse && p.kind != PrimitiveKind::kView ? reusable(p, in, aval) : nullptr;
    if (p.kind == PrimitiveKind::kView)
      out[0] = view_or_copy(in[0], aval);
    else
      out[0] = taken != nullptr ? view_of(*taken, aval) : make_array(aval);
  } else {
    std::vector<Aval> types = p.shapes({p.name, avals.span(), params});
    place(p, avals.span(), types);
    for (size_t k = 0; k < out.size(); ++k) out[k] = make_array(types[k]);
  }
  if (p.kind != PrimitiveKind::kView) {
    SmallArray<View> in_views(in.size()), out_views(out.size());
    for (size_t i = 0; i < in.size(); ++i) in_views[i] = {in[i].impl()->buffer->data(), avals[i]};
    for (size_t k = 0; k < out.size(); ++k)
      out_views[k] = {out[k].impl()->buffer->data(), &out[k].impl()->aval};
    const KernelArgs args{in_views.span(), out_views.span(), params};
    const uint8_t device = out.empty() ? uint8_t{0} : out[0].impl()->aval.device;
    if (device == 0 && p.cpu != nullptr) {
      p.cpu(args);
    } else {
      device_at(device).run(p, args);
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
  SmallArray<const Aval*> avals(in.size());
  for (size_t i = 0; i < in.size(); ++i) avals[i] = &in[i].aval();
  return p.shapes({p.name, avals.span(), params}).size();
}

}  // namespace internal

std::vector<Aval> output_avals(const Primitive& p, Avals in, const Params& params) {
  std::vector<Aval> out;
  if (p.shape != nullptr)
    out.push_back(p.shape({p.name, in, params}));
  else
    out = p.shapes({p.name, in, params});
  internal::place(p, in, out);
  return out;
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
  if (i == nullptr) return f->call(in);
  const internal::RuleKindScope scope(f->kind(), i);
  return i->process_custom(f, in);
}

}  // namespace spruce
