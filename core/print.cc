// SPDX-License-Identifier: Apache-2.0
// Arrays as text, laid out as NumPy 2 does: 8 digits, lines of 75 characters, a summary above 1000
// elements.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ostream>

#include "spruce/core/array.h"

namespace spruce {
namespace {

constexpr int kPrecision = 8, kLineWidth = 75;
constexpr int64_t kThreshold = 1000, kEdge = 3;

// The shortest decimal digits that read back as the value, and the power of ten of the first one.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Decimal parse_scientific(const char* begin, const char* end) {
  Decimal d;
  for (const char* p = begin; p != end; ++p) {
    if (*p == '-')
      d.negative = true;
    else if (*p >= '0' && *p <= '9')
      d.digits += *p;
    else if (*p == 'e') {
      d.exponent = std::atoi(p + 1);
      break;
    }
  }
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  return d;
}

template <class T>
Decimal shortest(T value) {
  char text[64];
  if constexpr (std::is_floating_point_v<T>) {
    char* end =
        std::to_chars(text, text + sizeof text - 1, value, std::chars_format::scientific).ptr;
    *end = '\0';
    return parse_scientific(text, end);
  } else {
    const auto wide = static_cast<double>(static_cast<float>(value));
    for (int digits = 0;; ++digits) {
      const int n = std::snprintf(text, sizeof text, "%.*e", digits, wide);
      if (digits >= 8 || T(std::strtof(text, nullptr)).bits == value.bits)
        return parse_scientific(text, text + n);
    }
  }
}

// A number as text in two parts, so that columns can be aligned at the point; the fraction begins
// with it.
struct Number {
  std::string whole, fraction;
  int exponent = 0;
};

Number positional(const Decimal& d, double value, int precision) {
  Number n;
  const int count = static_cast<int>(d.digits.size());
  if (precision >= 0 && count - 1 - d.exponent > precision) {
    char text[400];
    std::snprintf(text, sizeof text, "%.*f", precision, value);
    const char* point = std::strchr(text, '.');
    n.whole.assign(text, static_cast<size_t>(point - text));
    n.fraction = point;
    while (n.fraction.back() == '0') n.fraction.pop_back();
    return n;
  }
  if (d.negative) n.whole = "-";
  for (int i = 0; i <= std::max(0, d.exponent); ++i) {
    const int k = d.exponent < 0 ? -1 : i;
    n.whole += k >= 0 && k < count ? d.digits[static_cast<size_t>(k)] : '0';
  }
  n.fraction = ".";
  if (count == 1 && d.digits[0] == '0') return n;
  for (int i = d.exponent + 1; i < 0; ++i) n.fraction += '0';
  for (int k = std::max(0, d.exponent + 1); k < count; ++k)
    n.fraction += d.digits[static_cast<size_t>(k)];
  return n;
}

// Digits behind the point that a number needs with an exponent.
int digits_behind(const Decimal& d) {
  return std::min(kPrecision, static_cast<int>(d.digits.size()) - 1);
}

Number scientific(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", digits, value);
  const char *point = std::strchr(text, digits > 0 ? '.' : 'e'), *e = std::strchr(text, 'e');
  Number n;
  n.whole.assign(text, static_cast<size_t>(point - text));
  n.fraction.assign(point, static_cast<size_t>(e - point));
  if (digits == 0) n.fraction = ".";
  n.exponent = std::atoi(e + 1);
  return n;
}

std::string exponent_text(int exponent, size_t digits) {
  std::string s = std::to_string(std::abs(exponent));
  s.insert(0, s.size() < digits ? digits - s.size() : 0, '0');
  return (exponent < 0 ? "e-" : "e+") + s;
}

std::string not_finite(double value) {
  return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
}

template <class T>
double as_double(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

// From which magnitude on all numbers of a dtype are written with exponents: what its digits can
// tell apart.
template <class T>
double exponent_cutoff() {
  return std::is_same_v<T, double> ? 1e8 : std::is_same_v<T, float> ? 1e6 : 1e3;
}

template <class T>
std::vector<std::string> format_floats(const std::vector<T>& values) {
  double largest = 0, smallest = INFINITY;
  for (const T v : values) {
    const double a = std::abs(as_double(v));
    if (!std::isfinite(a) || a == 0) continue;
    largest = std::max(largest, a);
    smallest = std::min(smallest, a);
  }
  const double low = std::is_same_v<T, double> ? 0.0001 : static_cast<double>(0.0001f);
  const bool exponents = largest > 0 && (largest >= exponent_cutoff<T>() || smallest < low ||
                                         largest / smallest > 1000);
  std::vector<Number> numbers(values.size());
  int digits = 0;
  for (const T v : values) {
    if (exponents && std::isfinite(as_double(v)))
      digits = std::max(digits, digits_behind(shortest(v)));
  }
  size_t left = 0, right = 0, exponent_digits = 2;
  for (size_t i = 0; i < values.size(); ++i) {
    const double v = as_double(values[i]);
    if (!std::isfinite(v)) continue;
    Number& n = numbers[i] =
        exponents ? scientific(v, digits) : positional(shortest(values[i]), v, kPrecision);
    left = std::max(left, n.whole.size());
    right = std::max(right, n.fraction.size());
    exponent_digits = std::max(exponent_digits, std::to_string(std::abs(n.exponent)).size());
  }
  if (right == 0) right = 1;  // nothing is finite: as wide as the point
  const size_t tail = right + (exponents ? exponent_digits + 2 : 0);
  std::vector<std::string> out(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double v = as_double(values[i]);
    if (!std::isfinite(v))
      left = std::max(left, not_finite(v).size() - std::min(tail, not_finite(v).size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double v = as_double(values[i]);
    std::string& s = out[i];
    if (!std::isfinite(v)) {
      s = not_finite(v);
      s.insert(0, left + tail - s.size(), ' ');
      continue;
    }
    Number& n = numbers[i];
    s = std::string(left - n.whole.size(), ' ') + n.whole + n.fraction;
    s.append(right - n.fraction.size(), ' ');
    if (exponents) s += exponent_text(n.exponent, exponent_digits);
  }
  return out;
}

// A float that stands alone: all its digits, and an exponent where it is far from 1.
template <class T>
std::string format_alone(T value) {
  const double v = as_double(value), a = std::abs(v);
  if (!std::isfinite(v)) return not_finite(v);
  const Decimal d = shortest(value);
  const double high = std::is_same_v<T, double> ? 1e16 : exponent_cutoff<T>();
  if (a != 0 && (a >= high || a < 1e-4)) {
    std::string s = (d.negative ? "-" : "") + d.digits.substr(0, 1);
    if (d.digits.size() > 1) s += "." + d.digits.substr(1);
    return s + exponent_text(d.exponent, 2);
  }
  const Number n = positional(d, v, -1);
  return n.whole + n.fraction + (n.fraction == "." ? "0" : "");
}

template <class T>
std::vector<std::string> format_integers(const std::vector<T>& values) {
  std::vector<std::string> out;
  size_t width = 0;
  for (const T v : values) {
    out.push_back(std::to_string(v));
    width = std::max(width, out.back().size());
  }
  for (std::string& s : out) s.insert(0, width - s.size(), ' ');
  return out;
}

// The places along an axis that are shown, -1 for the dots.
std::vector<int64_t> shown(int64_t n, bool summary) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; ++i) {
    if (summary && n > 2 * kEdge && i == kEdge) {
      places.push_back(-1);
      i = n - kEdge;
    }
    places.push_back(i);
  }
  return places;
}

class Layout {
 public:
  Layout(const Shape& shape, bool summary) : shape_(shape), strides_(row_major_strides(shape)) {
    for (int i = 0; i < shape.rank(); ++i) places_.push_back(shown(shape[i], summary));
  }

  // The offsets of the elements that are shown, in order.
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> out{0};
    for (int i = 0; i < shape_.rank(); ++i) {
      std::vector<int64_t> next;
      for (const int64_t base : out) {
        for (const int64_t place : places_[static_cast<size_t>(i)]) {
          if (place >= 0) next.push_back(base + place * strides_[i]);
        }
      }
      out = std::move(next);
    }
    return out;
  }

  std::string text(const std::vector<std::string>& words) const {
    size_t next = 0;
    return nested(0, words, next);
  }

 private:
  std::string nested(int axis, const std::vector<std::string>& words, size_t& next) const {
    const auto indent = static_cast<size_t>(axis + 1);
    if (axis == shape_.rank() - 1) return "[" + row(indent, words, next) + "]";
    std::string s = "[";
    bool first = true;
    for (const int64_t place : places_[static_cast<size_t>(axis)]) {
      if (!first)
        s += std::string(static_cast<size_t>(shape_.rank() - 1 - axis), '\n') +
             std::string(indent, ' ');
      first = false;
      s += place < 0 ? "..." : nested(axis + 1, words, next);
    }
    return s + "]";
  }

  // The words of the last axis, wrapped; the closing brackets of all axes have their place on every
  // line.
  std::string row(size_t indent, const std::vector<std::string>& words, size_t& next) const {
    const size_t width = kLineWidth - static_cast<size_t>(shape_.rank());
    std::string s;
    size_t column = indent;
    bool fresh = true;
    for (const int64_t place : places_.back()) {
      const std::string word = place < 0 ? "..." : words[next++];
      const size_t needed = word.size() + (fresh ? 0 : 1);
      if (!fresh && column + needed > width) {
        s.erase(s.find_last_not_of(' ') + 1);
        s += "\n" + std::string(indent, ' ');
        column = indent;
        fresh = true;
      }
      if (!fresh) s += ' ';
      s += word;
      column += word.size() + (fresh ? 0 : 1);
      fresh = false;
    }
    return s;
  }

  const Shape& shape_;
  Shape strides_;
  std::vector<std::vector<int64_t>> places_;
};

template <class T>
std::string print_values(const Shape& shape, const char* data) {
  const auto read = [&](int64_t offset) {
    T value;
    std::memcpy(&value, data + offset * static_cast<int64_t>(sizeof(T)), sizeof value);
    return value;
  };
  if (shape.rank() == 0) {
    if constexpr (std::is_same_v<T, bool>)
      return read(0) ? "True" : "False";
    else if constexpr (std::is_integral_v<T>)
      return std::to_string(read(0));
    else
      return format_alone(read(0));
  }
  if (shape.numel() == 0) return "[]";
  const Layout layout(shape, shape.numel() > kThreshold);
  const std::vector<int64_t> offsets = layout.offsets();
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<std::string> words;
    for (const int64_t offset : offsets) words.push_back(read(offset) ? " True" : "False");
    return layout.text(words);
  } else {
    std::vector<T> values;
    for (const int64_t offset : offsets) values.push_back(read(offset));
    if constexpr (std::is_integral_v<T>)
      return layout.text(format_integers(values));
    else
      return layout.text(format_floats(values));
  }
}

}  // namespace

std::string to_string(const Array& a) {
  if (!a.defined()) return "(an empty Array)";
  if (a.is_tracer()) return to_string(a.aval()) + " (" + a.impl()->describe() + ")";
  const Array host = internal::on_host(a);
  const char* data = static_cast<const char*>(internal::mutable_data(host));
  return visit_dtype(a.dtype(), [&]<class T>(T) { return print_values<T>(a.shape(), data); });
}

std::ostream& operator<<(std::ostream& out, const Array& a) { return out << to_string(a); }

}  // namespace spruce
