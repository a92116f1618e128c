// SPDX-License-Identifier: Apache-2.0
// Thousands of small random programs: transforms of transforms agree with each other.
//   SPRUCE_RANDOM_PROGRAMS=n  how many (1200)
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
namespace random_programs_test {

constexpr double kDifferences = 1e-4;

// What two ways to compute the same may differ by, as a share of the largest element or of 1.
double tolerance(Dtype dtype) {
  return dtype == float64 ? 1e-7 : dtype == float32 ? 2e-5 : dtype == float16 ? 1e-2 : 5e-2;
}

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<double> values(const Array& x) { return astype(x, float64).to_vector<double>(); }

// Where the two differ by more than that share of the largest element or of 1, and than `more`.
std::optional<std::string> difference(const Arrays& got, const Arrays& want, double tol,
                                      const std::vector<double>& more = {}) {
  if (got.size() != want.size()) return "the number of results differs";
  for (size_t k = 0; k < got.size(); ++k) {
    if (to_string(got[k].aval()) != to_string(want[k].aval()))
      return to_string(got[k].aval()) + " instead of " + to_string(want[k].aval());
    const auto a = values(got[k]), b = values(want[k]);
    double scale = 1;
    for (const double x : b) scale = std::max(scale, std::abs(x));
    const double most = tol * scale + (more.empty() ? 0 : more[k]);
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(std::abs(a[i] - b[i]) <= most))
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
      ct.push_back(numbers(seed + 17 * k, value[k].shape(), value[k].dtype()) * 1.5);
  }
  // The same in f64.
  Subject exact() const {
    Subject s = *this;
    s.program_ = converted(program_, float64);
    for (Arrays* list : {&s.x, &s.v, &s.more, &s.ct}) {
      for (Array& a : *list) a = astype(a, float64);
    }
    s.value = s.f(s.x);
    return s;
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
  Dtype dtype() const { return program_.dtype; }

 private:
  Program program_;

 public:
  Arrays x, v, more, value, ct;
};

// Whether `got` is want(s). What is not f64 is rounded: by how much, f64 shows, and results of
// other roundings may be some times as far apart.
template <class Want>
std::optional<std::string> agrees(const Subject& s, const Arrays& got, const Want& want) {
  const Arrays w = want(s);
  if (s.dtype() == float64) return difference(got, w, tolerance(float64));
  const Arrays exact = want(s.exact());
  std::vector<double> errors;
  for (size_t k = 0; k < w.size(); ++k) {
    const auto a = values(w[k]), b = values(exact[k]);
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i])) return std::nullopt;  // beyond the range
      most = std::max(most, std::abs(a[i] - b[i]));
    }
    errors.push_back(16 * most);
  }
  return difference(got, w, tolerance(s.dtype()), errors);
}
Arrays value_of(const Subject& s) { return s.value; }
Arrays gradient_of(const Subject& s) { return s.gradient(s.x); }

Arrays stacked(const Arrays& a, const Arrays& b) {
  Arrays out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(stack({a[i], b[i]}));
  return out;
}

struct Property {
  const char* name;
  std::optional<std::string> (*check)(const Subject& s);
  bool rounded = true;  // makes sense for numbers of few digits
};

