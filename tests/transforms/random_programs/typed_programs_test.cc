// SPDX-License-Identifier: Apache-2.0
// Random programs over all dtypes: compiled, mapped and pass by pass they give the elements of
// evaluation, bit by bit but for the sign of zeros.
//   SPRUCE_RANDOM_PROGRAMS=n  how many (1500)
//   SPRUCE_RANDOM_SEED=n      the seed of the first one; the others follow (1)
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <set>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/random_programs/typed.h"

namespace spruce::random_programs {
namespace typed_programs_test {

using Arrays = std::vector<Array>;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

template <class T>
bool same_element(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return same_element(static_cast<float>(a), static_cast<float>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return a == b || (std::isnan(a) && std::isnan(b));
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;  // a bool is 0 or 1
  }
}

std::optional<std::string> difference(const Arrays& got, const Arrays& want) {
  for (size_t k = 0; k < want.size(); ++k) {
    if (to_string(got[k].aval()) != to_string(want[k].aval()))
      return to_string(got[k].aval()) + " instead of " + to_string(want[k].aval());
    const auto bad = visit_dtype(want[k].dtype(), [&]<class T>(T) -> std::optional<std::string> {
      const Array x = internal::on_host(got[k]), y = internal::on_host(want[k]);
      const auto* a = static_cast<const T*>(internal::mutable_data(x));
      const auto* b = static_cast<const T*>(internal::mutable_data(y));
      for (int64_t i = 0; i < want[k].size(); ++i) {
        if (!same_element(a[i], b[i]))
          return "result " + std::to_string(k) + ", element " + std::to_string(i);
      }
      return std::nullopt;
    });
    if (bad) return bad;
  }
  return std::nullopt;
}

Arrays stacked(const Arrays& a, const Arrays& b) {
  Arrays out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(stack({a[i], b[i]}));
  return out;
}

std::optional<std::string> complaint(const TypedProgram& p, uint64_t seed) {
  const auto f = [&](const Arrays& x) { return p.run(x); };
  try {
    const Arrays want = f(p.inputs);
    if (const auto bad = difference(jit(f)(p.inputs), want)) return "compiled: " + *bad;
    Graph g = make_graph(f)(p.inputs);
    if (const auto bad = difference(evaluate(g, p.inputs), want)) return "the graph: " + *bad;
    for (const passes::Pass& pass : passes::pipeline()) {
      g = pass.run(g);
      if (const auto bad = difference(evaluate(g, p.inputs), want))
        return std::string(pass.name) + ": " + *bad;
    }
    Arrays more;
    for (const Array& x : p.inputs) more.push_back(extremes(seed + 5, x.shape(), x.dtype()));
    const auto mapped = jit(vmap(f));
    if (const auto bad = difference(mapped(stacked(p.inputs, more)), stacked(want, f(more))))
      return "compiled vmap: " + *bad;
  } catch (const std::exception& e) {
    return std::string("threw: ") + e.what();
  }
  return std::nullopt;
}

// The first value that is wrong by itself, or the whole.
TypedProgram smallest(const TypedProgram& p, uint64_t seed) {
  const int first = static_cast<int>(p.inputs.size()), count = static_cast<int>(p.steps.size());
  for (int v = first; v < first + count; ++v) {
    const TypedProgram part = p.of(v);
    if (complaint(part, seed)) return part;
  }
  return p;
}

TEST(TypedPrograms, CompiledIsEvaluatedInEveryDtype) {
  const uint64_t count = setting("SPRUCE_RANDOM_PROGRAMS", 1500),
                 first = setting("SPRUCE_RANDOM_SEED", 1);
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 5; ++seed) {
    const TypedProgram p = generate_typed(seed, static_cast<int>(2 + seed % 14));
    if (!complaint(p, seed)) continue;
    const TypedProgram small = smallest(p, seed);
    ADD_FAILURE() << "seed " << seed << ", " << complaint(small, seed).value_or("no longer") << "\n"
                  << small.text();
    ++failures;
  }
}

// NaN that differ in their bits, among numbers.
Array numbered_nans(const Shape& shape, std::mt19937_64& random) {
  std::vector<float> x;
  for (int64_t i = 0; i < shape.numel(); ++i)
    x.push_back(random() % 3 == 0 ? std::bit_cast<float>(0x7fc00001u + static_cast<uint32_t>(i))
                                  : static_cast<float>(i * 37 % 1009));
  return array(x, shape);
}

TEST(TypedPrograms, PoolsSendGradientsToTheElementsThatTheyTook) {
  std::mt19937_64 random(setting("SPRUCE_RANDOM_SEED", 1));
  const auto draw = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int k = 0; k < 300; ++k) {
    Shape shape;
    WindowParams w;
    for (int64_t d = draw(1, 3); d > 0; --d) {
      shape.push_back(draw(3, 9));
      w.window.push_back(draw(1, 3));
      w.strides.push_back(draw(1, 2));
      w.padding_low.push_back(draw(0, w.window.back() - 1));
      w.padding_high.push_back(draw(0, w.window.back() - 1));
      w.base_dilation.push_back(1);
      w.window_dilation.push_back(draw(1, 4) == 1 && w.window.back() == 2 ? 2 : 1);
    }
    const bool largest = random() % 2 == 0;
    const Array x = numbered_nans(shape, random);
    const auto pool = [&](const Array& a) {
      return largest ? reduce_window_max(a, w) : reduce_window_min(a, w);
    };
    const Array value = random() % 2 == 0 ? pool(x) : jit(pool)(x);
    // One window at a time: its cotangent comes back at the element with the bits of its result.
    const int64_t n = value.size();
    Shape shape_of_each = value.shape();
    shape_of_each.insert(0, n);
    const Array each = reshape(eye(n), shape_of_each);
    const auto pulled = [&](const Array& ct) { return vjp(pool, x).second(ct); };
    const Array g = random() % 2 == 0 ? vmap(pulled)(each) : jit(vmap(pulled))(each);
    const Array bits = bitcast(value, uint32), of_x = bitcast(x, uint32);
    const Array want = reshape(bits, {n, 1}) == reshape(of_x, {1, x.size()});
    EXPECT_EQ(reshape(g, {n, x.size()}).to_vector<float>(),
              astype(want, float32).to_vector<float>())
        << to_string(shape) << ", windows " << to_string(w.window);
    if (HasFailure()) return;
  }
}

TEST(TypedPrograms, MeetEveryOperation) {
  std::set<std::string> met;
  for (uint64_t seed = 1; seed < 400; ++seed) {
    for (const TypedStep& s : generate_typed(seed, 10).steps) met.insert(s.op->name);
  }
  for (const TypedOp& op : typed_ops()) EXPECT_TRUE(met.contains(op.name)) << op.name;
}

}  // namespace typed_programs_test
}  // namespace spruce::random_programs
