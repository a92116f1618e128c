// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/cpu/x64/code.h"
#include "spruce/core/cpu/x64/faster_of.h"
#include "spruce/core/cpu/x64/half.h"
#include "spruce/core/cpu/x64/lower.h"
#include "spruce/core/cpu/x64/make.h"
#include "spruce/core/cpu/x64/stage_emitter.h"
#include "spruce/core/rules/gather.h"

namespace spruce::cpu::x64 {
namespace {

// What a reduction starts from, as a constant of the program.
uint64_t identity_bits(Stage::Kind kind, Dtype dtype) {
  const double inf = std::numeric_limits<double>::infinity();
  const double start = kind == Stage::Kind::kSum    ? 0.0
                       : kind == Stage::Kind::kProd ? 1.0
                       : kind == Stage::Kind::kMax  ? -inf
                                                    : inf;
  if (dtype == Dtype::kFloat64) return std::bit_cast<uint64_t>(start);
  if (is_floating(dtype)) return std::bit_cast<uint32_t>(static_cast<float>(start));
  if (kind == Stage::Kind::kSum) return 0;
  if (kind == Stage::Kind::kProd) return 1;
  const bool largest = kind == Stage::Kind::kMax;
  if (dtype == Dtype::kUint32) return largest ? 0 : 0xffffffffu;
  return largest ? 0x80000000u : 0x7fffffffu;
}

class Lowering {
 public:
  Lowering(const Stage& stage, IsaLevel level)
      : stage_(stage), builder_(made_.program, level), values_(count(), -1), stored_(count()) {}

  std::optional<StageProgram> run() {
    if (!settle_width()) return std::nullopt;
    for (const Stage::Input& in : stage_.inputs) loads_left_ += in.scalar ? 0 : 1;
    for (size_t k = 0; k < stage_.outputs.size(); ++k) {
      const Stage::Output& o = stage_.outputs[k];
      const Dtype dtype = stage_.dtype_of(o.value);
      const bool joins = has_lanes(dtype) && !is_bool(dtype);
      if (!joins && o.mode != Stage::Mode::kStore) return std::nullopt;
      stored_[static_cast<size_t>(o.value)].push_back(static_cast<int>(k));
    }
    for (size_t i = 0; i < stage_.ops.size(); ++i) {
      if (!op(i)) return std::nullopt;
    }
    for (size_t i = 0; i < stage_.inputs.size(); ++i) {
      if (!stored_[i].empty()) value(static_cast<int>(i));
    }
    for (const Stage::Reduction& r : stage_.reductions) value(r.value);
    loads_left_ = 0;
    flush();
    for (const Stage::Reduction& r : stage_.reductions) {
      const Dtype dtype = stage_.dtype_of(r.value);
      if (is_bool(dtype) || is_byte(dtype)) return std::nullopt;
      const int v = value(r.value);
      made_.identities.push_back(static_cast<int>(made_.program.constants.size()));
      made_.program.constants.push_back(
          Constant::uniform(identity_bits(r.kind, dtype), made_.wide));
      builder_.add(Op::kReduce, v, -1, -1, static_cast<int>(r.kind),
                   static_cast<int>(&r - stage_.reductions.data()));
    }
    drop_unused(made_.program);
    return std::move(made_);
  }

 private:
  size_t count() const { return stage_.inputs.size() + stage_.ops.size(); }

  // Lanes are of one width: 32 bits, or 64 where there is nothing but f64 and bool.
  bool settle_width() {
    bool narrow = false;
    for (size_t v = 0; v < count(); ++v) {
      const Dtype d = stage_.dtype_of(static_cast<int>(v));
      if (!has_lanes(d) && !is_half(d) && !is_byte(d)) return false;
      if (!is_bool(d)) (d == Dtype::kFloat64 ? made_.wide : narrow) = true;
    }
    return !(made_.wide && narrow);
  }

  int value(int v) {
    const size_t at = static_cast<size_t>(v);
    if (values_[at] < 0) {
      builder_.set_wide(made_.wide);
      const Stage::Input& in = stage_.inputs[at];
      // A float stays an input: as a constant of the code it took a hundredth longer to run.
      const bool is_bits = in.known && in.dtype == Dtype::kInt32;
      values_[at] =
          is_bits ? builder_.bits(*in.known).id : builder_.add(Op::kInput, -1, -1, -1, 0, v);
      if (in.known && !is_bits)
        builder_.few().set_constant(values_[at], std::bit_cast<float>(*in.known));
      if (!stage_.inputs[at].scalar) --loads_left_;
      pending_.push_back(v);
      flush();
    }
    return values_[at];
  }

