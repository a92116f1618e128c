// SPDX-License-Identifier: Apache-2.0
// Runs a stage as machine code and holds it against the primitives' own kernels, to the last bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <type_traits>

#include "spruce/core/cpu/fusion/stage.h"

namespace spruce::cpu::testing {

using Bytes = std::vector<char>;
inline constexpr size_t kGuard = 64;
inline constexpr char kGuardByte = 0x5a;

inline std::vector<IsaLevel> levels() {
  // Without the code generator there is no level to test.
  Stage stage;
  stage.inputs = {{Dtype::kFloat32}};
  stage.outputs = {{0}};
  std::vector<IsaLevel> all;
  if (make_stage_x64(stage) == nullptr) return all;
  for (const IsaLevel level : {IsaLevel::kV3, IsaLevel::kV4}) {
    if (level <= isa_level()) all.push_back(level);
  }
  return all;
}

inline const Primitive& primitive(const char* name) {
  const Primitive* p = find_primitive(name);
  if (p == nullptr) throw std::runtime_error(name);
  return *p;
}

inline size_t bytes_of(Dtype d, int64_t n) { return static_cast<size_t>(size_of(d) * n); }

// Elements between two guards, at an odd place for vectors.
struct Buffer {
  explicit Buffer(size_t bytes) : all(bytes + 2 * kGuard, kGuardByte), size(bytes) {}
  char* data() { return all.data() + kGuard; }
  Bytes content() const {
    return Bytes(all.begin() + kGuard, all.begin() + static_cast<long>(kGuard + size));
  }
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (all[i] != kGuardByte || all[all.size() - 1 - i] != kGuardByte) return false;
    }
    return true;
  }
  Bytes all;
  size_t size;
};

class Values {
 public:
  explicit Values(unsigned seed) : random_(seed) {}

  Bytes of(Dtype dtype, int64_t n) {
    Bytes bytes(bytes_of(dtype, n));
    for (int64_t i = 0; i < n; ++i) {
      char* at = bytes.data() + i * size_of(dtype);
      switch (dtype) {
        case Dtype::kBool:
          *at = static_cast<char>(random_() & 1);
          break;
        case Dtype::kInt8:
        case Dtype::kUint8:
          *at = static_cast<char>(random_());
          break;
        case Dtype::kFloat32:
          put(at, floating<float>());
          break;
        case Dtype::kFloat64:
          put(at, floating<double>());
          break;
        case Dtype::kFloat16:
          put(at, half<Float16>());
          break;
        case Dtype::kBfloat16:
          put(at, half<Bfloat16>());
          break;
        default:
          put(at, (random_() & 7) == 0 ? static_cast<uint32_t>(random_())
                                       : static_cast<uint32_t>(random_() % 80) - 40u);
      }
    }
    return bytes;
  }
  unsigned operator()() { return static_cast<unsigned>(random_()); }

 private:
  template <class T>
  T floating() {
    using Limits = std::numeric_limits<T>;
    static const T odd[] = {T(0),
                            -T(0),
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::denorm_min(),
                            -Limits::min() / 3,
                            Limits::max(),
                            T(1),
                            T(-1),
                            T(88.5),
                            T(-1e-6)};
    if (random_() % 8 == 0) return odd[random_() % std::size(odd)];
    const T spread = random_() % 4 == 0 ? T(90) : random_() % 40 == 0 ? T(1e9) : T(3);
    return std::uniform_real_distribution<T>(-spread, spread)(random_);
  }
  // All bit patterns, and small multiples of 1/16, whose sums and products are often halfway
  // between two numbers.
  template <class T>
  T half() {
    T x;
    switch (random_() % 4) {
      case 0:
        x.bits = static_cast<uint16_t>(random_());
        return x;
      case 1:
        return T(static_cast<float>(static_cast<int>(random_() % 4096) - 2048) / 16);
      default:
        return T(floating<float>());
    }
  }
  template <class T>
  static void put(char* at, T x) {
    std::memcpy(at, &x, sizeof x);
  }
  std::mt19937 random_;
};

// --- the reference ----------------------------------------------------------------------------

struct Reference {
  const Stage& stage;
  int64_t n;
  std::vector<Bytes> values;

