// SPDX-License-Identifier: Apache-2.0
// Thousands of small random programs: transforms of transforms agree with each other.
//   SPRUCE_RANDOM_PROGRAMS=n  how many (2000)
//   SPRUCE_RANDOM_SEED=n      the seed of the first one; the others follow (1)
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/as_compiled.h"
#include "tests/transforms/random_programs/program.h"
#include "tests/transforms/row_halves.h"

namespace spruce::random_programs {
namespace {

constexpr double kTolerance = 1e-7, kDifferences = 1e-4;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Where the two differ by more than that share of the largest element or of 1.
std::optional<std::string> difference(const Arrays& got, const Arrays& want, double tol) {
  if (got.size() != want.size()) return "the number of results differs";
  for (size_t k = 0; k < got.size(); ++k) {
    if (to_string(got[k].aval()) != to_string(want[k].aval()))
      return to_string(got[k].aval()) + " instead of " + to_string(want[k].aval());
    const auto a = got[k].to_vector<double>(), b = want[k].to_vector<double>();
    double scale = 1;
    for (const double x : b) scale = std::max(scale, std::abs(x));
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(std::abs(a[i] - b[i]) <= tol * scale))
        return "result " + std::to_string(k) + ", element " + std::to_string(i) + ": " +
               std::to_string(a[i]) + " instead of " + std::to_string(b[i]);
    }
  }
  return std::nullopt;
}

double dot(const Arrays& a, const Arrays& b) {
  double s = 0;
  for (size_t k = 0; k < a.size(); ++k) s += sum(a[k] * b[k]).item<double>();
  return s;
}

Arrays scaled_sum(const Arrays& x, double h, const Arrays& v) {
  Arrays out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] + h * v[i]);
  return out;
}

// What a program is under all that is asked of it.
class Subject {
 public:
  Subject(const Program& p, uint64_t seed)
      : program_(p),
        x(arguments(p, seed)),
        v(arguments(p, seed + 1)),
        more(arguments(p, seed + 2)) {
    value = f(x);
    for (size_t k = 0; k < value.size(); ++k)
      ct.push_back(arguments_like(value[k].shape(), seed + 17 * k));
  }

  Arrays f(const Arrays& a) const { return run(program_, a); }
  Arrays tangent(const Arrays& a, const Arrays& t) const {
    return jvp([&](const Arrays& y) { return f(y); }, std::tuple<Arrays>(a), std::tuple<Arrays>(t))
        .second;
  }
  Arrays gradient(const Arrays& a) const {
    return vjp([&](const Arrays& y) { return f(y); }, a).second(ct);
  }
  bool smooth() const { return program_.smooth; }

 private:
  static Array arguments_like(const Shape& shape, uint64_t seed) {
    Program one;
    Node n;
    n.shape = shape;
    one.nodes = {n};
    return arguments(one, seed)[0];
  }
  const Program& program_;

 public:
  Arrays x, v, more, value, ct;
};

Arrays stacked(const Arrays& a, const Arrays& b) {
  Arrays out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(stack({a[i], b[i]}));
  return out;
}

struct Property {
  const char* name;
  std::optional<std::string> (*check)(const Subject& s);
};

