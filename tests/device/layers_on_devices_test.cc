// SPDX-License-Identifier: Apache-2.0
// Layers that are made on a device: {.device = &device} of init.
#include <gtest/gtest.h>

#include "spruce/spruce.h"
#include "tests/device/locked_device.h"

namespace spruce::nn {
namespace layers_on_devices_test {

using test_device::locked_device;

// All arrays are on the device, and the numbers are those of the host.
template <class L>
void check(const char* name, const L& there, const L& here) {
  SCOPED_TRACE(name);
  Device& device = locked_device();
  const std::vector<tree::Entry> a = tree::entries(there), b = tree::entries(here);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].value.aval().device, device.index()) << a[i].path;
    EXPECT_TRUE(allclose(to_device(a[i].value, cpu_device()), b[i].value, {.rtol = 1e-6}))
        << a[i].path;
  }
}

TEST(LayersOnDevices, AreMadeWhereTheirOptionsSay) {
  Device* d = &locked_device();
  const Key k(3);
  check("Linear", Linear::init(k, 4, 3, {.device = d}), Linear::init(k, 4, 3));
  check("Linear of a preset", Linear::init(k, 4, 3, {.device = d, .init = init::flax_v1}),
        Linear::init(k, 4, 3, {.init = init::flax_v1}));
  check("Bilinear", Bilinear::init(k, 4, 3, 2, {.device = d}), Bilinear::init(k, 4, 3, 2));
  check("Conv2d", Conv2d::init(k, 4, 3, 2, {.device = d}), Conv2d::init(k, 4, 3, 2));
  check("ConvTranspose1d", ConvTranspose1d::init(k, 4, 3, 2, {.device = d}),
        ConvTranspose1d::init(k, 4, 3, 2));
  check("Embedding", Embedding::init(k, 5, 3, {.device = d, .padding_idx = 1}),
        Embedding::init(k, 5, 3, {.padding_idx = 1}));
  check("EmbeddingBag", EmbeddingBag::init(k, 5, 3, {.device = d}), EmbeddingBag::init(k, 5, 3));
  check("LayerNorm", LayerNorm::init({3}, {.device = d}), LayerNorm::init({3}));
  check("BatchNorm", BatchNorm::init(3, {.device = d}), BatchNorm::init(3));
  check("GroupNorm", GroupNorm::init(2, 4, {.device = d}), GroupNorm::init(2, 4));
  check("InstanceNorm2d",
        InstanceNorm2d::init(3, {.affine = true, .track_running_stats = true, .device = d}),
        InstanceNorm2d::init(3, {.affine = true, .track_running_stats = true}));
  check("RMSNorm", RMSNorm::init({3}, {.device = d}), RMSNorm::init({3}));
  check("PReLU", PReLU::init(3, {.device = d}), PReLU::init(3));
  check("RNNCell", RNNCell::init(k, 3, 4, {.device = d}), RNNCell::init(k, 3, 4));
  check("LSTM", LSTM::init(k, 3, 4, {.num_layers = 2, .device = d, .proj_size = 2}),
        LSTM::init(k, 3, 4, {.num_layers = 2, .proj_size = 2}));
  check("GRU", GRU::init(k, 3, 4, {.bidirectional = true, .device = d}),
        GRU::init(k, 3, 4, {.bidirectional = true}));
  check("MultiheadAttention", MultiheadAttention::init(k, 4, 2, {.device = d, .add_bias_kv = true}),
        MultiheadAttention::init(k, 4, 2, {.add_bias_kv = true}));
  check("TransformerEncoder",
        TransformerEncoder::init(k, 4, 2, 2, {.dim_feedforward = 8, .device = d}),
        TransformerEncoder::init(k, 4, 2, 2, {.dim_feedforward = 8}));
  check("Transformer", Transformer::init(k, 4, 2, {1, 1, {.dim_feedforward = 8, .device = d}}),
        Transformer::init(k, 4, 2, {1, 1, {.dim_feedforward = 8}}));
  check("LearnedPositions", LearnedPositions::init(k, 5, 4, {.device = d}),
        LearnedPositions::init(k, 5, 4));
  check("AdaptiveLogSoftmaxWithLoss", AdaptiveLogSoftmaxWithLoss::init(k, 4, 9, {3}, {.device = d}),
        AdaptiveLogSoftmaxWithLoss::init(k, 4, 9, {3}));
}

}  // namespace layers_on_devices_test
}  // namespace spruce::nn
