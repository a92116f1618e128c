// SPDX-License-Identifier: Apache-2.0
// The portable stage kernel: the loops of the primitives, one after the other, over tiles that stay
// in the first-level cache.
#include <algorithm>

#include "spruce/core/cpu/fusion/stage.h"
#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/cpu/runs.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {

namespace cpu {
namespace {

constexpr int64_t kTile = 512;
static_assert(kStageBlock % kTile == 0);
constexpr int64_t kSlotBytes = kTile * 8;

// Where a value stands while a tile is worked on.
struct Place {
  enum class Kind : uint8_t { kInput, kOutput, kSlot } kind = Kind::kSlot;
  int index = -1;
};

struct Step {
  ElementLoop loop;
  const Primitive* p = nullptr;  // where there is no loop: its kernel, over vectors of equal length
  Params params;
  std::vector<int> in;
  int out = 0;
  bool scalar = false;  // once for the whole run
  int64_t last = -1;    // of a gather: the last place in what it reads
};

struct Fold {
  int value;
  Stage::Kind kind;
  ReduceLoop loop;
  Dtype dtype;
};

class Tape final : public StageKernel {
 public:
  explicit Tape(const Stage& stage);
  void run(const void* const* in, void* const* out, void* const* acc, int64_t n,
           void* workspace) const override;
  size_t workspace_bytes() const override { return static_cast<size_t>(slots_ * kSlotBytes); }

 private:
  struct Value {
    Place place;
    Dtype dtype;
    bool scalar;
    int64_t bytes;
    int64_t step;  // bytes that its place moves by with each element: 0 for slots and scalars
  };
  struct Store {
    int value;
    int output;
    BinaryLoop gather;  // null: copied
  };

  int add_moved(int value);
  void assign_slots(const Stage& stage);
  char* at(int value, const void* const* in, void* const* out, char* workspace,
           int64_t begin) const {
    const Value& v = values_[static_cast<size_t>(value)];
    const auto i = static_cast<size_t>(v.place.index);
    switch (v.place.kind) {
      case Place::Kind::kInput:
        return const_cast<char*>(static_cast<const char*>(in[i])) + begin * v.step;
      case Place::Kind::kOutput:
        return static_cast<char*>(out[i]) + begin * v.step;
      default:
        return workspace + static_cast<int64_t>(i) * kSlotBytes;
    }
  }
  void run_step(const Step& s, const void* const* in, void* const* out, char* workspace,
                int64_t begin, int64_t n) const;

