// SPDX-License-Identifier: Apache-2.0
// Layers and modules as text.
#include "spruce/nn/describe.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/nn/nets.h"

namespace spruce::nn {
namespace describe_test {

template <class L>
std::string printed(const L& layer) {
  std::ostringstream out;
  out << layer;
  EXPECT_EQ(out.str(), describe(layer));
  // A module of the layer prints the same.
  EXPECT_EQ(out.str(), Stateful<L>(layer).to_string());
  return out.str();
}

TEST(Describe, LayersAreTheirTypesAndOptions) {
  const Key k(0);
  EXPECT_EQ(printed(Linear::init(k, 4, 2)), "Linear(in_features=4, out_features=2, bias=true)");
  EXPECT_EQ(printed(Linear::init(k, 4, 2, {.bias = false})),
            "Linear(in_features=4, out_features=2, bias=false)");
  EXPECT_EQ(printed(Bilinear::init(k, 4, 3, 2)),
            "Bilinear(in1_features=4, in2_features=3, out_features=2, bias=true)");
  EXPECT_EQ(printed(Conv2d::init(k, 4, 8, {3, 5}, {.stride = 2, .padding = 1, .groups = 2})),
            "Conv2d(in_channels=4, out_channels=8, kernel_size=[3,5], stride=[2,2], padding=[1,1], "
            "dilation=[1,1], groups=2, padding_mode=zeros, bias=true)");
  EXPECT_EQ(
      printed(Conv1d::init(k, 4, 8, 3, {.bias = false, .padding_mode = PaddingMode::kCircular})),
      "Conv1d(in_channels=4, out_channels=8, kernel_size=[3], stride=[1], padding=[0], "
      "dilation=[1], groups=1, padding_mode=circular, bias=false)");
  EXPECT_EQ(
      printed(ConvTranspose2d::init(k, 4, 8, 3, {.stride = 2})),
      "ConvTranspose2d(in_channels=4, out_channels=8, kernel_size=[3,3], stride=2, padding=0, "
      "output_padding=0, groups=1, bias=true, dilation=1)");
  EXPECT_EQ(printed(BatchNorm::init(3)),
            "BatchNorm(num_features=3, affine=true, track_running_stats=true, eps=1e-05, "
            "momentum=0.1)");
  EXPECT_EQ(printed(LayerNorm::init({3, 4})),
            "LayerNorm(normalized_shape=[3,4], affine=true, eps=1e-05)");
  EXPECT_EQ(printed(GroupNorm::init(2, 6)),
            "GroupNorm(num_groups=2, num_channels=6, affine=true, eps=1e-05)");
  EXPECT_EQ(printed(Embedding::init(k, 9, 4, {.padding_idx = 1})),
            "Embedding(num_embeddings=9, embedding_dim=4, padding_idx=1)");
  EXPECT_EQ(printed(EmbeddingBag::init(k, 9, 4)),
            "EmbeddingBag(num_embeddings=9, embedding_dim=4, mode=mean, "
            "include_last_offset=false)");
  EXPECT_EQ(printed(PReLU::init(3)), "PReLU(num_parameters=3)");
  EXPECT_EQ(printed(Dropout{0.25f}), "Dropout(p=0.25)");
  EXPECT_EQ(printed(Dropout2d{}), "Dropout2d(p=0.5)");
  EXPECT_EQ(printed(MaxPool2d{.kernel = 2, .padding = {1, 0}}),
            "MaxPool2d(kernel=2, padding=[1,0], dilation=1, ceil_mode=false)");
  EXPECT_EQ(printed(ReflectionPad2d{3}), "ReflectionPad2d(padding=3)");
  EXPECT_EQ(printed(ZeroPad1d{{1, 2}}), "ZeroPad1d(padding=[1,2])");
  EXPECT_EQ(printed(ReLU{}), "ReLU()");
  EXPECT_EQ(printed(LeakyReLU{{.negative_slope = 0.2}}), "LeakyReLU(negative_slope=0.2)");
  EXPECT_EQ(printed(Hardswish{}), "Hardswish()");
  EXPECT_EQ(printed(Upsample{.scale_factor = 2, .mode = InterpolateMode::kBicubic}),
            "Upsample(mode=bicubic, scale_factor=2.0, align_corners=false)");
  EXPECT_EQ(printed(RNNCell::init(k, 3, 5)),
            "RNNCell(input_size=3, hidden_size=5, bias=true, nonlinearity=tanh)");
  EXPECT_EQ(describe(CrossEntropyLoss{{.label_smoothing = 0.1}}).substr(0, 17),
            "CrossEntropyLoss(");
}

TEST(Describe, LayersInLayersHaveLinesOfTheirOwn) {
  const auto encoder = TransformerEncoder::init(Key(0), 4, 2, 1, {.dim_feedforward = 8});
  EXPECT_EQ(printed(encoder),
            "TransformerEncoder(\n"
            "  (layers): ModuleList(\n"
            "    (0): TransformerEncoderLayer(\n"
            "      activation=relu, dropout=0.1, norm_first=false\n"
            "      (self_attn): MultiheadAttention(\n"
            "        embed_dim=4, num_heads=2, bias=true, dropout=0.1, batch_first=false, "
            "add_zero_attn=false, num_kv_heads=0\n"
            "        (out_proj): Linear(in_features=4, out_features=4, bias=true)\n"
            "      )\n"
            "      (linear1): Linear(in_features=4, out_features=8, bias=true)\n"
            "      (linear2): Linear(in_features=8, out_features=4, bias=true)\n"
            "      (norm1): LayerNorm(normalized_shape=[4], affine=true, eps=1e-05)\n"
            "      (norm2): LayerNorm(normalized_shape=[4], affine=true, eps=1e-05)\n"
            "    )\n"
            "  )\n"
            ")");
  EXPECT_EQ(printed(Residual{Linear::init(Key(0), 2, 2)}),
            "Residual(\n  (layer): Linear(in_features=2, out_features=2, bias=true)\n)");
  const auto net = sequential(dense(2), relu, sequential(dense(3)));
  EXPECT_EQ(describe(net.init(Key(0), ones({1, 4}))),
            "tuple(\n  (0): Linear(in_features=4, out_features=2, bias=true)\n"
            "  (2): tuple(\n    (0): Linear(in_features=2, out_features=3, bias=true)\n  )\n)");
}

TEST(Describe, StructsOfTheUserAreDescribedToo) {
  struct Scaled {
    Linear fc;
    Array scale;
    int64_t times = 2;
    std::pair<int64_t, int64_t> range = {1, 3};
    Array operator()(const Array& x) const { return fc(x) * scale; }
  };
  EXPECT_EQ(describe(Scaled{Linear::init(Key(0), 2, 3), ones({3})}),
            "Scaled(\n  scale=f32[3], times=2, range.0=1, range.1=3\n"
            "  (fc): Linear(in_features=2, out_features=3, bias=true)\n)");
}

// A layer says itself what is printed of it.
struct Scale {
  static constexpr std::string_view kExtraRepr =
      "features=scale.0 rest=scale.1+ volume=scale.1*times shift?shift way{up,down} -hidden";
  static constexpr const char* kClassName = "Scale2x";

