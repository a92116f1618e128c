// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/cases.h"

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace reference {
namespace {

static_assert(std::endian::native == std::endian::little, "cases.bin is little-endian");

class Reader {
 public:
  /// Both live longer than the reader.
  Reader(const std::string& path, const std::string& bytes) : path_(path), bytes_(bytes) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::string text(size_t bytes) { return std::string(take(bytes), bytes); }
  std::string text() { return text(number<uint16_t>()); }
  bool done() const { return at_ == bytes_.size(); }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ", byte " + std::to_string(at_) + ": " + what);
  }

 private:
  const char* take(size_t bytes) {
    if (bytes > bytes_.size() - at_) fail("the file ends too early");
    at_ += bytes;
    return bytes_.data() + (at_ - bytes);
  }

  const std::string& path_;
  const std::string& bytes_;
  size_t at_ = 0;
};

std::string dtype(Reader& in) {
  static const char* const names[] = {"bool", "i32", "i64", "f32", "f64"};
  const auto index = in.number<uint8_t>();
  if (index >= std::size(names)) in.fail("no dtype has number " + std::to_string(index));
  return names[index];
}

double real(Reader& in, const std::string& dtype, int encoding) {
  if (encoding == 2) return in.number<int8_t>() / 32.0;
  return dtype == "f32" ? in.number<float>() : in.number<double>();
}

int64_t integer(Reader& in, const std::string& dtype, int encoding) {
  if (encoding == 1) return in.number<int8_t>();
  if (dtype == "bool") return in.number<uint8_t>();
  return dtype == "i32" ? in.number<int32_t>() : in.number<int64_t>();
}

Value value(Reader& in) {
  Value v;
  v.dtype = dtype(in);
  const int encoding = in.number<uint8_t>();
  if (encoding > 2) in.fail("no encoding has number " + std::to_string(encoding));
  size_t size = 1;
  v.shape.resize(in.number<uint8_t>());
  for (int64_t& d : v.shape) {
    d = in.number<uint16_t>();
    size *= static_cast<size_t>(d);
  }
  for (size_t i = 0; i < size; ++i) {
    if (v.floating())
      v.reals.push_back(real(in, v.dtype, encoding));
    else
      v.integers.push_back(integer(in, v.dtype, encoding));
  }
  return v;
}

std::vector<Value> values(Reader& in) {
  std::vector<Value> list;
  for (int n = in.number<uint8_t>(); n > 0; --n) list.push_back(value(in));
  return list;
}

Case read_case(Reader& in) {
  Case c;
  c.op = in.text();
  c.source = in.text();
  c.dtype = dtype(in);
  c.params = Params(in.text() + ";dtype=" + c.dtype);
  c.inputs = values(in);
  c.outputs = values(in);
  c.cotangents = values(in);
  for (int n = in.number<uint8_t>(); n > 0; --n) {
    const size_t input = in.number<uint8_t>();
    c.gradients.emplace_back(input, value(in));
  }
  return c;
}

}  // namespace

File read_cases(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path + " cannot be read");
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  Reader in(path, bytes);
  if (in.text(8) != "SPRREF1\n") in.fail("this is no file of cases");
  File file;
  file.header = in.text(in.number<uint32_t>());
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) file.cases.push_back(read_case(in));
  if (!in.done()) in.fail("more bytes than cases");
  return file;
}

Params::Params(const std::string& text) {
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ';');) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos) continue;
    values_[item.substr(0, equals)] = item.substr(equals + 1);
  }
}

std::string Params::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::runtime_error("the case has no parameter " + name);
  return found->second;
}

int64_t Params::integer(const std::string& name) const { return std::stoll(text(name)); }
int64_t Params::integer(const std::string& name, int64_t fallback) const {
  return has(name) ? integer(name) : fallback;
}
double Params::number(const std::string& name) const { return std::stod(text(name)); }
double Params::number(const std::string& name, double fallback) const {
  return has(name) ? number(name) : fallback;
}
bool Params::flag(const std::string& name, bool fallback) const {
  return has(name) ? text(name) == "true" : fallback;
}

std::vector<int64_t> Params::integers(const std::string& name) const {
  std::string list = text(name);
  for (char& c : list) {
    if (c == '[' || c == ']' || c == ',') c = ' ';
  }
  std::istringstream in(list);
  return {std::istream_iterator<int64_t>(in), {}};
}

std::string Params::to_string() const {
  std::string out;
  for (const auto& [name, value] : values_) out += (out.empty() ? "" : " ") + name + "=" + value;
  return out;
}

}  // namespace reference