  // An output may lie in the memory of an input: nothing is stored before all inputs are loaded.
  void flush() {
    if (loads_left_ > 0) return;
    builder_.set_wide(made_.wide);
    for (const int v : pending_) {
      int made = values_[static_cast<size_t>(v)];
      const Dtype dtype = stage_.dtype_of(v);
      if (is_half(dtype)) made = before_rounding(made_.program, dtype, made);
      for (const int k : stored_[static_cast<size_t>(v)])
        builder_.add(Op::kStore, made, -1, -1, 0, k);
    }
    pending_.clear();
  }

  bool op(size_t i) {
    const Stage::Op& op = stage_.ops[i];
    if (op.p == &gather_p) return gather(i);
    std::vector<int> in;
    std::vector<Dtype> types;
    for (const int v : op.in) {
      in.push_back(value(v));
      types.push_back(stage_.dtype_of(v));
    }
    const int made = lower(builder_, {*op.p, op.params, types, op.out}, in);
    if (made < 0) return false;
    define(i, made);
    return true;
  }

  // The index is moved to where there is an element.
  bool gather(size_t i) {
    const Stage::Op& op = stage_.ops[i];
    const int64_t whole = stage_.inputs[static_cast<size_t>(op.in[0])].whole;
    if (made_.wide || size_of(op.out) != 4) return false;
    const int index = value(op.in[1]);
    builder_.set_wide(false);
    const V from_first = make(Op::kIntMax, builder_.v(index), builder_.bits(0));
    const V at = make(Op::kIntMin, from_first, builder_.bits(static_cast<uint64_t>(whole - 1)));
    define(i, builder_.add(Op::kGather, at.id, -1, -1, 0, op.in[0]));
    return true;
  }

  void define(size_t op, int made) {
    const int v = static_cast<int>(stage_.inputs.size() + op);
    values_[static_cast<size_t>(v)] = made;
    pending_.push_back(v);
    flush();
  }

  const Stage& stage_;
  StageProgram made_;
  Builder builder_;
  std::vector<int> values_;               // the instruction of each value of the stage
  std::vector<std::vector<int>> stored_;  // the outputs that are each value
  std::vector<int> pending_;
  int loads_left_ = 0;
};

template <class T>
struct LanesOf {
  typedef T Type __attribute__((vector_size(16)));
};

// Joins lanes that are half of them apart until one is left: in registers, as memory is slow to
// read in other pieces than it was just written in.
template <class T, class Join>
T folded(const void* lanes, int64_t bytes, Join join) {
  const auto* x = static_cast<const typename LanesOf<T>::Type*>(lanes);
  auto a = x[0];
  if (bytes == 64)
    a = join(join(x[0], x[2]), join(x[1], x[3]));
  else if (bytes == 32)
    a = join(x[0], x[1]);
  if constexpr (sizeof(T) == 8)
    return join(a[0], a[1]);
  else
    return join(join(a[0], a[2]), join(a[1], a[3]));
}

// An operation on numbers, or lane by lane.
template <class T, T (*kCall)(T, T)>
struct ByLane {
  T operator()(T a, T b) const { return kCall(a, b); }
  using Lanes = typename LanesOf<T>::Type;
  Lanes operator()(Lanes a, Lanes b) const {
    for (size_t i = 0; i < 16 / sizeof(T); ++i) a[i] = kCall(a[i], b[i]);
    return a;
  }
};

template <class T, class A>
void fold_lanes(const void* lanes, int64_t bytes, void* accumulator, Stage::Kind kind) {
  using Unsigned = std::conditional_t<std::is_integral_v<T>, uint32_t, T>;
  A* acc = static_cast<A*>(accumulator);
  switch (kind) {
    case Stage::Kind::kSum:
      *acc = static_cast<A>(*acc + folded<Unsigned>(lanes, bytes, std::plus<>()));
      return;
    case Stage::Kind::kProd:
      *acc = static_cast<A>(*acc * folded<Unsigned>(lanes, bytes, std::multiplies<>()));
      return;
    case Stage::Kind::kMax:
      *acc = Largest::call<A>(*acc, folded<T>(lanes, bytes, ByLane<T, Largest::call<T>>()));
      return;
    case Stage::Kind::kMin:
      *acc = Smallest::call<A>(*acc, folded<T>(lanes, bytes, ByLane<T, Smallest::call<T>>()));
      return;
  }
}

// A maximum or minimum whose accumulator has 16 bits.
template <class T>
void fold_half(const void* lanes, int64_t bytes, void* accumulator, Stage::Kind kind) {
  T* acc = static_cast<T*>(accumulator);
  float part = *acc;
  fold_lanes<float, float>(lanes, bytes, &part, kind);
  *acc = T(part);
}

struct Fold {
  Stage::Kind kind;
  Dtype dtype;

