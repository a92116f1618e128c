// SPDX-License-Identifier: Apache-2.0
// The text of a graph read back: a recursive descent over what Graph::text writes.
#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "spruce/core/error_text.h"
#include "spruce/core/graph/arity.h"
#include "spruce/core/graph/graph.h"
#include "spruce/core/graph/text.h"

namespace spruce {
namespace {

constexpr int kMaxDepth = 64;  // of graphs within graphs

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser final : public internal::ParamReader {
 public:
  Parser(std::string_view text, const internal::ConstantSource* constants)
      : text_(text), constants_(constants) {}

  Graph whole() {
    Graph g = graph();
    if (peek() != '\0') fail("the end of the text is due");
    return g;
  }

  void read(std::string_view name, bool& v) override { v = boolean(at(name)); }
  void read(std::string_view name, int64_t& v) override { v = number<int64_t>(at(name)); }
  void read(std::string_view name, double& v) override { v = number<double>(at(name)); }
  void read(std::string_view name, Dtype& v) override { v = dtype(at(name)); }
  void read(std::string_view name, std::string& v) override { v = string(at(name)); }
  void read(std::string_view name, Shape& v) override { v = shape(at(name)); }
  void read(std::string_view name, std::vector<int64_t>& v) override {
    at(name);
    expect('(');
    v.clear();
    while (peek() != ')') {
      if (!v.empty()) expect(',');
      v.push_back(number<int64_t>(*this));
    }
    expect(')');
  }
  void read(std::string_view name, GraphPtr& v) override {
    at(name);
    if (accept("none"))
      v = nullptr;
    else
      v = std::make_shared<const Graph>(graph());
  }
  void read(std::string_view name, std::vector<GraphPtr>& v) override {
    at(name);
    expect('(');
    v.clear();
    while (peek() != ')') {
      if (!v.empty()) expect(',');
      v.push_back(std::make_shared<const Graph>(graph()));
    }
    expect(')');
  }
  void read(std::string_view name, Opaque& v) override {
    at(name);
    if (!accept("none") && !accept("rule")) fail("`rule` or `none` is due");
    v = nullptr;
  }

 private:
  // The values of one graph. A name says the number: a is 0, z is 25, a1 is 26.
  using Defined = std::unordered_map<ValueId, Aval>;
  struct Definition {
    ValueId id;
    Aval aval;
    size_t pos;
  };

  [[noreturn]] void fail(const std::string& what) { fail_at(pos_, what); }
  [[noreturn]] void fail_at(size_t pos, const std::string& what) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < pos && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n' ? 1 : 0;
    }
    throw GraphError("parse_graph: line " + std::to_string(line) + ", column " +
                     std::to_string(column) + ": " + what);
  }

  /// The next character behind white space; '\0' at the end.
  char peek() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n')) ++pos_;
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  void expect(char c) {
    if (peek() != c) fail(std::string("`") + c + "` is due" + found());
    ++pos_;
  }
  std::string found() {
    if (peek() == '\0') return ", and the text ends";
    return std::string(", and there is `") + text_[pos_] + "`";
  }
  bool accept(std::string_view word) {
    peek();
    if (text_.substr(pos_, word.size()) != word) return false;
    if (pos_ + word.size() < text_.size() && is_name(text_[pos_ + word.size()])) return false;
    pos_ += word.size();
    return true;
  }
  std::string_view word(const char* what) {
    peek();
    const size_t start = pos_;
    while (pos_ < text_.size() && is_name(text_[pos_])) ++pos_;
    if (start == pos_) fail(std::string(what) + " is due" + found());
    return text_.substr(start, pos_ - start);
  }
  /// The text up to white space or a delimiter: a number.
  std::string_view token() {
    peek();
    const size_t start = pos_;
    while (pos_ < text_.size() &&
           std::string_view(" \n,)]}").find(text_[pos_]) == std::string_view::npos)
      ++pos_;
    return text_.substr(start, pos_ - start);
  }