const Property kProperties[] = {
    {"jit is evaluation",
     [](const Subject& s) {
       const auto g = jit([&](const Arrays& a) { return s.f(a); });
       return agrees(s, g(s.x), value_of);
     }},
    {"the graph, operation by operation, is evaluation",
     [](const Subject& s) {
       const Graph g = make_graph([&](const Arrays& a) { return s.f(a); })(s.x);
       check(g);
       return agrees(s, evaluate(g, s.x), value_of);
     }},
    {"every pass keeps the meaning",
     [](const Subject& s) -> std::optional<std::string> {
       Graph g = make_graph([&](const Arrays& a) { return s.f(a); })(s.x);
       for (const passes::Pass& pass : passes::pipeline()) {
         g = pass.run(g);
         check(g);
         if (const auto bad = agrees(s, evaluate(g, s.x), value_of))
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
       return difference(as_compiled(blocks, x), as_compiled(g, x), tolerance(float64));
     },
     false},
    {"a graph's text is the graph",
     [](const Subject& s) -> std::optional<std::string> {
       const std::string text = make_graph([&](const Arrays& a) { return s.f(a); })(s.x).text(true);
       const Graph read = parse_graph(text);
       if (read.text(true) != text) return "the text of the graph that was read differs";
       return agrees(s, evaluate(read, s.x), value_of);
     }},
    {"vmap is a loop",
     [](const Subject& s) {
       const Arrays got = vmap([&](const Arrays& a) { return s.f(a); })(stacked(s.x, s.more));
       return agrees(s, got, [](const Subject& t) { return stacked(t.value, t.f(t.more)); });
     }},
    {"jit of vmap is a loop",
     [](const Subject& s) {
       const auto g = jit(vmap([&](const Arrays& a) { return s.f(a); }));
       return agrees(s, g(stacked(s.x, s.more)),
                     [](const Subject& t) { return stacked(t.value, t.f(t.more)); });
     }},
    {"vjp is the transpose of jvp",
     [](const Subject& s) -> std::optional<std::string> {
       const double forward = dot(s.tangent(s.x, s.v), s.ct), backward = dot(s.gradient(s.x), s.v);
       const double scale = std::max({1.0, std::abs(forward), std::abs(backward)});
       if (std::abs(forward - backward) <= 1e-6 * scale) return std::nullopt;
       return std::to_string(forward) + " and " + std::to_string(backward);
     },
     false},
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
     },
     false},
    {"jit of vjp is vjp",
     [](const Subject& s) {
       const auto g = jit([&](const Arrays& a) { return s.gradient(a); });
       return agrees(s, g(s.x), gradient_of);
     }},
    {"vjp of jit is vjp",
     [](const Subject& s) {
       const auto g = jit([&](const Arrays& a) { return s.f(a); });
       return agrees(s, vjp(g, s.x).second(s.ct), gradient_of);
     }},
    {"vmap of vjp is a loop",
     [](const Subject& s) {
       const Arrays got =
           vmap([&](const Arrays& a) { return s.gradient(a); })(stacked(s.x, s.more));
       return agrees(s, got,
                     [](const Subject& t) { return stacked(t.gradient(t.x), t.gradient(t.more)); });
     }},
    {"jvp of vmap is vmap of jvp",
     [](const Subject& s) {
       const auto mapped = vmap([&](const Arrays& a) { return s.f(a); });
       const Arrays got = jvp(mapped, std::tuple<Arrays>(stacked(s.x, s.more)),
                              std::tuple<Arrays>(stacked(s.v, s.v)))
                              .second;
       return agrees(s, got, [](const Subject& t) {
         return stacked(t.tangent(t.x, t.v), t.tangent(t.more, t.v));
       });
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
     },
     false},
    {"jvp of vjp is vjp of jvp",
     [](const Subject& s) {
       const Arrays forward = jvp([&](const Arrays& a) { return s.gradient(a); },
                                  std::tuple<Arrays>(s.x), std::tuple<Arrays>(s.v))
                                  .second;
       const Arrays backward =
           vjp([&](const Arrays& a) { return s.tangent(a, s.v); }, s.x).second(s.ct);
       return difference(backward, forward, 1e-6);
     },
     false},
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
  const uint64_t count = setting("SPRUCE_RANDOM_PROGRAMS", 1200),
                 first = setting("SPRUCE_RANDOM_SEED", 1);
  std::cout << "random programs: " << count << " from seed " << first << "\n";
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 3; ++seed) {
    const Program p = generate(seed, static_cast<int>(3 + seed % 10));
    // All see the graph; of the others, each program meets a few.
    for (size_t k = 0; k < std::size(kProperties); ++k) {
      if (k > 2 && (k + seed) % 3 != 0) continue;
      const Property& property = kProperties[k];
      if (p.dtype != float64 && !property.rounded) continue;
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
  for (uint64_t seed = 1; seed < 90; ++seed) {
    const Program p = generate(seed, 12);
    if (!check(p)) continue;
    const Program small = shrunk(p, check);
    EXPECT_LE(small.nodes.size(), 2u) << small.text();
    ++found;
  }
  EXPECT_GT(found, 5);
}

}  // namespace random_programs_test
}  // namespace spruce::random_programs
