// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "spruce/core/io/inflate.h"
#include "spruce/core/io/zip.h"
#include "spruce/nn/torch_file.h"

namespace spruce::nn {
namespace {

constexpr const char* kSave = "save_torch";

// PyTorch's name of the storage of a dtype; empty for those that have none of their own.
std::string storage_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32:
      return "FloatStorage";
    case Dtype::kFloat64:
      return "DoubleStorage";
    case Dtype::kFloat16:
      return "HalfStorage";
    case Dtype::kBfloat16:
      return "BFloat16Storage";
    case Dtype::kInt64:
      return "LongStorage";
    case Dtype::kInt32:
      return "IntStorage";
    case Dtype::kInt16:
      return "ShortStorage";
    case Dtype::kInt8:
      return "CharStorage";
    case Dtype::kUint8:
      return "ByteStorage";
    case Dtype::kBool:
      return "BoolStorage";
    default:
      return "";
  }
}

// A pickle of protocol 2.
class PickleWriter {
 public:
  std::string bytes = "\x80\x02";

  void global(const std::string& of, const std::string& name) {
    bytes += 'c' + of + '\n' + name + '\n';
  }
  void text(const std::string& s) {
    bytes += 'X';
    little(s.size(), 4);
    bytes += s;
  }
  void integer(int64_t n) {
    bytes += "\x8a\x08";  // LONG1 of 8 bytes
    little(static_cast<uint64_t>(n), 8);
  }
  void op(const char* opcodes) { bytes += opcodes; }
  void integers(const std::vector<int64_t>& all) {
    op("(");
    for (const int64_t n : all) integer(n);
    op("t");
  }
  void ordered_dict() {
    global("collections", "OrderedDict");
    op(")R");
  }
  void tensor(const Array& a, const std::string& key) {
    const std::string type = storage_type(a.dtype());
    global("torch._utils", type.empty() ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
    op("((");
    text("storage");
    global(type.empty() ? "torch.storage" : "torch", type.empty() ? "UntypedStorage" : type);
    text(key);
    text("cpu");
    integer(type.empty() ? a.nbytes() : a.size());
    op("tQ");
    integer(0);
    std::vector<int64_t> sizes(a.shape().begin(), a.shape().end()), strides(sizes.size());
    int64_t step = 1;
    for (size_t k = sizes.size(); k-- > 0;) {
      strides[k] = step;
      step *= sizes[k] > 0 ? sizes[k] : 1;
    }
    integers(sizes);
    integers(strides);
    op("\x89");
    ordered_dict();
    if (type.empty()) global("torch", std::string(name(a.dtype())));
    op("tR");
  }

 private:
  void little(uint64_t n, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(n >> (8 * i) & 0xff);
  }
};

struct Part {
  std::string name;
  const void* data;
  uint64_t size;
};

}  // namespace

void save_torch(const std::string& path, const NamedArrays& arrays, Loc loc) {
  const LocScope at(loc);
  std::vector<Part> parts;
  std::vector<Array> held;  // what the parts point into
  std::map<std::pair<const void*, Dtype>, std::string> keys;
  PickleWriter pickle;
  pickle.ordered_dict();
  pickle.op("(");
  for (const auto& [name, array] : arrays) {
    held.push_back(io::internal::saved_array(kSave, name, array));
    const void* data = io::internal::bytes_of(held.back());
    const auto bytes = static_cast<uint64_t>(array.nbytes());
    // Memory of no bytes has no place that tells it apart.
    std::string key = std::to_string(parts.size());
    bool fresh = true;
    if (bytes > 0) {
      const auto [it, added] = keys.try_emplace({data, array.dtype()}, key);
      const bool same = !added && parts[std::stoul(it->second)].size == bytes;
      fresh = !same;
      if (same) key = it->second;
    }
    if (fresh) parts.push_back({"archive/data/" + key, data, bytes});
    pickle.text(name);
    pickle.tensor(array, key);
  }
  pickle.op("u.");
  static constexpr std::string_view kOrder = "little", kVersion = "3\n";
  parts.insert(parts.begin(), {"archive/byteorder", kOrder.data(), kOrder.size()});
  parts.insert(parts.begin(), {"archive/data.pkl", pickle.bytes.data(), pickle.bytes.size()});
  parts.push_back({"archive/version", kVersion.data(), kVersion.size()});
  io::internal::AtomicFile file(kSave, path);
  io::internal::ZipWriter zip(file);
  for (const Part& p : parts) {
    zip.begin(p.name, p.size, io::internal::crc32(0, p.data, p.size));
    file.write(p.data, p.size);
  }
  zip.finish();
  file.commit();
}

}  // namespace spruce::nn
