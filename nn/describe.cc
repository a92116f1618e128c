// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/describe.h"

#include <cctype>

namespace spruce::nn::internal {
namespace {

using Field = Description::Field;

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// The last component, with those before it where it is the number of an element: "range.0".
std::string_view printed_name(std::string_view path) {
  size_t at = path.rfind('.');
  while (at != path.npos && std::isdigit(static_cast<unsigned char>(path[at + 1])))
    at = path.rfind('.', at - 1);
  return path.substr(at + 1);
}

// Static values that stand for one option are joined: a WindowArg is "values" and "single".
std::vector<Field> joined(const std::vector<Field>& fields) {
  std::vector<Field> out;
  for (size_t i = 0; i < fields.size(); ++i) {
    Field f = fields[i];
    const size_t list = f.path.find(".values.");
    if (list != f.path.npos) {  // of a ScaleArg
      const std::string begin = f.path.substr(0, list + 8);
      for (; i + 1 < fields.size() && fields[i + 1].path.starts_with(begin); ++i)
        f.text += ", " + fields[i + 1].text;
      f.path.resize(list);
    } else if (f.path.ends_with(".values")) {
      f.path.resize(f.path.size() - 7);
      if (i + 1 < fields.size() && fields[i + 1].path == f.path + ".single") {
        if (fields[i + 1].text == "true") f.text = f.text.substr(1, f.text.size() - 2);
        ++i;
      }
    }
    if (f.text != "[]") out.push_back(std::move(f));
  }
  return out;
}

class Options {
 public:
  Options(const std::vector<Field>& fields, std::string_view words) : fields_(fields) {
    used_.assign(fields.size(), false);
    while (!words.empty()) {
      const size_t end = std::min(words.find(' '), words.size());
      word(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }

  // The static fields that no word names; arrays too, of types without words.
  std::string rest(bool arrays) {
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& f = fields_[i];
      if (used_[i] || (f.is_array && !arrays)) continue;
      add(f.is_array ? std::string_view(f.path) : printed_name(f.path), f.text);
    }
    return std::move(text_);
  }

 private:
  void add(std::string_view name, std::string_view value) {
    text_ += text_.empty() ? "" : ", ";
    text_ += name;
    text_ += '=';
    text_ += value;
  }
  // The field of that name; null where there is none. A static one is not printed again.
  const Field* find(std::string_view name, bool array) {
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].is_array != array || last_component(fields_[i].path) != name) continue;
      if (!array) used_[i] = true;
      return &fields_[i];
    }
    return nullptr;
  }
  void word(std::string_view w) {
    const size_t at = w.find_first_of("=?:{-");
    if (at == w.npos) {
      const Field* f = find(w, true);
      if (f != nullptr && f->text != "none") add(w, f->text);
      return;
    }
    const std::string_view name = w.substr(0, at), value = w.substr(at + 1);
    switch (w[at]) {
      case '-':
        find(value, false);
        break;
      case '?':
        add(name, find(value, true) != nullptr ? "true" : "false");
        break;
      case ':':
        if (const Field* f = find(value, false)) add(name, f->text);
        break;
      case '{':
        enumerator(name, value);
        break;
      default:
        size(name, value);
    }
  }
  void enumerator(std::string_view name, std::string_view names) {
    const Field* f = find(name, false);
    if (f == nullptr) return;
    names.remove_suffix(1);
    for (int64_t i = std::stoll(f->text); i > 0; --i)
      names.remove_prefix(std::min(names.find(',') + 1, names.size()));
    add(name, names.substr(0, names.find(',')));
  }
  void size(std::string_view name, std::string_view value) {
    const size_t dot = value.find('.'), times = value.find('*');
    const Field* f = find(value.substr(0, dot), true);
    const int axis = value[dot + 1] - '0';
    if (f == nullptr || f->shape.rank() <= axis) return;
    if (value.ends_with('+')) {
      Shape sizes;
      for (int i = axis; i < f->shape.rank(); ++i) sizes.push_back(f->shape[i]);
      return add(name, to_string(sizes));
    }
    int64_t size = f->shape[axis];
    if (times != value.npos) {
      for (const Field& g : fields_) {
        if (last_component(g.path) == value.substr(times + 1)) size *= std::stoll(g.text);
      }
    }
    add(name, std::to_string(size));
  }

  const std::vector<Field>& fields_;
  std::vector<bool> used_;
  std::string text_;
};

std::string options_of(const Description& d) {
  const std::vector<Field> fields = joined(d.fields);
  return Options(fields, d.extra_repr.value_or("")).rest(!d.extra_repr);
}

}  // namespace

std::string text_of(const Description& d, int indent) {
  const std::string options = options_of(d), spaces(static_cast<size_t>(indent), ' ');
  if (d.parts.empty()) return d.type + "(" + options + ")";
  std::string out = d.type + "(\n";
  if (!options.empty()) out += spaces + "  " + options + "\n";
  for (const auto& [name, part] : d.parts)
    out += spaces + "  (" + name + "): " + text_of(part, indent + 2) + "\n";
  return out + spaces + ")";
}

}  // namespace spruce::nn::internal
