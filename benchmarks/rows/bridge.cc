// SPDX-License-Identifier: Apache-2.0
// The training step of lenet by a module: what the way from stateful modules to compiled functions
// costs beside the row lenet.
#include "benchmarks/nets.h"

namespace bench {
namespace {

class LeNetModule : public nn::Module {
 public:
  LeNetModule() {
    const LeNet net = LeNet::init();
    a_ = register_module("a", net.a);
    b_ = register_module("b", net.b);
    c_ = register_module("c", net.c);
    d_ = register_module("d", net.d);
    e_ = register_module("e", net.e);
  }
  Array forward(const Array& x) override {
    const Array y = nn::max_pool2d(nn::relu(b_(nn::max_pool2d(nn::relu(a_(x)), 2))), 2);
    return e_(nn::relu(d_(nn::relu(c_(nn::flatten(y))))));
  }

 private:
  nn::Stateful<nn::Conv2d> a_, b_;
  nn::Stateful<nn::Linear> c_, d_, e_;
};

/// Loss, gradient, optimizer and new values in one compiled function. The work is that of the pure
/// step.
Call compiled_step(const Settings& s) {
  const auto optimizer = sp::optim::sgd({.learning_rate = 0.01f});
  const auto loss = [](auto& net, const Array& x, const Array& y) {
    return nn::cross_entropy(net(x), y);
  };
  const Array x = normals({64, 1, 28, 28}), y = integers(10, {64});
  Call call = training_step(s, loss, optimizer, LeNet::init(), x, y);
  const auto net = std::make_shared<LeNetModule>();
  const auto step = std::make_shared<decltype(nn::compile_step(*net, optimizer, loss))>(
      nn::compile_step(*net, optimizer, loss));
  call.run = [net, step, x, y] { return std::vector<Array>{(*step)(x, y)}; };
  call.lower = [] {};  // the first call traces and compiles
  return call;
}

}  // namespace

std::vector<Row> bridge_rows() { return {{"lenet_bridge", compiled_step}}; }

}  // namespace bench
