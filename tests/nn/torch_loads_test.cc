// SPDX-License-Identifier: Apache-2.0
// Checkpoints of ours for PyTorch: check_torch_loads.py has this test write them into the folder
// SPRUCE_CHECKPOINTS, and loads them there. Without it they are written and read here.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/nn/torch_models.h"

namespace spruce::nn {
namespace torch_loads_test {

// Other arrays than those of a new module, running statistics too.
template <class Net>
void write(const std::string& folder, const std::string& name, const Array& x) {
  SCOPED_TRACE(name);
  Net net;
  int64_t seed = 0;
  NamedArrays values;
  for (const auto& [path, value] : net.named_parameters())
    values.insert(path, 0.5f * random::normal(Key(static_cast<uint64_t>(++seed)), value.shape()));
  net.set_arrays(values);
  (void)net(x);
  (void)net(x);
  net.eval();
  const Array y = net(x);
  for (const char* ending : {".pt", ".safetensors"}) {
    const std::string path = folder + "/" + name + ending;
    save_checkpoint(path, net.state_dict({.torch_names = true}));
    Net other;
    other.eval();
    other.load_state_dict(load_checkpoint(path));
    EXPECT_TRUE(array_equal(other(x), y));
  }
  io::save_npz(folder + "/" + name + "_example.npz", {{"x", x}, {"y", y}});
}

TEST(TorchLoads, FilesAreWritten) {
  const char* given = std::getenv("SPRUCE_CHECKPOINTS");
  const std::string folder = given != nullptr ? given : testing::TempDir() + "torch_loads_test";
  std::filesystem::create_directories(folder);
  const auto normal = [](const Shape& shape) { return random::normal(Key(9), shape); };
  write<Lenet>(folder, "lenet", normal({2, 1, 8, 8}));
  write<ResidualNet>(folder, "residual", normal({2, 3, 5, 5}));
  write<LstmNet>(folder, "lstm", normal({5, 2, 3}));
  write<EncoderLayer>(folder, "encoder", normal({2, 4, 8}));
  write<Gpt>(folder, "gpt", array({{1, 5, 0, 10, 3}, {2, 2, 7, 4, 9}}).astype(int64));
  if (given == nullptr) std::filesystem::remove_all(folder);
}

}  // namespace torch_loads_test
}  // namespace spruce::nn
