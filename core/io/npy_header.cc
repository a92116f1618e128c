// SPDX-License-Identifier: Apache-2.0
// The header of .npy: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#include <string_view>

#include "spruce/core/io/npy_format.h"

namespace spruce::io::internal {
namespace {

class HeaderParser {
 public:
  HeaderParser(const Source& source, uint64_t offset, const std::string& text)
      : source_(source), offset_(offset), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const size_t start = at_;
      const std::string key = string();
      expect(':');
      bool* seen = key == "descr"           ? &descr
                   : key == "fortran_order" ? &order
                   : key == "shape"         ? &shape
                                            : nullptr;
      if (seen == nullptr) fail(start, "the header has the key '" + key + "', which means nothing");
      if (*seen) fail(start, "the header has the key '" + key + "' twice");
      *seen = true;
      if (seen == &descr)
        header.descr = descr_string();
      else if (seen == &order)
        header.fortran_order = boolean();
      else
        header.shape = tuple();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail(at_, "the header goes on after its closing brace");
    if (!descr || !order || !shape)
      fail(0, "the header lacks one of descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void fail(size_t at, const std::string& problem) const {
    source_.fail(offset_ + at, problem);
  }

  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(at_, std::string("the header has no '") + c + "' where one is due");
  }

  std::string string() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      fail(at_, "the header has no quoted text where it is due");
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string::npos) fail(at_, "the header has a quote that does not end");
    std::string out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return out;
  }

  std::string descr_string() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[')
      fail(at_, "the array is made of records, for which Spruce has no dtype");
    return string();
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.compare(at_, word.size(), word) == 0) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail(at_, "fortran_order is neither True nor False");
  }

  int64_t size() {
    skip_space();
    const size_t start = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value)) {
        fail(start, "a size in the shape is too large");
      }
    }
    if (at_ == start) fail(at_, "the shape has no size where one is due");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 writes long integers
    return value;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!take(')')) {
      if (shape.rank() == kMaxRank)
        fail(at_, "the shape has more than " + std::to_string(kMaxRank) + " axes");
      shape.push_back(size());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  const Source& source_;
  const uint64_t offset_;
  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(const Source& source, uint64_t offset, const std::string& text) {
  return HeaderParser(source, offset, text).parse();
}

}  // namespace spruce::io::internal
