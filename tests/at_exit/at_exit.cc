// SPDX-License-Identifier: Apache-2.0
// Calls the library where objects that were made before it was first used are destroyed: as a
// thread ends, and behind main. Run with the library under a sanitizer it sees memory that is gone;
// without one, wrong numbers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>

#include "spruce/spruce.h"

namespace {

namespace sp = spruce;
using sp::Array;

// Products, sorting, compiled functions, gradients of loops, activations, a step of Adam.
double numbers() {
  const Array x = sp::reshape(sp::arange(64 * 64.0f), {64, 64}) / 1024.0f;
  const auto f = sp::jit([](const Array& a) { return sp::sum(sp::matmul(a, a) * 0.25f); });
  const auto slope = sp::grad([](const Array& a) {
    return sp::sum(sp::fori_loop(
        0, 3, [](const Array&, const Array& v) { return sp::tanh(v) * 0.5f; }, a));
  });
  Array parameters = sp::nn::selu(sp::nn::elu(x));
  const auto optimizer = sp::optim::adam({.learning_rate = 0.1});
  auto state = optimizer.init(parameters);
  Array updates;
  std::tie(updates, state) = optimizer.update(slope(parameters), state, parameters);
  parameters = sp::optim::apply_updates(parameters, updates);
  const std::string text = sp::make_graph([](const Array& a) { return a + 1.0f; })(x).text();
  return f(x).item<double>() + sp::sum(sp::sort(parameters)).item<double>() +
         static_cast<double>(text.size());
}

double want = 0;

void expect(const char* where) {
  const double got = numbers();
  if (got == want && std::isfinite(got)) return;
  std::fprintf(stderr, "%s: %.17g, in main it was %.17g\n", where, got, want);
  std::_Exit(1);
}

struct Late {
  const char* where;
  ~Late() { expect(where); }
};

Late global{"a global's destructor"};
thread_local Late of_thread{"a thread's end"};

}  // namespace

int main() {
  std::atexit([] { expect("atexit"); });
  want = numbers();
  std::thread([] {
    (void)of_thread.where;
    expect("a thread");
  }).join();
}
