// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/einsum.h"

#include <algorithm>
#include <string>
#include <vector>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

// Axes are labelled by letters, and those of an ellipsis by kEllipsis, kEllipsis + 1, ... counted
// from the last one.
using Label = int;
constexpr Label kEllipsis = 256;
using Labels = std::vector<Label>;

bool contains(const Labels& labels, Label l) {
  return std::find(labels.begin(), labels.end(), l) != labels.end();
}

std::string name_of(Label l) {
  return l < kEllipsis ? "'" + std::string(1, static_cast<char>(l)) + "'"
                       : "axis -" + std::to_string(l - kEllipsis + 1) + " of the ellipsis";
}

struct Term {
  Array x;
  Labels labels;
};

class Subscripts {
 public:
  Subscripts(std::string_view text, std::span<const Array> operands)
      : text_(text), operands_(operands) {}

  // Reads the whole equation.
  void parse() {
    const size_t arrow = text_.find("->");
    const size_t end = arrow == std::string_view::npos ? text_.size() : arrow;
    size_t begin = 0;
    for (size_t i = 0; i <= end; ++i) {
      if (i < end && text_[i] != ',') continue;
      if (inputs_.size() == operands_.size()) break;
      inputs_.push_back(read(begin, i, operands_[inputs_.size()].rank()));
      begin = i + 1;
    }
    const size_t written =
        1 + static_cast<size_t>(
                std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), ','));
    if (written != operands_.size()) {
      throw ValueError(head() + "it has the subscripts of " + std::to_string(written) +
                       " operands, " + std::to_string(operands_.size()) + " are given");
    }
    if (arrow == std::string_view::npos) {
      imply_output();
    } else {
      output_ = read(arrow + 2, text_.size(), -1);
      check_output(arrow + 2);
    }
    measure();
  }

  std::string head() const { return "einsum(\"" + std::string(text_) + "\"): "; }
  const std::vector<Labels>& inputs() const { return inputs_; }
  const Labels& output() const { return output_; }
  int64_t size(Label l) const { return sizes_[index_of(l)]; }

 private:
  [[noreturn]] void fail(size_t at, const std::string& what) const {
    throw ValueError(head() + what + ", at character " + std::to_string(at + 1));
  }

  // The labels of one operand of that rank, or, for rank -1, of the result.
  Labels read(size_t begin, size_t end, int rank) {
    Labels labels;
    int letters = 0;
    for (size_t i = begin; i < end; ++i) letters += is_letter(text_[i]) ? 1 : 0;
    bool ellipsis = false;
    for (size_t i = begin; i < end; ++i) {
      const char c = text_[i];
      if (c == ' ') continue;
      if (is_letter(c)) {
        labels.push_back(c);
      } else if (c == '.') {
        if (ellipsis) fail(i, "a second ellipsis in one operand");
        if (end - i < 3 || text_.substr(i, 3) != "...")
          fail(i, "a '.' that is not part of an ellipsis '...'");
        const int count = rank < 0 ? ellipsis_ : rank - letters;
        for (int k = count - 1; k >= 0; --k) labels.push_back(kEllipsis + k);
        if (rank >= 0) ellipsis_ = std::max(ellipsis_, count);
        ellipsis = true;
        i += 2;
      } else if (c == '-' || c == '>') {
        fail(i, "a second arrow, or half of one");
      } else {
        fail(i, std::string("the character '") + c + "' is no letter");
      }
    }
    if (rank >= 0 && (letters > rank || (letters < rank && !ellipsis))) {
      throw ShapeError(head() + "operand " + std::to_string(inputs_.size()) + " is " +
                       to_string(operands_[inputs_.size()].aval()) + " and has the subscripts of " +
                       std::to_string(letters) + " axes" +
                       (ellipsis ? " beside the ellipsis" : ""));
    }
    return labels;
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  void imply_output() {
    for (int k = ellipsis_ - 1; k >= 0; --k) output_.push_back(kEllipsis + k);
    Labels all;
    for (const Labels& labels : inputs_) all.insert(all.end(), labels.begin(), labels.end());
    std::sort(all.begin(), all.end());
    for (const Label l : all) {
      if (l < kEllipsis && std::count(all.begin(), all.end(), l) == 1) output_.push_back(l);
    }
  }

  void check_output(size_t at) const {
    for (size_t i = 0; i < output_.size(); ++i) {
      const Label l = output_[i];
      if (std::count(output_.begin(), output_.end(), l) > 1)
        fail(at, "the result has " + name_of(l) + " twice");
      if (std::none_of(inputs_.begin(), inputs_.end(),
                       [&](const Labels& in) { return contains(in, l); })) {
        fail(at, "the result has " + name_of(l) + ", which no operand has");
      }
    }
    if (ellipsis_ > 0 && !contains(output_, kEllipsis))
      fail(at, "the operands have an ellipsis and the result has none");
  }

  static size_t index_of(Label l) { return static_cast<size_t>(l); }

  // The size of each label: that of all its axes but those of size 1.
  void measure() {
    sizes_.assign(kEllipsis + kMaxRank, -1);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (size_t d = 0; d < inputs_[i].size(); ++d) {
        const int64_t size = operands_[i].shape()[static_cast<int>(d)];
        int64_t& known = sizes_[index_of(inputs_[i][d])];
        if (known < 0 || known == 1) {
          known = size;
        } else if (size != known && size != 1) {
          throw ShapeError(head() + name_of(inputs_[i][d]) + " has the sizes " +
                           std::to_string(known) + " and " + std::to_string(size) +
                           ", the latter on axis " + std::to_string(d) + " of operand " +
                           std::to_string(i) + ", " + to_string(operands_[i].aval()));
        }
      }
    }
  }

  std::string_view text_;
  std::span<const Array> operands_;
  std::vector<Labels> inputs_;
  Labels output_;
  int ellipsis_ = 0;  // axes that the longest one stands for
  std::vector<int64_t> sizes_;
};

