// SPDX-License-Identifier: Apache-2.0
// Static values of a tree as text: for printing, for files, and as bytes of a key.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "spruce/core/shape.h"

namespace spruce::tree::internal {

template <class T>
concept FunctionPointer = std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>;

template <class T>
concept StaticText = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view> ||
    std::is_same_v<T, const char*>;

template <class T>
concept Static =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || StaticText<T> || std::is_same_v<T, Shape> ||
    std::is_same_v<T, std::vector<bool>> || std::is_same_v<T, std::monostate> || FunctionPointer<T>;

/// The shortest text that gives the number back, "0.1" or "1e-08"; for a NaN other than the usual
/// one its bits, so that different values have different texts.
std::string float_text(float x);
std::string float_text(double x);
std::string float_text(long double x);

/// A copy of `text` that lasts as long as the program, the same one for each text; a zero follows.
std::string_view kept_text(std::string_view text);

template <class S>
std::string_view view_of(const S& s) {
  if constexpr (std::is_same_v<S, const char*>)
    return s == nullptr ? std::string_view() : std::string_view(s);
  else
    return s;
}

/// A static value as text that gives all of it back; "function" for a function pointer.
template <class S>
std::string exact_text(const S& s) {
  if constexpr (std::is_same_v<S, bool>) {
    return s ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<S>) {
    return float_text(s);
  } else if constexpr (std::is_arithmetic_v<S>) {
    return std::to_string(s);
  } else if constexpr (std::is_enum_v<S>) {
    return std::to_string(static_cast<int64_t>(s));
  } else if constexpr (std::is_same_v<S, Shape>) {
    return to_string(s);
  } else if constexpr (std::is_same_v<S, std::vector<bool>>) {
    std::string t;
    for (const bool b : s) t += b ? '1' : '0';
    return t;
  } else if constexpr (StaticText<S>) {
    return std::string(view_of(s));
  } else if constexpr (std::is_same_v<S, std::monostate>) {
    return "none";
  } else {
    return "function";
  }
}

/// The same as it is printed: whole floating numbers as "1.0", text in quotation marks.
template <class S>
std::string static_text(const S& s) {
  std::string t = exact_text(s);
  if constexpr (std::is_floating_point_v<S>) {
    if (t.find_first_not_of("-0123456789") == t.npos) t += ".0";
  } else if constexpr (StaticText<S>) {
    t = '"' + t + '"';
  }
  return t;
}

/// The value whose exact_text() is `text`; none where there is no such value of the type.
template <class S>
std::optional<S> static_from_text(std::string_view text) {
  if constexpr (std::is_same_v<S, std::string>) {
    return S(text);
  } else if constexpr (std::is_same_v<S, bool>) {
    if (text != "true" && text != "false") return std::nullopt;
    return text == "true";
  } else if constexpr (std::is_enum_v<S>) {
    const std::optional<int64_t> number = static_from_text<int64_t>(text);
    using Stored = std::underlying_type_t<S>;
    if (!number || static_cast<int64_t>(static_cast<Stored>(*number)) != *number)
      return std::nullopt;
    return static_cast<S>(*number);
  } else if constexpr (std::is_arithmetic_v<S>) {
    S value{};
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
    return value;
  } else if constexpr (std::is_same_v<S, Shape>) {
    Shape shape;
    for (size_t i = 1; i + 1 < text.size();) {
      const size_t end = std::min(text.find(',', i), text.size() - 1);
      const std::optional<int64_t> size = static_from_text<int64_t>(text.substr(i, end - i));
      if (!size || shape.rank() == kMaxRank) return std::nullopt;
      shape.push_back(*size);
      i = end + 1;
    }
    return shape;
  } else if constexpr (std::is_same_v<S, std::vector<bool>>) {
    std::vector<bool> bits;
    for (const char c : text) bits.push_back(c == '1');
    return bits;
  } else {
    return S{};
  }
}

// Appends the bytes that tell one static value from another of its type.
template <class S>
void append_bytes(std::string& out, const S& s) {
  if constexpr (std::is_same_v<S, Shape>) {
    const int64_t rank = s.rank();
    out.append(reinterpret_cast<const char*>(&rank), sizeof rank);
    out.append(reinterpret_cast<const char*>(s.data()), s.size() * sizeof(int64_t));
  } else if constexpr (StaticText<S>) {
    const std::string_view text = view_of(s);
    const size_t n = text.size();
    out.append(reinterpret_cast<const char*>(&n), sizeof n);
    out.append(text);
  } else if constexpr (std::is_same_v<S, std::vector<bool>> || std::is_same_v<S, long double>) {
    append_bytes(out, exact_text(s));  // a long double has bytes that mean nothing
  } else if constexpr (!std::is_same_v<S, std::monostate>) {
    out.append(reinterpret_cast<const char*>(&s), sizeof s);
  }
}

}  // namespace spruce::tree::internal