const Property kProperties[] = {
    {"jit is evaluation",
     [](const Subject& s) {
       const auto g = jit([&](const Arrays& a) { return s.f(a); });
       return difference(g(s.x), s.value, kTolerance);
     }},
    {"the graph, operation by operation, is evaluation",
     [](const Subject& s) {
       const Graph g = make_graph([&](const Arrays& a) { return s.f(a); })(s.x);
       check(g);
       return difference(evaluate(g, s.x), s.value, kTolerance);
     }},
    {"every pass keeps the meaning",
     [](const Subject& s) -> std::optional<std::string> {
       Graph g = make_graph([&](const Arrays& a) { return s.f(a); })(s.x);
       for (const passes::Pass& pass : passes::pipeline()) {
         g = pass.run(g);
         check(g);
         if (const auto bad = difference(evaluate(g, s.x), s.value, kTolerance))
           return std::string(pass.name) + ": " + *bad;
       }
       return std::nullopt;
     }},
    {"blocks of rows are the whole",
     [](const Subject& s) -> std::optional<std::string> {
       Arrays x;
       for (size_t i = 0; i < s.x.size(); ++i) {
         const Array both = stack({s.x[i], s.more[i]});
         x.push_back(concatenate({both, both + 0.1, both - 0.1, both * 0.9}, 0));
       }
       const Graph g =
           passes::optimize(make_graph(vmap([&](const Arrays& a) { return s.f(a); }))(x));
       const Graph blocks = row_halves(g, 1);
       check(blocks);
       return difference(as_compiled(blocks, x), as_compiled(g, x), kTolerance);
     }},
    {"a graph's text is the graph",
     [](const Subject& s) -> std::optional<std::string> {
       const std::string text = make_graph([&](const Arrays& a) { return s.f(a); })(s.x).text(true);
       const Graph read = parse_graph(text);
       if (read.text(true) != text) return "the text of the graph that was read differs";
       return difference(evaluate(read, s.x), s.value, kTolerance);
     }},
    {"vmap is a loop",
     [](const Subject& s) {
       const Arrays got = vmap([&](const Arrays& a) { return s.f(a); })(stacked(s.x, s.more));
       return difference(got, stacked(s.value, s.f(s.more)), kTolerance);
     }},
    {"jit of vmap is a loop",
     [](const Subject& s) {
       const auto g = jit(vmap([&](const Arrays& a) { return s.f(a); }));
       return difference(g(stacked(s.x, s.more)), stacked(s.value, s.f(s.more)), kTolerance);
     }},
    {"vjp is the transpose of jvp",
     [](const Subject& s) -> std::optional<std::string> {
       const double forward = dot(s.tangent(s.x, s.v), s.ct), backward = dot(s.gradient(s.x), s.v);
       const double scale = std::max({1.0, std::abs(forward), std::abs(backward)});
       if (std::abs(forward - backward) <= 1e-6 * scale) return std::nullopt;
       return std::to_string(forward) + " and " + std::to_string(backward);
     }},
    {"jvp is the limit of differences",
     [](const Subject& s) -> std::optional<std::string> {
       if (!s.smooth()) return std::nullopt;
       constexpr double kStep = 1.0 / 4096;
       const auto along = [&](double h) { return s.f(scaled_sum(s.x, h, s.v)); };
       const Arrays a = along(kStep), b = along(-kStep), c = along(2 * kStep),
                    d = along(-2 * kStep);
       Arrays want;
       double wild = 0;
       for (size_t k = 0; k < a.size(); ++k) {
         const Array narrow = (a[k] - b[k]) / (2 * kStep), wide = (c[k] - d[k]) / (4 * kStep);
         want.push_back((4.0 * narrow - wide) / 3.0);
         if (narrow.size() > 0)
           wild = std::max(wild, max(abs(narrow - wide) / (1.0 + abs(narrow))).item<double>());
       }
       // Where the two steps say different things, neither is the limit.
       if (wild > 1e-3) return std::nullopt;
       return difference(s.tangent(s.x, s.v), want, kDifferences);
     }},
    {"jit of vjp is vjp",
     [](const Subject& s) {
       const auto g = jit([&](const Arrays& a) { return s.gradient(a); });
       return difference(g(s.x), s.gradient(s.x), kTolerance);
     }},
    {"vjp of jit is vjp",
     [](const Subject& s) {
       const auto g = jit([&](const Arrays& a) { return s.f(a); });
       return difference(vjp(g, s.x).second(s.ct), s.gradient(s.x), kTolerance);
     }},
    {"vmap of vjp is a loop",
     [](const Subject& s) {
       const Arrays got =
           vmap([&](const Arrays& a) { return s.gradient(a); })(stacked(s.x, s.more));
       return difference(got, stacked(s.gradient(s.x), s.gradient(s.more)), kTolerance);
     }},
    {"jvp of vmap is vmap of jvp",
     [](const Subject& s) {
       const auto mapped = vmap([&](const Arrays& a) { return s.f(a); });
       const Arrays got = jvp(mapped, std::tuple<Arrays>(stacked(s.x, s.more)),
                              std::tuple<Arrays>(stacked(s.v, s.v)))
                              .second;
       return difference(got, stacked(s.tangent(s.x, s.v), s.tangent(s.more, s.v)), kTolerance);
     }},
    {"second derivatives are symmetric",
     [](const Subject& s) -> std::optional<std::string> {
       const auto curve = [&](const Arrays& t) {
         return jvp([&](const Arrays& a) { return s.gradient(a); }, std::tuple<Arrays>(s.x),
                    std::tuple<Arrays>(t))
             .second;
       };
       const Arrays w = s.more;
       const double a = dot(curve(s.v), w), b = dot(curve(w), s.v);
       if (std::abs(a - b) <= 1e-6 * std::max({1.0, std::abs(a), std::abs(b)})) return std::nullopt;
       return std::to_string(a) + " and " + std::to_string(b);
     }},
    {"jvp of vjp is vjp of jvp",
     [](const Subject& s) {
       const Arrays forward = jvp([&](const Arrays& a) { return s.gradient(a); },
                                  std::tuple<Arrays>(s.x), std::tuple<Arrays>(s.v))
                                  .second;
       const Arrays backward =
           vjp([&](const Arrays& a) { return s.tangent(a, s.v); }, s.x).second(s.ct);
       return difference(backward, forward, 1e-6);
     }},
};