  template <class T>
  static T number(Parser& p) {
    p.peek();
    const size_t start = p.pos_;
    const std::string_view s = p.token();
    T v{};
    const auto result = std::from_chars(s.data(), s.data() + s.size(), v);
    if (result.ec == std::errc::result_out_of_range)
      p.fail_at(start, "`" + std::string(s) + "` is out of range");
    if (result.ec != std::errc() || result.ptr != s.data() + s.size())
      p.fail_at(start, "a number is due");
    return v;
  }
  static bool boolean(Parser& p) {
    if (p.accept("true")) return true;
    if (!p.accept("false")) p.fail("`true` or `false` is due" + p.found());
    return false;
  }
  static Dtype dtype(Parser& p) {
    p.peek();
    const size_t start = p.pos_;
    const std::string_view name = p.word("a dtype");
    try {
      return parse_dtype(name);
    } catch (const DtypeError&) {
      p.fail_at(start, "`" + std::string(name) + "` is no dtype");
    }
  }
  static std::string string(Parser& p) {
    p.expect('"');
    std::string s;
    while (p.pos_ < p.text_.size() && p.text_[p.pos_] != '"') {
      const bool escaped = p.text_[p.pos_] == '\\';
      if (escaped) ++p.pos_;
      if (p.pos_ >= p.text_.size()) break;
      s += escaped && p.text_[p.pos_] == 'n' ? '\n' : p.text_[p.pos_];
      ++p.pos_;
    }
    if (p.pos_ >= p.text_.size()) p.fail("the string does not end");
    ++p.pos_;
    return s;
  }
  static Shape shape(Parser& p) {
    p.expect('[');
    Shape s;
    while (p.peek() != ']') {
      if (!s.empty()) p.expect(',');
      const size_t start = p.pos_;
      if (s.rank() == kMaxRank) p.fail_at(start, "more than " + std::to_string(kMaxRank) + " axes");
      s.push_back(number<int64_t>(p));
    }
    p.expect(']');
    return s;
  }
  Aval aval() {
    Aval a;
    a.dtype = dtype(*this);
    if (peek() == '*') {
      ++pos_;
      a.weak = true;
    }
    const size_t start = pos_;
    a.shape = shape(*this);
    try {
      check_shape("parse_graph", a.shape, size_of(a.dtype));
    } catch (const ShapeError& e) {
      fail_at(start, internal::without_place(e));
    }
    if (text_.substr(pos_, 1) == "@") a.device = device();
    return a;
  }
  /// "@cuda:0" behind a type.
  uint8_t device() {
    const size_t start = ++pos_;
    pos_ = std::min(text_.find_first_of(" ,)]\n", pos_), text_.size());
    const std::string_view name = text_.substr(start, pos_ - start);
    const Device* found = find_device(name);
    if (found == nullptr) fail_at(start, "there is no device `" + std::string(name) + "` here");
    return found->index();
  }

  /// Goes to the value of the parameter, which is the next one.
  Parser& at(std::string_view name) {
    peek();
    const size_t start = pos_;
    const std::string_view found = word("a parameter");
    if (found != name)
      fail_at(start, "the parameter " + std::string(name) + " is due, and there is `" +
                         std::string(found) + "`");
    expect('=');
    return *this;
  }

  ValueId value_id(std::string_view name, size_t pos) {
    // Each value takes more than one character, so that a number past the text's length is a
    // mistake.
    const auto most = static_cast<int64_t>(std::min(text_.size(), size_t{1} << 30));
    int64_t turn = 0;
    const char* end = name.data() + name.size();
    const auto result = std::from_chars(name.data() + 1, end, turn);
    const bool plain = name.size() == 1;
    if (name[0] < 'a' || name[0] > 'z' ||
        (!plain && (result.ec != std::errc() || result.ptr != end || name[1] == '0')) ||
        turn > most / 26) {
      fail_at(pos,
              "`" + std::string(name) + "` is no name of a value: a to z, a1 to z1, a2 and so on");
    }
    return static_cast<ValueId>(turn * 26 + (name[0] - 'a'));
  }
  Definition definition() {
    peek();
    Definition d{0, {}, pos_};
    d.id = value_id(word("the name of a value"), d.pos);
    expect(':');
    d.aval = aval();
    return d;
  }
  void define(Defined& defined, const Definition& d) {
    if (!defined.emplace(d.id, d.aval).second) fail_at(d.pos, "this value is defined twice");
  }
  ValueId use(const Defined& defined) {
    peek();
    const size_t start = pos_;
    const std::string_view name = word("the name of a value");
    const ValueId v = value_id(name, start);
    if (defined.count(v) == 0)
      fail_at(start, "`" + std::string(name) + "` is not defined before it is used");
    return v;
  }
  /// Values up to the end of the line.
  std::vector<ValueId> uses(const Defined& defined) {
    std::vector<ValueId> ids;
    while (text_.substr(pos_, 1) == " " && text_.substr(pos_, 4) != " // ")
      ids.push_back(use(defined));
    return ids;
  }
  /// The user's line behind an equation, where there is one.
  std::string place() {
    if (text_.substr(pos_, 4) != " // ") return "";
    const size_t start = pos_ + 4;
    pos_ = std::min(text_.find('\n', start), text_.size());
    return std::string(text_.substr(start, pos_ - start));
  }

