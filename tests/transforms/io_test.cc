// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/io.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "spruce/transforms/derive/grad.h"
#include "spruce/transforms/vmap/vmap.h"

namespace spruce {
namespace io_test {

TEST(IoTransforms, ATracedArrayHasNothingToSave) {
  const std::string path = testing::TempDir() + "spruce-traced.npy";
  const auto save = [&](const Array& x) {
    io::save_npy(path, x);
    return x;
  };
  try {
    (void)vmap(save)(array({1.0f, 2.0f}));
    FAIL() << "nothing was thrown";
  } catch (const TracerError& e) {
    EXPECT_THAT(e.what(),
                testing::HasSubstr("of type f32[] has no value while its function is traced; "
                                   "return it and save it outside"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(IoTransforms, UnderGradTheValueIsKnownAndSaved) {
  const std::string path = testing::TempDir() + "spruce-grad.npy";
  const auto loss = [&](const Array& x) {
    io::save_npy(path, x);
    return x * x;
  };
  EXPECT_EQ(grad(loss)(array(3.0f)).item<float>(), 6.0f);
  EXPECT_EQ(io::load_npy(path).item<float>(), 3.0f);
  std::filesystem::remove(path);
}

}  // namespace io_test
}  // namespace spruce