  Array scale;
  std::optional<Array> shift = {};
  int64_t times = 2;
  int64_t way = 1;
  bool hidden = true;
  double eps = 0.5;
  Array operator()(const Array& x) const { return x * scale; }
};

TEST(Describe, ALayerOfOnesOwnSaysWhatIsPrintedOfIt) {
  EXPECT_EQ(printed(Scale{.scale = ones({3, 4})}),
            "Scale2x(features=3, rest=[4], volume=8, shift=false, way=down, times=2, eps=0.5)");
  EXPECT_EQ(Stateful<Scale>(Scale{.scale = ones({3, 4})}).name(), "Scale2x");
  const auto net = sequential(Scale{.scale = ones({3, 4})});
  try {
    net(net.init(Key(0), ones({3, 4})))(ones({5}));
    FAIL() << "no error";
  } catch (const ShapeError& e) {
    EXPECT_NE(std::string(e.what()).find("0 (Scale2x)"), std::string::npos) << e.what();
  }
  struct Linear {  // the name of one of ours says nothing
    Array weight;
    Array operator()(const Array& x) const { return x * weight; }
  };
  EXPECT_EQ(describe(Linear{ones({2, 2})}), "Linear(weight=f32[2,2])");
}

TEST(Describe, FunctionsWithOptionsHaveTheNamesOfTheirClasses) {
  EXPECT_EQ(describe(SiLU{}), "SiLU()");
  EXPECT_EQ(describe(Tanhshrink{}), "Tanhshrink()");
  EXPECT_EQ(describe(CELU{}).substr(0, 5), "CELU(");
  EXPECT_EQ(describe(GELU{{.approximate = GeluApproximation::kTanh}}), "GELU(approximate=tanh)");
  EXPECT_EQ(describe(MSELoss{{.reduction = Reduction::kSum}}), "MSELoss(reduction=sum)");
  EXPECT_EQ(describe(CrossEntropyLoss{}),
            "CrossEntropyLoss(reduction=mean, ignore_index=-100, label_smoothing=0.0)");
  EXPECT_EQ(describe(NLLLoss{{.weight = ones({3})}}),
            "NLLLoss(weight=f32[3], reduction=mean, ignore_index=-100)");
  EXPECT_EQ(describe(MultiLabelSoftMarginLoss{}).substr(0, 25), "MultiLabelSoftMarginLoss(");
  EXPECT_EQ(internal::name_of<TripletMarginWithDistanceLoss>(), "TripletMarginWithDistanceLoss");
  EXPECT_EQ(describe(CircularPad3d{1}), "CircularPad3d(padding=1)");
  EXPECT_EQ(describe(ConstantPad1d{1, 2.0}), "ConstantPad1d(padding=1, value=2.0)");
}

TEST(Describe, ModulesPrintAsPyTorchDoes) {
  Net net(Key(0));
  EXPECT_EQ(
      net.to_string(),
      "Net(\n"
      "  (block): Block(\n"
      "    (fc): Linear(in_features=4, out_features=8, bias=true)\n"
      "    (norm): BatchNorm(num_features=8, affine=true, track_running_stats=true, eps=1e-05, "
      "momentum=0.1)\n"
      "  )\n"
      "  (drop): Dropout(p=0.5)\n"
      "  (out): Linear(in_features=8, out_features=2, bias=true)\n"
      ")");
}

}  // namespace describe_test
}  // namespace spruce::nn
