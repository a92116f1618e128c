// SPDX-License-Identifier: Apache-2.0
// Python's pickles, as far as files of PyTorch need them: an interpreter of the opcodes that make
// tensors, numbers, text and containers. Nothing is imported or called. Of the library.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/io/source.h"

namespace spruce::nn::internal {

/// What a value in a pickle is.
enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInteger,
  kFloat,
  kText,     // text(v)
  kTuple,    // items(v)
  kList,     // items(v)
  kDict,     // items(v): keys and values in turn
  kGlobal,   // text(v): "torch FloatStorage"
  kStorage,  // storage(v)
  kTensor,   // tensor(v)
  kOther     // something that holds no tensor
};

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  uint32_t index = 0;  // of a text, of items, of a storage, of a tensor
  int64_t number = 0;  // of an integer or a bool
};

/// A block of memory that stands in a file of its own in the archive.
struct PickleStorage {
  std::string key;   // of the file
  std::string type;  // "torch FloatStorage"
  int64_t numel;     // bytes for "torch.storage UntypedStorage"
};

/// A view of a storage.
struct PickleTensor {
  uint32_t storage;
  int64_t offset;  // in elements
  std::vector<int64_t> sizes, strides;
  std::string dtype;  // "torch uint16", where the storage does not say it
};

/// A pickle that has been read. Values refer to each other by their numbers, so that it may hold
/// itself.
class Pickle {
 public:
  /// Reads the whole source. Throws IoError, with the byte, for opcodes and globals that tensors do
  /// not need, and for what is no pickle.
  explicit Pickle(const io::internal::Source& source);

  uint32_t root() const { return root_; }
  const PickleValue& value(uint32_t v) const { return values_[v]; }
  const std::string& text(uint32_t v) const { return texts_[values_[v].index]; }
  const std::vector<uint32_t>& items(uint32_t v) const { return items_[values_[v].index]; }
  const PickleTensor& tensor(uint32_t v) const { return tensors_[values_[v].index]; }
  const PickleStorage& storage(uint32_t index) const { return storages_[index]; }
  size_t size() const { return values_.size(); }

 private:
  friend class PickleReader;
  std::vector<PickleValue> values_;
  std::vector<std::string> texts_;
  std::vector<std::vector<uint32_t>> items_;
  std::vector<PickleStorage> storages_;
  std::vector<PickleTensor> tensors_;
  uint32_t root_ = 0;
};

}  // namespace spruce::nn::internal