  Reference(const Stage& s, const std::vector<Bytes>& inputs, int64_t count)
      : stage(s), n(count), values(inputs) {
    std::vector<bool> scalar;
    for (const Stage::Input& in : s.inputs) scalar.push_back(in.scalar);
    for (const Stage::Op& op : s.ops) {
      std::vector<Aval> avals;
      bool all_scalar = true;
      for (const int v : op.in) {
        const bool one = scalar[static_cast<size_t>(v)];
        all_scalar = all_scalar && one;
        avals.push_back({s.dtype_of(v), false, one ? Shape{} : Shape{n}});
      }
      scalar.push_back(all_scalar);
      const Aval out{op.out, false, all_scalar ? Shape{} : Shape{n}};
      std::vector<View> in;
      for (size_t i = 0; i < avals.size(); ++i)
        in.push_back({values[static_cast<size_t>(op.in[i])].data(), &avals[i]});
      Bytes result(bytes_of(op.out, all_scalar ? 1 : n));
      const View to{result.data(), &out};
      if (op.p->cpu != nullptr)
        op.p->cpu({in, std::span<const View>(&to, 1), op.params});
      else
        std::copy_n(static_cast<const char*>(in[0].data), result.size(), result.begin());
      values.push_back(std::move(result));
    }
    // Scalars in full.
    for (size_t v = 0; v < values.size(); ++v) {
      const size_t size = static_cast<size_t>(size_of(s.dtype_of(static_cast<int>(v))));
      if (!scalar[v]) continue;
      Bytes all;
      for (int64_t i = 0; i < n; ++i)
        all.insert(all.end(), values[v].begin(), values[v].begin() + static_cast<long>(size));
      values[v] = std::move(all);
    }
  }
};

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

template <class T>
void expect_elements(const Bytes& got, const Bytes& want, const std::string& what) {
  for (size_t i = 0; i * sizeof(T) < want.size(); ++i) {
    T g, w;
    std::memcpy(&g, got.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&w, want.data() + i * sizeof(T), sizeof(T));
    ASSERT_TRUE(same_bits(g, w)) << what << " at " << i << ": " << +g << ", not " << +w;
  }
}

inline void expect_same(Dtype dtype, const Bytes& got, const Bytes& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  switch (dtype) {
    case Dtype::kFloat32:
      return expect_elements<float>(got, want, what);
    case Dtype::kFloat64:
      return expect_elements<double>(got, want, what);
    case Dtype::kFloat16:
      return expect_elements<Float16>(got, want, what);
    case Dtype::kBfloat16:
      return expect_elements<Bfloat16>(got, want, what);
    case Dtype::kBool:
    case Dtype::kInt8:
    case Dtype::kUint8:
      return expect_elements<uint8_t>(got, want, what);
    default:
      return expect_elements<uint32_t>(got, want, what);
  }
}

template <class T>
T larger(T a, T b) {
  return b > a || b != b ? b : a;
}
template <class T>
T smaller(T a, T b) {
  return b < a || b != b ? b : a;
}