// The complaint of one property; exceptions are complaints. Numbers at a kink or a jump may go
// either way: what is wrong is so for other numbers too.
std::optional<std::string> complaint(const Property& property, const Program& p, uint64_t seed) {
  constexpr uint64_t kDraws = 3;
  std::optional<std::string> last;
  for (uint64_t draw = 0; draw < (p.smooth ? 1 : kDraws); ++draw) {
    try {
      last = property.check(Subject(p, seed + 31 * draw));
    } catch (const std::exception& e) {
      last = std::string("threw: ") + e.what();
    }
    if (!last) return std::nullopt;
  }
  return last;
}

TEST(RandomPrograms, TransformsAgree) {
  const uint64_t count = setting("SPRUCE_RANDOM_PROGRAMS", 2000),
                 first = setting("SPRUCE_RANDOM_SEED", 1);
  std::cout << "random programs: " << count << " from seed " << first << "\n";
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 3; ++seed) {
    const Program p = generate(seed, static_cast<int>(3 + seed % 10));
    // All see the graph; of the others, each program meets a few.
    for (size_t k = 0; k < std::size(kProperties); ++k) {
      if (k > 2 && (k + seed) % 3 != 0) continue;
      const Property& property = kProperties[k];
      if (!complaint(property, p, seed)) continue;
      const Program small =
          shrunk(p, [&](const Program& q) { return complaint(property, q, seed); });
      ADD_FAILURE() << "seed " << seed << ", " << property.name << ": "
                    << complaint(property, small, seed).value_or("no longer") << "\n"
                    << small.text() << "\nof\n"
                    << p.text();
      ++failures;
      break;
    }
  }
}

TEST(RandomPrograms, ASmallerProgramStillFails) {
  // What is to be found: a logsumexp of anything.
  const Check check = [](const Program& p) -> std::optional<std::string> {
    for (const Node& n : p.nodes) {
      if (n.op == Op::kReduce && n.which == 2) return "it has a logsumexp";
    }
    return std::nullopt;
  };
  int found = 0;
  for (uint64_t seed = 1; seed < 60; ++seed) {
    const Program p = generate(seed, 12);
    if (!check(p)) continue;
    const Program small = shrunk(p, check);
    EXPECT_LE(small.nodes.size(), 2u) << small.text();
    ++found;
  }
  EXPECT_GT(found, 5);
}

}  // namespace
}  // namespace spruce::random_programs