// One axis a label, in the order given; each label of the term is among them. Those that it lacks
// have size 1.
Array aligned(const Term& t, const Labels& order) {
  Axes perm;
  Shape shape;
  for (const Label l : order) {
    const auto it = std::find(t.labels.begin(), t.labels.end(), l);
    if (it != t.labels.end()) perm.push_back(it - t.labels.begin());
    shape.push_back(it == t.labels.end() ? 1
                                         : t.x.shape()[static_cast<int>(it - t.labels.begin())]);
  }
  const Array x = std::is_sorted(perm.begin(), perm.end()) ? t.x : rules::transpose_axes(t.x, perm);
  return x.shape() == shape ? x : reshape(x, shape);
}

Term summed(Term t, const Axes& axes) {
  Labels left;
  for (size_t i = 0; i < t.labels.size(); ++i) {
    if (!axes.contains(static_cast<int64_t>(i))) left.push_back(t.labels[i]);
  }
  const Primitive& p = is_bool(t.x.dtype()) ? reduce_or_p : reduce_sum_p;
  return {bind1(p, {t.x}, Params::make(ReduceParams{axes})), left};
}

class Contraction {
 public:
  Contraction(const Subscripts& equation, std::vector<Term> terms)
      : equation_(equation), terms_(std::move(terms)) {}