  std::vector<Value> values_;
  std::vector<Step> steps_;
  std::vector<Store> stores_;
  std::vector<Fold> folds_;
  int slots_ = 0;
  bool has_scalars_ = false;
};

// Elements of 32 bits at indices that are moved to 0..last.
void gather_elements(const void* array, int64_t last, const void* indices, void* to, int64_t n) {
  const auto* x = static_cast<const uint32_t*>(array);
  const auto* index = static_cast<const int32_t*>(indices);
  auto* y = static_cast<uint32_t*>(to);
  for (int64_t i = 0; i < n; ++i) y[i] = x[std::clamp<int64_t>(index[i], 0, last)];
}

const Primitive& folding(Stage::Kind kind) {
  switch (kind) {
    case Stage::Kind::kSum:
      return reduce_sum_p;
    case Stage::Kind::kMax:
      return reduce_max_p;
    case Stage::Kind::kMin:
      return reduce_min_p;
    default:
      return reduce_prod_p;
  }
}

BinaryLoop gathering(Stage::Mode mode, Dtype dtype) {
  if (mode == Stage::Mode::kStore) return nullptr;
  const Primitive& p = mode == Stage::Mode::kAdd   ? add_p
                       : mode == Stage::Mode::kMax ? max_p
                                                   : min_p;
  return p.cpu.element_loop({dtype, dtype, {}}).binary;
}

Tape::Tape(const Stage& stage) {
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    const auto& in = stage.inputs[i];
    const int64_t bytes = size_of(in.dtype);
    values_.push_back({{Place::Kind::kInput, static_cast<int>(i)},
                       in.dtype,
                       in.scalar,
                       bytes,
                       in.scalar ? 0 : bytes});
  }
  // Values in the order of the stage; those that a scalar is spread into come behind.
  for (const Stage::Op& op : stage.ops) {
    bool scalar = true;
    for (const int v : op.in) scalar = scalar && values_[static_cast<size_t>(v)].scalar;
    values_.push_back({{}, op.out, scalar, size_of(op.out), 0});
  }
  std::vector<int> expanded(values_.size(), -1);
  const auto spread = [&](int value) {
    if (!values_[static_cast<size_t>(value)].scalar) return value;
    int& to = expanded[static_cast<size_t>(value)];
    if (to < 0) to = add_moved(value);
    return to;
  };
  const size_t inputs = stage.inputs.size();
  for (size_t k = 0; k < stage.ops.size(); ++k) {
    const Stage::Op& op = stage.ops[k];
    Step s;
    s.out = static_cast<int>(inputs + k);
    s.scalar = values_[static_cast<size_t>(s.out)].scalar;
    std::vector<Dtype> dtypes;
    for (const int v : op.in) dtypes.push_back(stage.dtype_of(v));
    s.in = op.in;
    if (op.p == &gather_p)
      s.last = stage.inputs[static_cast<size_t>(op.in[0])].whole - 1;
    else
      s.loop = op.p->cpu.element_loop({dtypes.empty() ? op.out : dtypes[0], op.out, op.params});
    if (s.last < 0 && s.loop.unary == nullptr && s.loop.binary == nullptr &&
        s.loop.ternary == nullptr) {
      s.p = op.p;
      s.params = op.params;
      if (!s.scalar) {
        for (int& v : s.in) v = spread(v);
      }
    }
    has_scalars_ = has_scalars_ || s.scalar;
    steps_.push_back(std::move(s));
  }
  for (size_t k = 0; k < stage.outputs.size(); ++k) {
    const auto& o = stage.outputs[k];
    int value = spread(o.value);
    if (static_cast<size_t>(value) < inputs) value = add_moved(value);
    stores_.push_back({value, static_cast<int>(k), gathering(o.mode, stage.dtype_of(o.value))});
  }
  for (const auto& r : stage.reductions) {
    const Dtype dtype = stage.dtype_of(r.value);
    folds_.push_back(
        {spread(r.value), r.kind, folding(r.kind).cpu.reduce_loops(dtype).first, dtype});
  }
  assign_slots(stage);
}

// A vector of one tile: the scalar in all its elements, or the elements of an input, which are read
// before any output is written that may stand in their memory.
int Tape::add_moved(int value) {
  const Value& v = values_[static_cast<size_t>(value)];
  values_.push_back({{}, v.dtype, false, v.bytes, 0});
  Step s;
  s.in = {value};
  s.out = static_cast<int>(values_.size()) - 1;
  steps_.push_back(std::move(s));
  return steps_.back().out;
}

// Slots are taken anew when their value has been used for the last time. What an output alone needs
// stands in the output's own memory, unless an input is read afterwards, which may be that memory.
void Tape::assign_slots(const Stage& stage) {
  const int end = static_cast<int>(steps_.size());
  std::vector<int> last(values_.size(), -1);
  int last_input_read = -1;
  for (int k = 0; k < end; ++k) {
    for (const int v : steps_[static_cast<size_t>(k)].in) {
      last[static_cast<size_t>(v)] = k;
      if (static_cast<size_t>(v) < stage.inputs.size()) last_input_read = k;
    }
  }
  for (const Fold& f : folds_) {
    last[static_cast<size_t>(f.value)] = end;
    if (static_cast<size_t>(f.value) < stage.inputs.size()) last_input_read = end;
  }
  for (const Store& s : stores_) last[static_cast<size_t>(s.value)] = end;
  std::vector<bool> direct(values_.size(), false);
  for (int k = 0; k < end; ++k) {
    const auto v = static_cast<size_t>(steps_[static_cast<size_t>(k)].out);
    if (values_[v].scalar || k < last_input_read) continue;
    for (Store& s : stores_) {
      if (s.value != static_cast<int>(v) || s.gather != nullptr || direct[v]) continue;
      direct[v] = true;
      values_[v].place = {Place::Kind::kOutput, s.output};
      values_[v].step = values_[v].bytes;
      s.value = -1;
    }
  }
  std::erase_if(stores_, [](const Store& s) { return s.value < 0; });
  std::vector<int> free;
  for (int k = 0; k < end; ++k) {
    const Step& s = steps_[static_cast<size_t>(k)];
    Value& out = values_[static_cast<size_t>(s.out)];
    const auto release = [&](int v) {
      const Value& value = values_[static_cast<size_t>(v)];
      // A scalar is computed once: its place is its own.
      if (last[static_cast<size_t>(v)] != k || value.scalar ||
          value.place.kind != Place::Kind::kSlot)
        return;
      if (std::find(free.begin(), free.end(), value.place.index) == free.end())
        free.push_back(value.place.index);
    };
    // In place only where the elements have one size.
    for (const int v : s.in) {
      if (values_[static_cast<size_t>(v)].bytes == out.bytes) release(v);
    }
    if (out.place.kind == Place::Kind::kSlot) {
      if (free.empty() || out.scalar) {
        out.place.index = slots_++;
      } else {
        out.place.index = free.back();
        free.pop_back();
      }
    }
    for (const int v : s.in) {
      const Value& value = values_[static_cast<size_t>(v)];
      if (value.bytes != out.bytes) release(v);
    }
    if (last[static_cast<size_t>(s.out)] < 0) release(s.out);
  }
}

void Tape::run_step(const Step& s, const void* const* in, void* const* out, char* workspace,
                    int64_t begin, int64_t n) const {
  char* to = at(s.out, in, out, workspace, begin);
  const auto from = [&](size_t i) { return at(s.in[i], in, out, workspace, begin); };
  const auto step = [&](size_t i) -> int64_t {
    return values_[static_cast<size_t>(s.in[i])].scalar ? 0 : 1;
  };
  if (s.last >= 0) {
    gather_elements(from(0), s.last, from(1), to, n);
  } else if (s.loop.binary != nullptr) {
    s.loop.binary(from(0), from(1), to, n, step(0), step(1));
  } else if (s.loop.unary != nullptr) {
    s.loop.unary(from(0), to, n);
  } else if (s.loop.ternary != nullptr) {
    s.loop.ternary(from(0), from(1), from(2), to, n, step(0), step(1), step(2));
  } else if (s.p == nullptr) {
    const int64_t bytes = values_[static_cast<size_t>(s.out)].bytes;
    if (step(0) == 0)
      fill(to, from(0), n, bytes);
    else
      copy_bytes(to, from(0), n * bytes);
  } else {
    std::vector<Aval> avals;
    avals.reserve(s.in.size() + 1);
    std::vector<View> views;
    const auto add = [&](int v, char* data) {
      avals.push_back({values_[static_cast<size_t>(v)].dtype, false, Shape{n}});
      views.push_back({data, &avals.back()});
    };
    for (size_t i = 0; i < s.in.size(); ++i) add(s.in[i], from(i));
    add(s.out, to);
    const std::span<const View> all = views;
    s.p->cpu({all.first(s.in.size()), all.last(1), s.params});
  }
}

template <class A, class T>
void join(Stage::Kind kind, T part, A& acc) {
  switch (kind) {
    case Stage::Kind::kSum:
      acc = static_cast<A>(acc + part);
      break;
    case Stage::Kind::kMax:
      acc = Largest::call(acc, static_cast<A>(part));
      break;
    case Stage::Kind::kMin:
      acc = Smallest::call(acc, static_cast<A>(part));
      break;
    default:
      acc = static_cast<A>(acc * part);
  }
}

void fold(const Fold& f, const void* from, void* acc, int64_t n) {
  const bool gathers = accumulator_dtype(f.dtype, f.kind) != f.dtype;
  visit_dtype(f.dtype, [&]<class T>(T) {
    if constexpr (kIsHalf<T>) {
      float part;
      f.loop(from, &part, 1, n, 1, 1);
      if (gathers)
        join(f.kind, part, *static_cast<double*>(acc));
      else
        *static_cast<T*>(acc) =
            T(f.kind == Stage::Kind::kMax ? Largest::call(float(*static_cast<T*>(acc)), part)
                                          : Smallest::call(float(*static_cast<T*>(acc)), part));
    } else if constexpr (std::is_same_v<T, float>) {
      float part;
      f.loop(from, &part, 1, n, 1, 1);
      if (gathers)
        join(f.kind, part, *static_cast<double*>(acc));
      else
        join(f.kind, part, *static_cast<float*>(acc));
    } else if constexpr (std::is_same_v<T, double>) {
      double part;
      f.loop(from, &part, 1, n, 1, 1);
      join(f.kind, part, *static_cast<double*>(acc));
    } else {
      const bool wraps = f.kind == Stage::Kind::kSum || f.kind == Stage::Kind::kProd;
      using U = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
      using W = std::make_unsigned_t<U>;
      U part;
      f.loop(from, &part, 1, n, 1, 1);
      if (wraps)
        join(f.kind, static_cast<uint64_t>(static_cast<W>(part)), *static_cast<W*>(acc));
      else
        join(f.kind, part, *static_cast<U*>(acc));
    }
  });
}

void Tape::run(const void* const* in, void* const* out, void* const* acc, int64_t n,
               void* workspace) const {
  char* slots = static_cast<char*>(workspace);
  if (n == 0) return;
  if (has_scalars_) {
    for (const Step& s : steps_) {
      if (s.scalar) run_step(s, in, out, slots, 0, 1);
    }
  }
  for (int64_t begin = 0; begin < n; begin += kTile) {
    const int64_t count = std::min(kTile, n - begin);
    for (const Step& s : steps_) {
      if (!s.scalar) run_step(s, in, out, slots, begin, count);
    }
    for (size_t r = 0; r < folds_.size(); ++r)
      fold(folds_[r], at(folds_[r].value, in, out, slots, begin), acc[r], count);
    for (const Store& s : stores_) {
      const Value& v = values_[static_cast<size_t>(s.value)];
      char *from = at(s.value, in, out, slots, begin),
           *to = static_cast<char*>(out[static_cast<size_t>(s.output)]) + begin * v.bytes;
      if (s.gather != nullptr)
        s.gather(to, from, to, count, 1, 1);
      else if (to != from)
        copy_bytes(to, from, count * v.bytes);
    }
  }
}

}  // namespace

std::unique_ptr<const StageKernel> make_stage_tape(const Stage& stage) {
  return std::make_unique<const Tape>(stage);
}

}  // namespace cpu
}  // namespace spruce
