// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/torch_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "spruce/core/io/zip.h"
#include "spruce/nn/pickle.h"

namespace spruce::nn {
namespace {

using internal::Pickle;
using internal::PickleKind;
using internal::PickleStorage;
using internal::PickleTensor;
using io::internal::MemorySource;
using io::internal::Source;
using io::internal::ZipEntry;

constexpr const char* kLoad = "load_torch";
constexpr const char* kPickle = "data.pkl";
constexpr uint64_t kMostPickle = uint64_t{1} << 26;  // state_dicts take 100 bytes for each tensor
constexpr uint64_t kSpare = uint64_t{1}
                            << 26;  // bytes that views may take beyond those of the file

std::optional<Dtype> dtype_of_name(const std::string& name) {
  static constexpr std::pair<std::string_view, Dtype> kKnown[] = {
      {"torch FloatStorage", float32}, {"torch DoubleStorage", float64},
      {"torch HalfStorage", float16},  {"torch BFloat16Storage", bfloat16},
      {"torch LongStorage", int64},    {"torch IntStorage", int32},
      {"torch ShortStorage", int16},   {"torch CharStorage", int8},
      {"torch ByteStorage", uint8},    {"torch BoolStorage", bool_},
      {"torch uint16", uint16},        {"torch uint32", uint32},
      {"torch uint64", uint64}};
  for (const auto& [known, dtype] : kKnown) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

class TorchReader {
 public:
  explicit TorchReader(const std::string& path) : source_(kLoad, path) {
    if (source_.size() >= 2) {
      char mark[2];
      source_.read(0, mark, 2, "the first bytes");
      if (mark[0] != 'P' || mark[1] != 'K') {
        source_.fail(
            0,
            "this is no zip archive, as torch.save writes since PyTorch 1.6; load an older "
            "file in PyTorch and save it again");
      }
    }
    for (ZipEntry& e : io::internal::read_zip_directory(source_)) {
      const std::string name = e.name;
      const uint64_t header = e.header;
      if (!entries_.emplace(name, std::move(e)).second)
        source_.fail(header, "the archive has two files with the name '" + name + "'");
      if (name == kPickle || name.ends_with(std::string("/") + kPickle))
        prefix_ = name.substr(0, name.size() - std::strlen(kPickle));
    }
    const auto order = entries_.find(prefix_ + "byteorder");
    if (order != entries_.end() && order->second.size <= 16) {
      const std::vector<uint8_t> text = io::internal::read_zip_entry(source_, order->second);
      swap_ = std::string(text.begin(), text.end()) == "big";
    }
  }

  NamedArrays read() {
    const auto entry = entries_.find(prefix_ + kPickle);
    if (entry == entries_.end())
      source_.fail(0, "the archive holds no data.pkl; it is no file of torch.save");
    if (entry->second.size > kMostPickle)
      source_.fail(entry->second.header, "its data.pkl is larger than 64 MiB");
    const MemorySource bytes(kLoad, source_.name() + "[" + kPickle + "]",
                             io::internal::read_zip_entry(source_, entry->second));
    const Pickle pickle(bytes);
    NamedArrays out;
    collect(pickle, out);
    return out;
  }

 private:
  // The tensors below the root, containers in their order. A container is entered once: one that
  // holds itself, or stands in many places, costs what it takes in the file.
  void collect(const Pickle& pickle, NamedArrays& out) {
    struct Item {
      std::string path;
      uint32_t value;
    };
    std::vector<Item> stack{{"", pickle.root()}};
    std::vector<bool> entered(pickle.size(), false);
    while (!stack.empty()) {
      const Item item = std::move(stack.back());
      stack.pop_back();
      const PickleKind kind = pickle.value(item.value).kind;
      if (kind == PickleKind::kTensor) {
        if (out.contains(item.path))
          source_.fail(0, "two tensors have the name '" + item.path + "'");
        out.insert(item.path, array(pickle, item.value, item.path));
        continue;
      }
      const bool dict = kind == PickleKind::kDict;
      if (!dict && kind != PickleKind::kList && kind != PickleKind::kTuple) continue;
      if (entered[item.value]) continue;
      entered[item.value] = true;
      const std::vector<uint32_t>& items = pickle.items(item.value);
      const size_t n = dict ? items.size() / 2 : items.size();
      for (size_t i = n; i-- > 0;) {
        const uint32_t part = dict ? items[2 * i + 1] : items[i];
        const PickleKind part_kind = pickle.value(part).kind;
        if (part_kind != PickleKind::kTensor && part_kind != PickleKind::kDict &&
            part_kind != PickleKind::kList && part_kind != PickleKind::kTuple)
          continue;
        std::string name = std::to_string(i);
        if (dict) {
          const internal::PickleValue& key = pickle.value(items[2 * i]);
          if (key.kind == PickleKind::kText)
            name = pickle.text(items[2 * i]);
          else if (key.kind == PickleKind::kInteger)
            name = std::to_string(key.number);
          else
            source_.fail(0, "a key of a dict with tensors is neither text nor an integer");
        }
        if (item.path.size() + name.size() > 4096)
          source_.fail(0, "a name in the file is longer than 4096 letters");
        stack.push_back({item.path.empty() ? name : item.path + "." + name, part});
      }
    }
  }

  // Tensors that are the same view of a storage share their array.
  Array array(const Pickle& pickle, uint32_t value, const std::string& name) {
    const PickleTensor& t = pickle.tensor(value);
    const PickleStorage& storage = pickle.storage(t.storage);
    const bool untyped = storage.type == "torch.storage UntypedStorage";
    const std::string& type = t.dtype.empty() ? storage.type : t.dtype;
    const std::optional<Dtype> dtype = dtype_of_name(type);
    if (!dtype)
      source_.fail(0, "'" + name + "' has elements of type '" + type + "', which Spruce lacks");
    std::string view = storage.key + ' ' + type + ' ' + std::to_string(t.offset);
    for (const auto* numbers : {&t.sizes, &t.strides}) {
      view += ';';
      for (const int64_t n : *numbers) view += ' ' + std::to_string(n);
    }
    Array& known = arrays_[view];
    if (known.defined()) return known;
    if (t.sizes.size() != t.strides.size() || t.offset < 0)
      source_.fail(0, "the shape and the strides of '" + name + "' do not fit");
    const Aval aval{.dtype = *dtype, .weak = false, .shape = Shape(std::span(t.sizes))};
    const uint64_t bytes = io::internal::byte_count(source_, 0, aval);
    const std::vector<uint8_t>& data = storage_bytes(storage.key);
    const auto width = static_cast<uint64_t>(size_of(*dtype));
    const uint64_t numel = data.size() / width;
    if (storage.numel < 0 || static_cast<uint64_t>(storage.numel) > (untyped ? data.size() : numel))
      source_.fail(0, "storage '" + storage.key + "' is smaller than the pickle says");
    check_view(t, bytes / width, numel, name);
    taken_ += bytes;
    if (taken_ / 4 > source_.size() + kSpare)
      source_.fail(0, "the tensors take many times the bytes of the file; it is damaged");
    const Array out = spruce::internal::make_array(aval);
    copy(t, width, data, static_cast<uint8_t*>(spruce::internal::mutable_data(out)));
    if (swap_) io::internal::swap_bytes(out);
    io::internal::check_bools(source_, 0, out);
    return known = out;
  }

  void check_view(const PickleTensor& t, uint64_t count, uint64_t numel,
                  const std::string& name) const {
    // The last element that is read: each term is below the number of elements of the storage, or
    // the sum is past it.
    uint64_t last = static_cast<uint64_t>(t.offset);
    bool fits = count == 0 || last < numel;
    for (size_t k = 0; fits && count > 0 && k < t.sizes.size(); ++k) {
      const auto steps = static_cast<uint64_t>(t.sizes[k] - 1);
      fits = t.strides[k] >= 0 &&
             (steps == 0 || static_cast<uint64_t>(t.strides[k]) <= (numel - 1 - last) / steps);
      if (fits) last += steps * static_cast<uint64_t>(t.strides[k]);
    }
    if (!fits) source_.fail(0, "'" + name + "' goes past the end of its storage");
  }

  static void copy(const PickleTensor& t, uint64_t width, const std::vector<uint8_t>& data,
                   uint8_t* out) {
    uint64_t count = 1;
    bool contiguous = true;
    for (size_t k = t.sizes.size(); k-- > 0;) {
      contiguous = contiguous && (t.sizes[k] == 1 || static_cast<uint64_t>(t.strides[k]) == count);
      count *= static_cast<uint64_t>(t.sizes[k]);
    }
    if (count == 0) return;
    const uint8_t* from = data.data() + static_cast<uint64_t>(t.offset) * width;
    if (contiguous) {
      std::memcpy(out, from, count * width);
      return;
    }
    std::vector<int64_t> index(t.sizes.size(), 0);
    int64_t at = 0;
    for (uint64_t i = 0; i < count; ++i, out += width) {
      std::memcpy(out, from + static_cast<uint64_t>(at) * width, width);
      for (size_t k = t.sizes.size(); k-- > 0;) {
        if (t.sizes[k] == 1) continue;  // its stride may be any number
        at += t.strides[k];
        if (++index[k] < t.sizes[k]) break;
        at -= t.strides[k] * t.sizes[k];
        index[k] = 0;
      }
    }
  }

  const std::vector<uint8_t>& storage_bytes(const std::string& key) {
    const auto [it, added] = storages_.try_emplace(key);
    if (!added) return it->second;
    const auto entry = entries_.find(prefix_ + "data/" + key);
    if (entry == entries_.end()) source_.fail(0, "storage '" + key + "' is not in the archive");
    it->second = io::internal::read_zip_entry(source_, entry->second);
    return it->second;
  }

  io::internal::FileSource source_;
  std::map<std::string, ZipEntry> entries_;
  std::string prefix_;
  bool swap_ = false;
  uint64_t taken_ = 0;
  std::map<std::string, std::vector<uint8_t>> storages_;
  std::map<std::string, Array> arrays_;  // by the view that they are
};

}  // namespace

NamedArrays load_torch(const std::string& path, Loc loc) {
  const LocScope at(loc);
  return TorchReader(path).read();
}

}  // namespace spruce::nn