  template <class T>
  T element() {
    if constexpr (std::is_same_v<T, bool>)
      return boolean(*this);
    else if constexpr (kIsHalf<T>)
      return T(number<float>(*this));
    else
      return number<T>(*this);
  }
  Array constant(const Aval& a) {
    expect('{');
    if (peek() == '@' && constants_ != nullptr) {
      ++pos_;
      const size_t start = pos_;
      const Array out = (*constants_)(number<int64_t>(*this), a);
      if (!(out.aval() == a)) fail_at(start, "that constant is " + to_string(out.aval()));
      expect('}');
      return out;
    }
    if (peek() == '.') fail("the elements are left out; write the graph with text(true)");
    // An element takes two characters, so that a wrong shape does not make a large array.
    if (a.numel() > static_cast<int64_t>(text_.size() - pos_))
      fail("fewer elements than " + to_string(a) + " has");
    Aval on_host = a;
    on_host.device = 0;
    const Array out = internal::make_array(on_host);
    visit_dtype(a.dtype, [&]<class T>(T) {
      T* data = static_cast<T*>(internal::mutable_data(out));
      for (int64_t i = 0; i < a.numel(); ++i) data[i] = element<T>();
    });
    expect('}');
    return a.device == 0 ? out : internal::make_array(a, internal::mutable_data(out));
  }

  void equation(Graph& g, Defined& defined) {
    std::vector<Definition> outputs = {definition()};
    while (peek() == ',') {
      ++pos_;
      outputs.push_back(definition());
    }
    expect('=');
    peek();
    const size_t start = pos_;
    const std::string_view name = word("a primitive");
    if (name == "constant") {
      if (outputs.size() != 1) fail_at(start, "a constant is one value");
      g.constants.push_back({outputs[0].id, constant(outputs[0].aval)});
    } else {
      Equation e;
      e.primitive = find_primitive(name);
      if (e.primitive == nullptr)
        fail_at(start, "there is no primitive `" + std::string(name) + "`");
      parameters(e);
      e.inputs = uses(defined);
      const std::string problem = internal::arity_problem(*e.primitive, e.inputs.size(), e.params);
      if (!problem.empty()) fail_at(start, std::string(name) + " " + problem);
      e.place = place();
      for (const Definition& d : outputs) e.outputs.push_back(d.id);
      g.equations.push_back(std::move(e));
    }
    for (const Definition& d : outputs) define(defined, d);
  }
  void parameters(Equation& e) {
    const bool given = pos_ < text_.size() && text_[pos_] == '[';
    if (given != (e.primitive->params != nullptr)) {
      fail(std::string(e.primitive->name) +
           (given ? " has no parameters" : " has parameters: `[` is due"));
    }
    if (!given) return;
    ++pos_;
    e.params = e.primitive->params(*this);
    expect(']');
  }
  Graph graph() {
    const size_t start = pos_;
    if (++depth_ > kMaxDepth)
      fail("more than " + std::to_string(kMaxDepth) + " graphs within each other");
    Graph g;
    Defined defined;
    if (!accept("graph")) fail("`graph` is due" + found());
    expect('(');
    while (peek() != ')') {
      if (!g.inputs.empty()) expect(',');
      const Definition d = definition();
      define(defined, d);
      g.inputs.push_back(d.id);
    }
    expect(')');
    expect('{');
    while (!accept("return")) equation(g, defined);
    g.outputs = uses(defined);
    expect('}');
    --depth_;
    // Values without a definition are allowed, but not to the point where a short text asks for
    // much memory.
    ValueId last = -1;
    for (const auto& each : defined) last = std::max(last, each.first);
    if (static_cast<size_t>(last + 1) > 1000 + (pos_ - start))
      fail("the numbers of the values are too far apart");
    g.avals.resize(static_cast<size_t>(last + 1));
    for (const auto& each : defined) g.avals[static_cast<size_t>(each.first)] = each.second;
    return g;
  }

  std::string_view text_;
  const internal::ConstantSource* constants_;  // null: all stand in the text
  size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace

Graph parse_graph(std::string_view text, Loc loc) {
  const LocScope at(loc);
  Graph g = Parser(text, nullptr).whole();
  check(g, Loc::none());
  return g;
}

Graph internal::parse_graph(std::string_view text, const ConstantSource& constants) {
  Graph g = Parser(text, &constants).whole();
  check(g, Loc::none());
  return g;
}

}  // namespace spruce