  Array run() {
    for (Term& t : terms_) simplify(t);
    for (size_t i = 0; i < terms_.size(); ++i) sum_alone(i);
    while (terms_.size() > 1) {
      const auto [i, j] = cheapest();
      Term t = pair(i, j);
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(j));
      terms_[i] = std::move(t);
    }
    return aligned(terms_[0], equation_.output());
  }

 private:
  // True if the result or a term other than i and j has the label.
  bool needed(Label l, size_t i, size_t j) const {
    if (contains(equation_.output(), l)) return true;
    for (size_t k = 0; k < terms_.size(); ++k) {
      if (k != i && k != j && contains(terms_[k].labels, l)) return true;
    }
    return false;
  }

  // Takes diagonals and drops axes of size 1 that broadcast.
  void simplify(Term& t) const {
    for (size_t a = 0; a < t.labels.size(); ++a) {
      for (size_t b = t.labels.size() - 1; b > a; --b) {
        if (t.labels[a] != t.labels[b]) continue;
        const Label l = t.labels[a];
        const int64_t x = t.x.shape()[static_cast<int>(a)], y = t.x.shape()[static_cast<int>(b)];
        if (x == y) {
          t.x = diagonal(t.x, {.axis1 = static_cast<int64_t>(a), .axis2 = static_cast<int64_t>(b)});
          t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(b));
          t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(a));
          t.labels.push_back(l);
        } else {
          drop(t, x == 1 ? a : b);
        }
        a = static_cast<size_t>(-1);  // the axes have moved: again from the first
        break;
      }
    }
    for (size_t a = t.labels.size(); a-- > 0;) {
      if (t.x.shape()[static_cast<int>(a)] == 1 && equation_.size(t.labels[a]) != 1) drop(t, a);
    }
  }

  // Sums over what nothing else has.
  void sum_alone(size_t i) {
    Term& t = terms_[i];
    Axes alone;
    for (size_t a = 0; a < t.labels.size(); ++a) {
      if (!needed(t.labels[a], i, i)) alone.push_back(static_cast<int64_t>(a));
    }
    if (!alone.empty()) t = summed(t, alone);
  }

  static void drop(Term& t, size_t axis) {
    Shape shape = t.x.shape();
    shape.erase(static_cast<int>(axis));
    t.x = reshape(t.x, shape);
    t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(axis));
  }

  double elements(const Labels& labels) const {
    double n = 1;
    for (const Label l : labels) n *= static_cast<double>(equation_.size(l));
    return n;
  }

  Labels result(size_t i, size_t j) const {
    Labels out;
    for (const size_t k : {i, j}) {
      for (const Label l : terms_[k].labels) {
        if (!contains(out, l) && needed(l, i, j)) out.push_back(l);
      }
    }
    return out;
  }

  // The pair whose product grows the least (shrinks the most) over its operands; of equals, the
  // first.
  std::pair<size_t, size_t> cheapest() const {
    std::pair<size_t, size_t> best{0, 1};
    double lowest = 0;
    for (size_t i = 0; i < terms_.size(); ++i) {
      for (size_t j = i + 1; j < terms_.size(); ++j) {
        const double cost =
            elements(result(i, j)) - elements(terms_[i].labels) - elements(terms_[j].labels);
        if ((i == 0 && j == 1) || cost < lowest) lowest = cost, best = {i, j};
      }
    }
    return best;
  }

  Term pair(size_t i, size_t j) const {
    const Labels out = result(i, j);
    const bool last = terms_.size() == 2;
    size_t shared = 0;
    for (const Label l : terms_[i].labels)
      shared += contains(terms_[j].labels, l) && !contains(out, l) ? 1 : 0;
    if (shared == 0) {
      const Labels& order = last ? equation_.output() : out;
      return {multiply(aligned(terms_[i], order), aligned(terms_[j], order)), order};
    }
    return product(terms_[i], terms_[j], out);
  }

  // dot_general in the order of operands whose result needs no transposition, if there is one.
  Term product(const Term& a, const Term& b, const Labels& out) const {
    const auto labels_of = [&](const Term& x, const Term& y) {
      Labels order;
      for (const Label l : equation_.output()) {
        if (contains(x.labels, l) && contains(y.labels, l)) order.push_back(l);
      }
      for (const Label l : x.labels) {
        if (contains(y.labels, l) && contains(out, l) && !contains(order, l)) order.push_back(l);
      }
      for (const Term* t : {&x, &y}) {
        for (const Label l : t->labels) {
          if (!contains((t == &x ? y : x).labels, l)) order.push_back(l);
        }
      }
      return order;
    };
    const bool swap =
        labels_of(a, b) != equation_.output() && labels_of(b, a) == equation_.output();
    const Term &x = swap ? b : a, &y = swap ? a : b;
    const Labels order = labels_of(x, y);
    DotParams axes;
    const auto at = [](const Term& t, Label l) {
      return std::find(t.labels.begin(), t.labels.end(), l) - t.labels.begin();
    };
    for (const Label l : order) {
      if (contains(x.labels, l) && contains(y.labels, l))
        axes.lhs_batch.push_back(at(x, l)), axes.rhs_batch.push_back(at(y, l));
    }
    for (const Label l : x.labels) {
      if (contains(y.labels, l) && !contains(out, l))
        axes.lhs_contract.push_back(at(x, l)), axes.rhs_contract.push_back(at(y, l));
    }
    return {dot_general(x.x, y.x, axes), order};
  }

  const Subscripts& equation_;
  std::vector<Term> terms_;
};

}  // namespace

Array EinsumFunction::operator()(std::string_view equation, std::span<const Array> operands,
                                 Loc loc) const {
  const OpScope at("einsum", loc);
  if (operands.empty())
    throw ValueError("einsum(\"" + std::string(equation) + "\"): there are no operands");
  internal::require_all_defined("einsum", operands);
  Subscripts e(equation, operands);
  e.parse();
  Dtype dtype = operands[0].dtype();
  bool weak = operands[0].weak();
  for (const Array& x : operands) {
    dtype = promote(dtype, weak, x.dtype(), x.weak());
    weak = weak && x.weak();
  }
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i)
    terms.push_back({rules::convert(operands[i], dtype, weak), e.inputs()[i]});
  return Contraction(e, std::move(terms)).run();
}

}  // namespace spruce