  void operator()(const void* lanes, int64_t bytes, void* acc) const {
    const bool gathers = kind == Stage::Kind::kSum || kind == Stage::Kind::kProd;
    switch (dtype) {
      case Dtype::kFloat16:
        return gathers ? fold_lanes<float, double>(lanes, bytes, acc, kind)
                       : fold_half<Float16>(lanes, bytes, acc, kind);
      case Dtype::kBfloat16:
        return gathers ? fold_lanes<float, double>(lanes, bytes, acc, kind)
                       : fold_half<Bfloat16>(lanes, bytes, acc, kind);
      case Dtype::kFloat32:
        return gathers ? fold_lanes<float, double>(lanes, bytes, acc, kind)
                       : fold_lanes<float, float>(lanes, bytes, acc, kind);
      case Dtype::kFloat64:
        return fold_lanes<double, double>(lanes, bytes, acc, kind);
      case Dtype::kInt32:
        return gathers ? fold_lanes<uint32_t, uint32_t>(lanes, bytes, acc, kind)
                       : fold_lanes<int32_t, int32_t>(lanes, bytes, acc, kind);
      default:
        return fold_lanes<uint32_t, uint32_t>(lanes, bytes, acc, kind);
    }
  }
};

// AVX-512 code runs any number of elements.
class Kernel : public StageKernel {
 public:
  Kernel(std::unique_ptr<const Code> code, const Stage& stage, const Program& program,
         int64_t bytes, const StageEmitter& emitter)
      : code_(std::move(code)), calls_(program.calls), bytes_(bytes), loop_(loop_at(0)) {
    for (const Stage::Reduction& r : stage.reductions)
      folds_.push_back({r.kind, stage.dtype_of(r.value)});
    if (emitter.window_offset() == 0) return;
    window_ = loop_at(emitter.window_offset());
    window_elements_ = emitter.window_elements();
    faster_ = std::make_unique<FasterOf>();
  }

  void run(const void* const* in, void* const* out, void* const* acc, int64_t n,
           void* workspace) const override {
    const auto finish_from = [&](int64_t begin) {
      if (folds_.empty()) return loop_(in, out, nullptr, begin, n);
      for (; begin < n; begin += kStageBlock) {
        loop_(in, out, workspace, begin, std::min(n, begin + kStageBlock));
        fold(workspace, acc);
      }
    };
    if (window_ == nullptr || n < window_elements_) return finish_from(0);
    faster_->run(
        n, [&] { finish_from(0); },
        [&] {
          const int64_t whole = n / window_elements_ * window_elements_;
          run_windows(in, out, acc, whole, workspace);
          finish_from(whole);
        });
  }
  size_t workspace_bytes() const override {
    return lanes_bytes() * (window_ == nullptr ? 1 : kWindowBlocks);
  }

 protected:
  StageLoop loop_at(size_t offset) const {
    return reinterpret_cast<StageLoop>(reinterpret_cast<uintptr_t>(code_->data() + offset));
  }
  void run_windows(const void* const* in, void* const* out, void* const* acc, int64_t n,
                   void* workspace) const {
    if (folds_.empty()) return window_(in, out, nullptr, 0, n);
    for (int64_t begin = 0; begin < n; begin += window_elements_) {
      window_(in, out, workspace, begin, begin + window_elements_);
      for (size_t block = 0; block < kWindowBlocks; ++block)
        fold(static_cast<const char*>(workspace) + block * lanes_bytes(), acc);
    }
  }
  size_t lanes_bytes() const { return folds_.size() * 64; }  // of one block
  void fold(const void* lanes, void* const* acc) const {
    for (size_t r = 0; r < folds_.size(); ++r)
      folds_[r](static_cast<const char*>(lanes) + r * 64, bytes_, acc[r]);
  }

