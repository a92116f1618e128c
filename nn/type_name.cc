// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/type_name.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace spruce::nn::internal {
namespace {

std::string demangled(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type.name();
}

// What stands after the last "::" outside of <...> and (...).
std::string without_namespaces(const std::string& name) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') begin = i + 2;
  }
  return name.substr(begin);
}

// Classes of PyTorch whose names are not those of their functions with large letters at the
// beginnings of words.
struct Irregular {
  std::string_view function, name;
};
constexpr Irregular kIrregular[] = {
    {"relu", "ReLU"},
    {"relu6", "ReLU6"},
    {"selu", "SELU"},
    {"silu", "SiLU"},
    {"logsigmoid", "LogSigmoid"},
    {"gelu", "GELU"},
    {"elu", "ELU"},
    {"celu", "CELU"},
    {"leaky_relu", "LeakyReLU"},
    {"binary_cross_entropy", "BCELoss"},
    {"binary_cross_entropy_with_logits", "BCEWithLogitsLoss"},
    {"bce_with_logits", "BCEWithLogitsLoss"},
    {"cosine_embedding_loss", "CosineEmbeddingLoss"},
    {"cross_entropy", "CrossEntropyLoss"},
    {"ctc_loss", "CTCLoss"},
    {"gaussian_nll_loss", "GaussianNLLLoss"},
    {"kl_div", "KLDivLoss"},
    {"l1_loss", "L1Loss"},
    {"mse_loss", "MSELoss"},
    {"multilabel_margin_loss", "MultiLabelMarginLoss"},
    {"multilabel_soft_margin_loss", "MultiLabelSoftMarginLoss"},
    {"nll_loss", "NLLLoss"},
    {"poisson_nll_loss", "PoissonNLLLoss"},
    {"smooth_l1_loss", "SmoothL1Loss"},
};

std::string class_of_function(std::string_view function) {
  for (const Irregular& i : kIrregular) {
    if (i.function == function) return std::string(i.name);
  }
  std::string name;
  bool word = true;
  for (const char c : function) {
    if (c != '_') name += word ? static_cast<char>(std::toupper(c)) : c;
    word = c == '_';
  }
  return name;
}

// The first argument of a template without namespaces and parentheses.
std::string first_argument(const std::string& name) {
  std::string out;
  for (size_t i = name.find('<') + 1; i < name.size() && name[i] != ',' && name[i] != '>'; ++i) {
    if (name[i] == ':')
      out.clear();
    else if (std::isalnum(static_cast<unsigned char>(name[i])) || name[i] == '_')
      out += name[i];
  }
  return out;
}

}  // namespace

std::string type_name(const std::type_info& type) {
  const std::string name = without_namespaces(demangled(type));
  const size_t open = name.find('<');
  if (open == name.npos) return name;
  const std::string of = name.substr(0, open), first = first_argument(name);
  if (of == "FunctionLayer" || of == "FunctionLayerWith" || of == "LossLayer")
    return class_of_function(first);
  if (first.size() != 1 || first < "1" || first > "3") return name;
  if (of == "ChannelDropout") return "Dropout" + first + "d";
  if (of == "PaddingLayer") {
    constexpr const char* kModes[] = {"Zero", "Reflection", "Replication", "Circular"};
    const auto mode = static_cast<size_t>(name[name.size() - 2] - '0');
    return (mode < 4 ? kModes[mode] : "") + ("Pad" + first) + "d";
  }
  return of + first + "d";
}

}  // namespace spruce::nn::internal
