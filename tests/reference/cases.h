// SPDX-License-Identifier: Apache-2.0
// Reads cases.bin: what JAX and PyTorch say of one operation on given inputs. generate.py makes the
// file and generator/container.py describes it; nothing here knows Spruce.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace reference {

/// One stored array: floats in `reals` (f32 widened), integers and bool in `integers`.
struct Value {
  std::string dtype;  // "bool", "i32", "i64", "f32", "f64"
  std::vector<int64_t> shape;
  std::vector<double> reals;
  std::vector<int64_t> integers;

  bool floating() const { return dtype[0] == 'f'; }
  size_t size() const { return floating() ? reals.size() : integers.size(); }
};

/// The options of a case, as text by name. Reading one that is absent gives the fallback, or throws
/// without one.
class Params {
 public:
  Params() = default;
  /// From `name=value;name=[1,2]`. The dtype of the case is among them as `dtype`.
  explicit Params(const std::string& text);

  bool has(const std::string& name) const { return values_.count(name) != 0; }
  std::string text(const std::string& name) const;
  int64_t integer(const std::string& name) const;
  int64_t integer(const std::string& name, int64_t fallback) const;
  double number(const std::string& name) const;
  double number(const std::string& name, double fallback) const;
  bool flag(const std::string& name, bool fallback = false) const;
  /// A list; a single number is a list of one.
  std::vector<int64_t> integers(const std::string& name) const;
  /// All of it, for messages.
  std::string to_string() const;

 private:
  std::map<std::string, std::string> values_;
};

struct Case {
  std::string op;      // the operation of Spruce
  std::string source;  // "jax", "torch", "opinfo"
  std::string dtype;   // the floating dtype that it is run in
  Params params;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Value> cotangents;  // one for each floating output; none: values only
  std::vector<std::pair<size_t, Value>> gradients;  // with respect to which input
};

struct File {
  std::string header;  // JSON: versions and seed
  std::vector<Case> cases;
};

/// Throws std::runtime_error naming the path if the file is missing, cut short or of another
/// format.
File read_cases(const std::string& path);

}  // namespace reference