  std::unique_ptr<const Code> code_;
  std::vector<std::shared_ptr<const LaneCall>> calls_;  // of the code
  int64_t bytes_;
  std::vector<Fold> folds_;
  StageLoop loop_, window_ = nullptr;
  int64_t window_elements_ = 0;
  std::unique_ptr<FasterOf> faster_;  // by windows or not
};

// AVX2 has no masks for all sizes of elements: what is left after whole vectors is copied to
// workspace, and from there.
class TailKernel final : public Kernel {
 public:
  TailKernel(std::unique_ptr<const Code> code, const Stage& stage, const StageProgram& program,
             const StageEmitter& emitter)
      : Kernel(std::move(code), stage, program.program, 32, emitter),
        lanes_(program.wide ? 4 : 8),
        tail_(loop_at(emitter.tail_offset())) {
    for (const Stage::Input& in : stage.inputs)
      inputs_.push_back(in.scalar ? 0 : size_of(in.dtype));
    for (const Stage::Output& o : stage.outputs)
      outputs_.push_back({size_of(stage.dtype_of(o.value)), o.mode != Stage::Mode::kStore});
  }

  void run(const void* const* in, void* const* out, void* const* acc, int64_t n,
           void* workspace) const override {
    const int64_t whole = n / lanes_ * lanes_;
    if (whole > 0) Kernel::run(in, out, acc, whole, workspace);
    if (whole < n) run_tail(in, out, acc, whole, n - whole, workspace);
  }
  size_t workspace_bytes() const override {
    return Kernel::workspace_bytes() + 2 * (inputs_.size() + outputs_.size()) * 64;
  }

 private:
  struct Stored {
    int64_t size;
    bool read;
  };

  void run_tail(const void* const* in, void* const* out, void* const* acc, int64_t begin,
                int64_t count, void* workspace) const {
    char* buffer = static_cast<char*>(workspace) + lanes_bytes();
    const size_t arrays = inputs_.size() + outputs_.size();
    void** pointers = reinterpret_cast<void**>(buffer + arrays * 64);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      pointers[i] = const_cast<void*>(in[i]);
      if (inputs_[i] == 0) continue;
      pointers[i] = buffer + i * 64;
      std::memset(pointers[i], 0, 64);
      std::memcpy(pointers[i], static_cast<const char*>(in[i]) + begin * inputs_[i],
                  static_cast<size_t>(count * inputs_[i]));
    }
    const auto target = [&](size_t k) {
      return static_cast<char*>(out[k]) + begin * outputs_[k].size;
    };
    void** results = pointers + inputs_.size();
    for (size_t k = 0; k < outputs_.size(); ++k) {
      results[k] = buffer + (inputs_.size() + k) * 64;
      std::memset(results[k], 0, 64);
      if (outputs_[k].read)
        std::memcpy(results[k], target(k), static_cast<size_t>(count * outputs_[k].size));
    }
    tail_(pointers, results, workspace, 0, count);
    for (size_t k = 0; k < outputs_.size(); ++k)
      std::memcpy(target(k), results[k], static_cast<size_t>(count * outputs_[k].size));
    fold(workspace, acc);
  }

  int64_t lanes_;
  StageLoop tail_;
  std::vector<int64_t> inputs_;  // bytes of an element, 0 for scalars
  std::vector<Stored> outputs_;
};

}  // namespace

std::unique_ptr<const StageKernel> make_stage(const Stage& stage, IsaLevel level) {
  const std::optional<StageProgram> program = Lowering(stage, level).run();
  if (!program) return nullptr;
  try {
    StageEmitter emitter(stage, *program, level);
    std::unique_ptr<const Code> code = Code::make(emitter.generate());
    if (code == nullptr) return nullptr;
    if (level == IsaLevel::kV4)
      return std::make_unique<Kernel>(std::move(code), stage, program->program, 64, emitter);
    return std::make_unique<TailKernel>(std::move(code), stage, *program, emitter);
  } catch (const Xbyak::Error&) {
    return nullptr;
  }
}

}  // namespace spruce::cpu::x64
