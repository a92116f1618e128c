// SPDX-License-Identifier: Apache-2.0
// Training steps of common networks.
#include "benchmarks/nets.h"

namespace bench {

std::vector<Row> network_rows() {
  std::vector<Row> out;
  out.push_back({"tiny_mlp", [](const Settings& s) {
                   const auto loss = [](const Mlp& p, const Array& x, const Array& y) {
                     return nn::cross_entropy(p(x, nn::tanh), y);
                   };
                   return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.1f}),
                                        Mlp::init({2, 32, 32, 2}), normals({100, 2}),
                                        integers(2, {100}));
                 }});
  out.push_back({"mlp_adam", [](const Settings& s) {
                   const auto loss = [](const Mlp& p, const Array& x, const Array& y) {
                     return nn::cross_entropy(p(x, nn::relu), y);
                   };
                   return training_step(s, loss, sp::optim::adam({.learning_rate = 1e-3f}),
                                        Mlp::init({784, 512, 512, 10}), normals({128, 784}),
                                        integers(10, {128}));
                 }});
  out.push_back({"lenet", [](const Settings& s) {
                   const auto loss = [](const LeNet& p, const Array& x, const Array& y) {
                     return nn::cross_entropy(p(x), y);
                   };
                   return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.01f}),
                                        LeNet::init(), normals({64, 1, 28, 28}),
                                        integers(10, {64}));
                 }});
  out.push_back({"cnn64", [](const Settings& s) {
                   const auto loss = [](const Cnn& p, const Array& x, const Array& y) {
                     return nn::cross_entropy(p(x), y);
                   };
                   return training_step(s, loss, sp::optim::adam({.learning_rate = 1e-3f}),
                                        Cnn::init(), normals({32, 3, 32, 32}), integers(10, {32}));
                 }});
  out.push_back({"lstm", [](const Settings& s) {
                   const auto [k_input, k_hidden] = sp::random::split<2>(sp::Key(0));
                   const auto input = nn::Linear::init(k_input, 64, 512);
                   const auto hidden = nn::Linear::init(k_hidden, 128, 512);
                   const nn::LSTM net{{{input.weight, hidden.weight, input.bias, hidden.bias}}};
                   const auto loss = [](const nn::LSTM& p, const Array& x) {
                     return sp::mean(sp::square(p(x).output));
                   };
                   return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.01f}), net,
                                        normals({64, 32, 64}));
                 }});
  out.push_back({"transformer", [](const Settings& s) {
                   const auto loss = [](const Block& p, const Array& x) {
                     return sp::mean(sp::square(p(x, 8)));
                   };
                   return training_step(s, loss, sp::optim::sgd({.learning_rate = 0.01f}),
                                        Block::init(sp::Key(0), 256), normals({8, 128, 256}));
                 }});
  out.push_back({"gpt", [](const Settings& s) {
                   const auto loss = [](const Gpt& p, const Array& x, const Array& y) {
                     return nn::cross_entropy(sp::reshape(p(x), {-1, 65}), sp::ravel(y));
                   };
                   const Array letters = integers(65, {16, 128});
                   return training_step(s, loss, sp::optim::adamw({.learning_rate = 1e-3f}),
                                        Gpt::init(), letters, letters);
                 }});
  out.push_back({"adam_64mb", [](const Settings& s) {
                   const auto loss = [](const std::vector<Array>& p) {
                     return sp::mean(sp::square(p[0])) + sp::mean(sp::square(p[1]));
                   };
                   return training_step(
                       s, loss, sp::optim::adam({.learning_rate = 1e-3f}),
                       std::vector<Array>{normals({4096, 2048}), normals({4096, 2048})});
                 }});
  return out;
}

}  // namespace bench