// Integers wrap around.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                             std::make_unsigned<T>, std::type_identity<T>>::type;
template <class T>
T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
T wrapping_multiply(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

// out = before op value, as kAdd, kMax and kMin say.
template <class T>
void join(Bytes& before, const Bytes& value, Stage::Mode mode) {
  for (size_t i = 0; i * sizeof(T) < value.size(); ++i) {
    T a, b;
    std::memcpy(&a, before.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&b, value.data() + i * sizeof(T), sizeof(T));
    a = mode == Stage::Mode::kAdd ? wrapping_add(a, b)
                                  : (mode == Stage::Mode::kMax ? larger(a, b) : smaller(a, b));
    std::memcpy(before.data() + i * sizeof(T), &a, sizeof(T));
  }
}

template <class T, class A>
void expect_reduced(const Bytes& value, Stage::Kind kind, A start, A got, int64_t n,
                    const std::string& what) {
  A want = start;
  double magnitude = std::abs(static_cast<double>(start)), exponents = 0;
  bool zeros[2] = {};  // whether there is a 0, whether there is a -0
  const auto note_zero = [&](double x) {
    if (x == 0) zeros[std::signbit(x) ? 1 : 0] = true;
  };
  note_zero(static_cast<double>(start));
  for (size_t i = 0; i * sizeof(T) < value.size(); ++i) {
    T x;
    std::memcpy(&x, value.data() + i * sizeof(T), sizeof(T));
    magnitude += std::abs(static_cast<double>(x));
    exponents += std::abs(std::log2(std::abs(static_cast<double>(x))));
    note_zero(static_cast<double>(x));
    switch (kind) {
      case Stage::Kind::kSum:
        want = wrapping_add(want, static_cast<A>(x));
        break;
      case Stage::Kind::kProd:
        want = wrapping_multiply(want, static_cast<A>(x));
        break;
      case Stage::Kind::kMax:
        want = larger(want, static_cast<A>(x));
        break;
      case Stage::Kind::kMin:
        want = smaller(want, static_cast<A>(x));
        break;
    }
  }
  if (kind == Stage::Kind::kProd && !std::is_integral_v<T> && !(exponents < 100))
    return;  // partial products may leave the range
  const bool extremum = kind == Stage::Kind::kMax || kind == Stage::Kind::kMin;
  if (extremum || std::is_integral_v<T> || !std::isfinite(static_cast<double>(want)) ||
      magnitude > 1e30) {
    if (magnitude > 1e30 && kind == Stage::Kind::kSum) return;  // partial sums may overflow
    // Which zero is the largest of both is open: lanes take their first, and join in their order.
    if (extremum && want == A(0) && got == A(0) && zeros[0] && zeros[1]) return;
    EXPECT_TRUE(same_bits(got, want)) << what << ": " << got << ", not " << want;
    return;
  }
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double scale = kind == Stage::Kind::kProd
                           ? std::abs(static_cast<double>(want)) * static_cast<double>(n)
                           : magnitude * 16;
  EXPECT_NEAR(static_cast<double>(got), static_cast<double>(want),
              epsilon * scale + std::numeric_limits<T>::min())
      << what;
}

template <class T>
Bytes widened(const Bytes& halves) {
  Bytes floats(halves.size() * 2);
  for (size_t i = 0; i * sizeof(T) < halves.size(); ++i) {
    T x;
    std::memcpy(&x, halves.data() + i * sizeof(T), sizeof x);
    const float wide = x;
    std::memcpy(floats.data() + i * sizeof wide, &wide, sizeof wide);
  }
  return floats;
}

// --- running ----------------------------------------------------------------------------------

inline void expect_run(const Stage& stage, const StageKernel* kernel, const Reference& reference,
                       const std::vector<Bytes>& inputs, int64_t n, const std::string& what,
                       bool in_place) {
  std::vector<Buffer> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.emplace_back(inputs[i].size());
    std::copy(inputs[i].begin(), inputs[i].end(), in.back().data());
  }
  Values values(7);
  std::vector<Bytes> before;
  for (const Stage::Output& o : stage.outputs) {
    const Dtype d = stage.dtype_of(o.value);
    before.push_back(values.of(d, n));
    out.emplace_back(bytes_of(d, n));
    if (o.mode != Stage::Mode::kStore)
      std::copy(before.back().begin(), before.back().end(), out.back().data());
  }
  std::vector<const void*> in_pointers;
  std::vector<void*> out_pointers, acc_pointers;
  for (Buffer& b : in) in_pointers.push_back(b.data());
  for (Buffer& b : out) out_pointers.push_back(b.data());
  if (in_place) out_pointers[0] = in[0].data();
  std::vector<double> accumulators(stage.reductions.size());
  for (size_t r = 0; r < stage.reductions.size(); ++r) {
    const Stage::Reduction& reduction = stage.reductions[r];
    acc_pointers.push_back(&accumulators[r]);
    const Dtype d = accumulator_dtype(stage.dtype_of(reduction.value), reduction.kind);
    const double one = 1;
    const float one_f = 1;
    const Float16 one_f16(1);
    const Bfloat16 one_bf16(1);
    const int32_t one_i = 1;
    std::memcpy(&accumulators[r],
                d == Dtype::kFloat64    ? static_cast<const void*>(&one)
                : d == Dtype::kFloat32  ? static_cast<const void*>(&one_f)
                : d == Dtype::kFloat16  ? static_cast<const void*>(&one_f16)
                : d == Dtype::kBfloat16 ? static_cast<const void*>(&one_bf16)
                                        : static_cast<const void*>(&one_i),
                static_cast<size_t>(size_of(d)));
  }
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> workspace(kernel->workspace_bytes() / 64 + 2);
  Line& last = workspace.back();
  std::memset(&last, kGuardByte, sizeof last);
  kernel->run(in_pointers.data(), out_pointers.data(), acc_pointers.data(), n, workspace.data());
  for (const char c : last.bytes)
    EXPECT_EQ(c, kGuardByte) << what << ": wrote beyond its workspace";

  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_TRUE(in[i].intact()) << what;
    if (!in_place || i > 0) {
      EXPECT_EQ(in[i].content(), inputs[i]) << what;
    }
  }
  for (size_t k = 0; k < out.size(); ++k) {
    const Stage::Output& o = stage.outputs[k];
    const Dtype d = stage.dtype_of(o.value);
    EXPECT_TRUE(out[k].intact()) << what;
    Bytes want = reference.values[static_cast<size_t>(o.value)];
    if (o.mode != Stage::Mode::kStore) {
      Bytes joined = before[k];
      if (d == Dtype::kFloat32) join<float>(joined, want, o.mode);
      if (d == Dtype::kFloat64) join<double>(joined, want, o.mode);
      if (d == Dtype::kInt32) join<int32_t>(joined, want, o.mode);
      if (d == Dtype::kUint32) join<uint32_t>(joined, want, o.mode);
      want = joined;
    }
    expect_same(d, in_place && k == 0 ? in[0].content() : out[k].content(), want,
                what + " output " + std::to_string(k));
  }
  for (size_t r = 0; r < stage.reductions.size(); ++r) {
    const Stage::Reduction& reduction = stage.reductions[r];
    const Dtype d = stage.dtype_of(reduction.value);
    const Bytes& value = reference.values[static_cast<size_t>(reduction.value)];
    const bool gathers =
        reduction.kind == Stage::Kind::kSum || reduction.kind == Stage::Kind::kProd;
    const auto got = [&]<class A>(A) {
      A a;
      std::memcpy(static_cast<void*>(&a), &accumulators[r], sizeof a);
      return a;
    };
    const auto of_halves = [&]<class T>(T) {
      if (gathers)
        expect_reduced<float>(widened<T>(value), reduction.kind, 1.0, got(0.0), n, what);
      else
        expect_reduced<float>(widened<T>(value), reduction.kind, 1.0f, float{got(T{})}, n, what);
    };
    if (d == Dtype::kFloat16)
      of_halves(Float16{});
    else if (d == Dtype::kBfloat16)
      of_halves(Bfloat16{});
    else if (d == Dtype::kFloat64)
      expect_reduced<double>(value, reduction.kind, 1.0, got(0.0), n, what);
    else if (d == Dtype::kFloat32 && gathers)
      expect_reduced<float>(value, reduction.kind, 1.0, got(0.0), n, what);
    else if (d == Dtype::kFloat32)
      expect_reduced<float>(value, reduction.kind, 1.0f, got(0.0f), n, what);
    else if (d == Dtype::kInt32 && !gathers)
      expect_reduced<int32_t>(value, reduction.kind, int32_t{1}, got(int32_t{}), n, what);
    else
      expect_reduced<uint32_t>(value, reduction.kind, uint32_t{1}, got(uint32_t{}), n, what);
  }
}

/// `runs` times, since a kernel may take turns between two ways.
inline void expect_stage(const Stage& stage, IsaLevel level, const std::vector<Bytes>& inputs,
                         int64_t n, const std::string& what, bool in_place = false, int runs = 1) {
  const auto kernel = make_stage_x64(stage, level);
  ASSERT_NE(kernel, nullptr) << what;
  const Reference reference(stage, inputs, n);
  for (int run = 0; run < runs; ++run)
    expect_run(stage, kernel.get(), reference, inputs, n, what, in_place);
}

}  // namespace spruce::cpu::testing
