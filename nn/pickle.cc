// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/pickle.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace spruce::nn::internal {
namespace {

constexpr const char* kUnknown =
    "; only tensors, numbers, text and containers of them are read, and nothing in the file is "
    "run. "
    "Save state_dict() of a module, not the module itself";

}  // namespace

/// The machine of one pickle: a stack of values, marks in it, and a memo.
class PickleReader {
 public:
  PickleReader(const io::internal::Source& source, Pickle& out)
      : source_(source), out_(out), bytes_(source.bytes(0, source.size(), "the pickle")) {}

  void run() {
    out_.values_.push_back({});                                        // None
    out_.values_.push_back({.kind = PickleKind::kBool, .number = 0});  // False
    out_.values_.push_back({.kind = PickleKind::kBool, .number = 1});  // True
    out_.values_.push_back({.kind = PickleKind::kOther});
    while (true) {
      begin_ = at_;
      const uint8_t op = number<uint8_t>();
      if (op == '.') break;
      step(op);
    }
    out_.root_ = pop();
  }

 private:
  static constexpr uint32_t kNone = 0, kFalse = 1, kOther = 3;

  [[noreturn]] void fail(const std::string& problem) const { source_.fail(begin_, problem); }

  const uint8_t* take(uint64_t n) {
    if (n > bytes_.size() - at_) fail("the pickle ends within an opcode");
    const uint8_t* p = bytes_.data() + at_;
    at_ += n;
    return p;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string letters(uint64_t n) {
    const auto* p = reinterpret_cast<const char*>(take(n));
    return std::string(p, n);
  }
  std::string line() {
    const auto* first = bytes_.data() + at_;
    const auto* end = bytes_.data() + bytes_.size();
    const auto* found = std::find(first, end, uint8_t{'\n'});
    if (found == end) fail("a line of the pickle has no end");
    std::string text = letters(static_cast<uint64_t>(found - first));
    ++at_;
    return text;
  }

  void push(uint32_t v) { stack_.push_back(v); }
  uint32_t pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("the stack is empty");
    const uint32_t v = stack_.back();
    stack_.pop_back();
    return v;
  }
  std::vector<uint32_t> pop_n(size_t n) {
    std::vector<uint32_t> out(n);
    for (size_t i = n; i-- > 0;) out[i] = pop();
    return out;
  }
  std::vector<uint32_t> pop_mark() {
    if (marks_.empty()) fail("there is no mark on the stack");
    const auto from = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<uint32_t> out(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return out;
  }

  uint32_t make(PickleKind kind, size_t index = 0, int64_t value = 0) {
    out_.values_.push_back({kind, static_cast<uint32_t>(index), value});
    return static_cast<uint32_t>(out_.values_.size() - 1);
  }
  uint32_t make_text(PickleKind kind, std::string text) {
    out_.texts_.push_back(std::move(text));
    return make(kind, out_.texts_.size() - 1);
  }
  uint32_t make_items(PickleKind kind, std::vector<uint32_t> items = {}) {
    out_.items_.push_back(std::move(items));
    return make(kind, out_.items_.size() - 1);
  }

  const PickleValue& value(uint32_t v) const { return out_.values_[v]; }
  bool is(uint32_t v, PickleKind kind) const { return value(v).kind == kind; }
  int64_t integer(uint32_t v, const char* what) const {
    if (!is(v, PickleKind::kInteger)) fail(std::string(what) + " is no integer");
    return value(v).number;
  }
  std::vector<int64_t> integers(uint32_t v, const char* what) const {
    if (!is(v, PickleKind::kTuple)) fail(std::string(what) + " is no tuple");
    if (out_.items(v).size() > static_cast<size_t>(kMaxRank))
      fail(std::string(what) + " has more than " + std::to_string(kMaxRank) + " entries");
    std::vector<int64_t> out;
    for (const uint32_t i : out_.items(v)) out.push_back(integer(i, what));
    return out;
  }

  void append(const std::vector<uint32_t>& added, PickleKind kind, const char* what) {
    const uint32_t to = pop();
    push(to);
    if (is(to, PickleKind::kOther)) return;
    if (!is(to, kind)) fail(std::string(what) + " goes to something else");
    if (kind == PickleKind::kDict && added.size() % 2 != 0) fail("a key of a dict has no value");
    std::vector<uint32_t>& items = out_.items_[value(to).index];
    items.insert(items.end(), added.begin(), added.end());
  }

  void put(uint64_t i) {
    const uint32_t v = pop();
    push(v);
    memo_[i] = v;
  }
  void get(uint64_t i) {
    const auto it = memo_.find(i);
    if (it == memo_.end()) fail("entry " + std::to_string(i) + " of the memo is not there");
    push(it->second);
  }

  void persistent(uint32_t id) {
    if (!is(id, PickleKind::kTuple) || out_.items(id).size() < 5)
      fail("a storage is no tuple of 5");
    const std::vector<uint32_t>& parts = out_.items(id);
    if (!is(parts[0], PickleKind::kText) || out_.text(parts[0]) != "storage" ||
        !is(parts[1], PickleKind::kGlobal) || !is(parts[2], PickleKind::kText))
      fail("a storage is not what PyTorch writes");
    out_.storages_.push_back(
        {out_.text(parts[2]), out_.text(parts[1]), integer(parts[4], "the size of a storage")});
    push(make(PickleKind::kStorage, out_.storages_.size() - 1));
  }

  void tensor(const std::vector<uint32_t>& args, bool with_dtype) {
    if (args.size() < (with_dtype ? 7 : 4) || !is(args[0], PickleKind::kStorage))
      fail("a tensor is not what PyTorch writes");
    PickleTensor t{.storage = value(args[0]).index,
                   .offset = integer(args[1], "the offset of a tensor"),
                   .sizes = integers(args[2], "the shape of a tensor"),
                   .strides = integers(args[3], "the strides of a tensor"),
                   .dtype = {}};
    if (with_dtype) {
      if (!is(args[6], PickleKind::kGlobal)) fail("the dtype of a tensor is none");
      t.dtype = out_.text(args[6]);
    }
    out_.tensors_.push_back(std::move(t));
    push(make(PickleKind::kTensor, out_.tensors_.size() - 1));
  }

  // What a call of `name` with these arguments would give, for the few that are known.
  void reduce(uint32_t callable, uint32_t arguments) {
    if (!is(callable, PickleKind::kGlobal) || !is(arguments, PickleKind::kTuple))
      fail(std::string("the pickle calls what is no known name") + kUnknown);
    const std::string& name = out_.text(callable);
    const std::vector<uint32_t>& args = out_.items(arguments);
    if (name == "torch._utils _rebuild_tensor_v2" || name == "torch._utils _rebuild_tensor") {
      tensor(args, false);
    } else if (name == "torch._utils _rebuild_tensor_v3") {
      tensor(args, true);
    } else if (name.starts_with("torch._utils _rebuild_parameter") || name == "torch Size") {
      if (args.empty()) fail("'" + name + "' has no arguments");
      push(args[0]);
    } else if (name == "collections OrderedDict" && args.empty()) {
      push(make_items(PickleKind::kDict));
    } else if (name == "collections defaultdict") {
      push(make_items(PickleKind::kDict));
    } else if (name == "torch device" || name == "_codecs encode" || name.ends_with(" set") ||
               name.ends_with(" frozenset")) {
      push(kOther);
    } else {
      fail("the pickle calls '" + name + "'" + kUnknown);
    }
  }

  void build() {
    (void)pop();
    const uint32_t to = pop();
    if (!is(to, PickleKind::kDict) && !is(to, PickleKind::kOther))
      fail(std::string("the pickle gives an object a state") + kUnknown);
    push(to);
  }

  void step(uint8_t op);
  void step_containers(uint8_t op);

  const io::internal::Source& source_;
  Pickle& out_;
  std::vector<uint8_t> bytes_;
  size_t at_ = 0, begin_ = 0;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, uint32_t> memo_;
};

void PickleReader::step(uint8_t op) {
  switch (op) {
    case 0x80:  // PROTO
      if (const uint8_t version = number<uint8_t>(); version > 5)
        fail("the pickle has version " + std::to_string(version) + "; 2 to 5 are known");
      return;
    case 0x95:  // FRAME
      (void)number<uint64_t>();
      return;
    case 'N':
      return push(kNone);
    case 0x88:
      return push(kFalse + 1);
    case 0x89:
      return push(kFalse);
    case 'J':
      return push(make(PickleKind::kInteger, 0, number<int32_t>()));
    case 'K':
      return push(make(PickleKind::kInteger, 0, number<uint8_t>()));
    case 'M':
      return push(make(PickleKind::kInteger, 0, number<uint16_t>()));
    case 0x8a: {  // LONG1
      const uint8_t n = number<uint8_t>();
      const uint8_t* p = take(n);
      if (n > 8) return push(kOther);
      uint64_t bits = n > 0 && p[n - 1] >= 0x80 ? ~uint64_t{0} : 0;
      for (size_t i = n; i-- > 0;) bits = bits << 8 | p[i];
      return push(make(PickleKind::kInteger, 0, static_cast<int64_t>(bits)));
    }
    case 'G':
      (void)take(8);
      return push(make(PickleKind::kFloat));
    case 'X':
      return push(make_text(PickleKind::kText, letters(number<uint32_t>())));
    case 0x8c:  // SHORT_BINUNICODE
      return push(make_text(PickleKind::kText, letters(number<uint8_t>())));
    case 0x8d:  // BINUNICODE8
      return push(make_text(PickleKind::kText, letters(number<uint64_t>())));
    case 'T':  // BINSTRING and the others are bytes
    case 'B':
      (void)take(number<uint32_t>());
      return push(kOther);
    case 'U':
    case 'C':
      (void)take(number<uint8_t>());
      return push(kOther);
    case 'c': {  // GLOBAL
      std::string name = line();
      name += ' ';
      name += line();
      return push(make_text(PickleKind::kGlobal, std::move(name)));
    }
    case 0x93: {  // STACK_GLOBAL
      const uint32_t name = pop(), of = pop();
      if (!is(name, PickleKind::kText) || !is(of, PickleKind::kText)) fail("a global is no text");
      return push(make_text(PickleKind::kGlobal, out_.text(of) + ' ' + out_.text(name)));
    }
    case 'Q':
      return persistent(pop());
    case 'R': {
      const uint32_t arguments = pop();
      return reduce(pop(), arguments);
    }
    case 'b':
      return build();
    case 'q':
      return put(number<uint8_t>());
    case 'r':
      return put(number<uint32_t>());
    case 0x94:  // MEMOIZE
      return put(memo_.size());
    case 'h':
      return get(number<uint8_t>());
    case 'j':
      return get(number<uint32_t>());
    default:
      return step_containers(op);
  }
}

void PickleReader::step_containers(uint8_t op) {
  switch (op) {
    case '(':
      return marks_.push_back(stack_.size());
    case '0':
      return static_cast<void>(pop());
    case '1':
      return static_cast<void>(pop_mark());
    case ')':
      return push(make_items(PickleKind::kTuple));
    case 0x85:
    case 0x86:
    case 0x87:
      return push(make_items(PickleKind::kTuple, pop_n(op - 0x84u)));
    case 't':
      return push(make_items(PickleKind::kTuple, pop_mark()));
    case ']':
      return push(make_items(PickleKind::kList));
    case 'l':
      return push(make_items(PickleKind::kList, pop_mark()));
    case 'a':
      return append(pop_n(1), PickleKind::kList, "an entry of a list");
    case 'e':
      return append(pop_mark(), PickleKind::kList, "an entry of a list");
    case '}':
      return push(make_items(PickleKind::kDict));
    case 's':
      return append(pop_n(2), PickleKind::kDict, "an entry of a dict");
    case 'u':
      return append(pop_mark(), PickleKind::kDict, "an entry of a dict");
    case 0x8f:  // EMPTY_SET
      return push(kOther);
    case 0x90:  // ADDITEMS
      (void)pop_mark();
      return;
    default: {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02x", op);
      fail(std::string("the opcode ") + hex + " makes other objects" + kUnknown);
    }
  }
}

Pickle::Pickle(const io::internal::Source& source) { PickleReader(source, *this).run(); }

}  // namespace spruce::nn::internal
