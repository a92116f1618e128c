// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/io/function_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "spruce/core/error_text.h"
#include "spruce/core/graph/text.h"
#include "spruce/core/io/atomic_file.h"
#include "spruce/core/io/inflate.h"
#include "spruce/core/ops/to_device.h"
#include "spruce/core/tree/path.h"

namespace spruce::io {
namespace {

constexpr char kMagic[] = "SPRUCEFN";
constexpr uint32_t kVersion = 2;  // 1 had paths like "[0].layers[1].weight"
constexpr uint64_t kTextBegin = 32;
constexpr uint64_t kAlignment = 64;
constexpr const char* kKinds[] = {"leaf", "buffer", "key", "none", "static", "size", "entry"};

uint64_t aligned(uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    if (c == '\n')
      s += "\\n";
    else
      s += c;
  }
  return s + '"';
}

void write_form(std::string& text, const char* name, const std::vector<FormLine>& lines) {
  text += std::string(name) + " " + std::to_string(lines.size()) + "\n";
  for (const FormLine& l : lines)
    text += l.kind + " " + quoted(l.path) + " " + quoted(l.value) + "\n";
}

// Reads the lines of forms at the beginning of the text.
class FormReader {
 public:
  explicit FormReader(std::string_view text) : text_(text) {}

  std::vector<FormLine> form(std::string_view name) {
    expect(name);
    expect(" ");
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    uint64_t n = 0;
    const auto end = std::from_chars(text_.data() + start, text_.data() + at_, n);
    if (end.ec != std::errc() || n > text_.size()) fail("the number of lines is no number");
    expect("\n");
    std::vector<FormLine> lines;
    for (uint64_t i = 0; i < n; ++i) {
      FormLine l;
      while (at_ < text_.size() && text_[at_] != ' ') l.kind += text_[at_++];
      if (std::find(std::begin(kKinds), std::end(kKinds), l.kind) == std::end(kKinds))
        fail("`" + l.kind.substr(0, 20) + "` is nothing that a tree has");
      expect(" ");
      l.path = string();
      expect(" ");
      l.value = string();
      expect("\n");
      lines.push_back(std::move(l));
    }
    return lines;
  }
  size_t at() const { return at_; }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw GraphError("at byte " + std::to_string(at_) + " of the text: " + what);
  }
  void expect(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) fail("`" + std::string(word) + "` is due");
    at_ += word.size();
  }
  std::string string() {
    expect("\"");
    std::string s;
    while (at_ < text_.size() && text_[at_] != '"') {
      const bool escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
      if (escaped) ++at_;
      s += escaped && text_[at_] == 'n' ? '\n' : text_[at_];
      ++at_;
    }
    expect("\"");
    return s;
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool is_leaf(const FormLine& l) {
  return l.kind == "leaf" || l.kind == "buffer" || l.kind == "key";
}

void check_count(const char* what, const std::vector<FormLine>& form, size_t values) {
  const auto leaves = static_cast<size_t>(std::count_if(form.begin(), form.end(), is_leaf));
  if (leaves != values) {
    throw GraphError("its " + std::string(what) + " have " + std::to_string(leaves) +
                     " leaves, the graph has " + std::to_string(values));
  }
}

// The nested graphs too: no equation may need what has no text.
void check_saveable(const Graph& graph) {
  for (const Equation& e : graph.equations) {
    if (std::string_view(e.primitive->name).substr(0, 7) == "custom_") {
      throw GraphError(std::string("save_function: the function holds ") + e.primitive->name +
                       (e.place.empty() ? "" : " (" + e.place + ")") +
                       ", whose rule is code and cannot be saved; save a function that does not "
                       "differentiate it in forward mode");
    }
    if (e.params.empty()) continue;
    e.params.base()->visit_graphs([](const GraphPtr& g) {
      if (g != nullptr) check_saveable(*g);
    });
  }
  for (const Graph::Constant& c : graph.constants) {
    if (c.value.is_tracer())
      throw TracerError(
          "save_function: the function uses a traced value of a transform that is "
          "running; save it outside of grad, vmap and jit");
  }
}

uint32_t checksum(const internal::Source& source) {
  uint32_t crc = 0;
  for (uint64_t at = 16; at < source.size();) {
    const uint64_t n = std::min<uint64_t>(source.size() - at, 1 << 20);
    const std::vector<uint8_t> bytes = source.bytes(at, n, "the file");
    crc = internal::crc32(crc, bytes.data(), n);
    at += n;
  }
  return crc;
}

// Throws IoError unless the head fits the file; gives the bytes of the text.
uint64_t read_head(const internal::Source& source) {
  char magic[8];
  source.read(0, magic, sizeof magic, "the head of the file");
  if (std::memcmp(magic, kMagic, sizeof magic) != 0)
    source.fail(0, "this is no file of a function: such a file begins with SPRUCEFN");
  const auto version = source.number<uint32_t>(8, "the version");
  if (version > kVersion) {
    source.fail(8, "the file has version " + std::to_string(version) +
                       " of the format, and this library reads up to version " +
                       std::to_string(kVersion) + "; update Spruce where it is read");
  }
  if (version == 0) source.fail(8, "there is no version 0 of the format; the file is damaged");
  const auto crc = source.number<uint32_t>(12, "the checksum");
  const auto text = source.number<uint64_t>(16, "the length of the text");
  const auto whole = source.number<uint64_t>(24, "the length of the file");
  if (whole != source.size()) {
    source.fail(24, "the file is to have " + std::to_string(whole) + " bytes and has " +
                        std::to_string(source.size()) + "; it is cut short or damaged");
  }
  source.require(kTextBegin, text, "the text");
  if (checksum(source) != crc)
    source.fail(12, "the bytes do not fit their checksum; the file is damaged");
  return text;
}

}  // namespace

