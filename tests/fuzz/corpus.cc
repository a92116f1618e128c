// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "spruce/spruce.h"
#include "tests/fuzz/target.h"

namespace spruce::fuzz {
namespace {

std::string sample_text(const Primitive& p, const Sample& s) {
  Graph g;
  Equation e{&p, s.params, {}, {}, "fuzz.cc:1"};
  std::vector<const Aval*> types;
  for (const SampleInput& in : s.in) types.push_back(&in.aval);
  const std::vector<Aval> out = output_avals(p, types, s.params);
  for (const SampleInput& in : s.in) {
    g.inputs.push_back(g.add_value(in.aval));
    e.inputs.push_back(g.inputs.back());
  }
  for (const Aval& a : out) {
    g.outputs.push_back(g.add_value(a));
    e.outputs.push_back(g.outputs.back());
  }
  g.equations.push_back(std::move(e));
  return "t" + g.text(true);
}

template <class F, class... Args>
void add(std::vector<std::string>& out, const F& f, const Args&... args) {
  out.push_back("t" + make_graph(f)(args...).text(true));
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("spruce_fuzz_" + std::to_string(reinterpret_cast<uintptr_t>(&out))))
                               .string();
  save_function(path, f, args...);
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  std::filesystem::remove(path);
  out.push_back("f" + bytes.str());
  out.push_back("r" + bytes.str());
}

}  // namespace

std::vector<std::string> corpus() {
  std::vector<std::string> out;
  for (const Primitive* p : all_primitives()) {
    if (p->samples == nullptr) continue;
    for (const Sample& s : p->samples()) out.push_back(sample_text(*p, s));
  }
  const Array x = arange(6.0f).reshape({2, 3}), w = sin(arange(24.0f)).reshape({3, 8});
  const auto twice = custom_jvp([](const Array& a) { return a + a; },
                                [](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                                  return std::pair{std::get<0>(p), std::get<0>(t)};
                                });
  const auto layer = [&](const Array& v, const Array& a) {
    return sum(tanh(matmul(twice(a), v) + matmul(a, w)));
  };
  add(out, layer, w, x);
  add(
      out, [&](const Array& v, const Array& a) { return grad(layer)(v, a); }, w, x);
  add(
      out, [](const Array& a) { return nn::softmax(a[{slice(0, 1)}]); }, x);
  add(
      out,
      [](const Array& a) {  // gates that loops read, and write, where they stand
        const Array b = tanh(a);
        const Array left = b[{ellipsis, slice(0, 128)}], right = b[{ellipsis, slice(128, 256)}];
        return concatenate({left * right, left - right}, 1);
      },
      ones({2, 256}));
  add(
      out,
      [](const Array& a) {  // neighbours that loops read where they stand
        const Array b = roll(a, 1, 0) - roll(a, {-1, 1}, {0, 1});
        return b * flip(pad(a[{slice(1, none)}], {{1, 0}, {0, 0}}, {.value = 2}), 1) + a;
      },
      ones({4, 6}));
  add(
      out,
      [](const Array& xs) {
        return scan(
            [](const Array& c, const Array& v) {
              return std::pair{c * v, c + v};
            },
            zeros({3}), xs);
      },
      x);
  add(
      out,
      [](const Array& a) {
        return cond(
            sum(a) > 0.0f, [](const Array& y) { return sin(y); },
            [](const Array& y) { return y * 2.0f; }, a);
      },
      x);
  return out;
}

}  // namespace spruce::fuzz