void save_function_file(const std::string& path, const FunctionFile& function) {
  constexpr const char* kOp = "save_function";
  check_saveable(function.graph);
  std::string text;
  write_form(text, "arguments", function.arguments);
  write_form(text, "result", function.result);
  std::vector<Array> constants;
  text += spruce::internal::graph_text(function.graph, constants) + "\n";

  // The checksum stands before the bytes: they are gone through twice.
  uint64_t end = kTextBegin + text.size();
  for (const Array& a : constants) end = aligned(end) + static_cast<uint64_t>(a.nbytes());
  const uint64_t lengths[] = {text.size(), end};
  const auto body = [&](auto&& give) {
    static constexpr char kZeros[kAlignment] = {};
    uint64_t at = kTextBegin;
    give(lengths, sizeof lengths);
    give(text.data(), text.size());
    at += text.size();
    for (const Array& a : constants) {
      give(kZeros, aligned(at) - at);
      const auto n = static_cast<uint64_t>(a.nbytes());
      give(internal::bytes_of(internal::saved_array(kOp, "a constant", a)), n);
      at = aligned(at) + n;
    }
  };
  uint32_t crc = 0;
  body([&](const void* data, uint64_t n) { crc = internal::crc32(crc, data, n); });
  internal::AtomicFile file(kOp, path);
  file.write(kMagic, 8);
  file.write(&kVersion, sizeof kVersion);
  file.write(&crc, sizeof crc);
  body([&](const void* data, uint64_t n) { file.write(data, n); });
  file.commit();
}

namespace internal {

FunctionFile read_function(const Source& source) {
  const uint64_t length = read_head(source);
  const std::vector<uint8_t> bytes = source.bytes(kTextBegin, length, "the text");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  uint64_t end = kTextBegin + length;
  std::vector<Array> read;
  const auto constant = [&](int64_t number, const Aval& type) -> Array {
    const auto i = static_cast<size_t>(number);
    if (number < 0 || i > read.size())
      throw GraphError("constant " + std::to_string(number) + " is not in its order");
    if (i < read.size()) {
      if (!(read[i].aval() == type))
        throw GraphError("constant " + std::to_string(number) + " is " + to_string(read[i].aval()) +
                         " and not " + to_string(type));
      return read[i];
    }
    const uint64_t begin = aligned(end);
    source.require(begin, byte_count(source, begin, type), "a constant");
    read.push_back(read_array(source, begin, type));
    end = begin + static_cast<uint64_t>(read.back().nbytes());
    return read.back();
  };
  FunctionFile f;
  try {
    FormReader forms(text);
    f.arguments = forms.form("arguments");
    f.result = forms.form("result");
    if (source.number<uint32_t>(8, "the version") < 2) {
      for (auto* form : {&f.arguments, &f.result})
        for (FormLine& l : *form) l.path = tree::internal::loose_path(l.path);
    }
    f.graph = spruce::internal::parse_graph(text.substr(forms.at()), constant);
    check_count("arguments", f.arguments, f.graph.inputs.size());
    check_count("results", f.result, f.graph.outputs.size());
  } catch (const IoError&) {
    throw;
  } catch (const Error& e) {
    source.fail(kTextBegin, std::string("the function in it cannot be used here (was it saved by a "
                                        "newer library?): ") +
                                spruce::internal::without_place(e));
  }
  if (end != source.size())
    source.fail(end, "there are bytes that belong to no constant; the file is damaged");
  return f;
}

}  // namespace internal

FunctionFile load_function_file(const std::string& path) {
  return internal::read_function(internal::FileSource("load_function", path));
}

}  // namespace spruce::io
