// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "tests/reference/operations.h"

namespace reference {
namespace {

// `1:-1`, `::2`: what is left out is none.
sp::Slice parse_slice(const std::string& item) {
  std::vector<sp::SliceEnd> ends;
  std::istringstream in(item + ":");
  for (std::string end; std::getline(in, end, ':');) {
    ends.push_back(end.empty() ? sp::SliceEnd(sp::none) : sp::SliceEnd(std::stoll(end)));
  }
  ends.resize(3, sp::none);
  return sp::slice(ends[0], ends[1], ends[2]);
}

// `1:3,...,-1,newaxis` as NumPy reads it.
std::vector<sp::Index> parse(const std::string& spec) {
  std::vector<sp::Index> out;
  std::istringstream in(spec);
  for (std::string item; std::getline(in, item, ',');) {
    if (item == "...") {
      out.emplace_back(sp::ellipsis);
    } else if (item == "newaxis") {
      out.emplace_back(sp::newaxis);
    } else if (item.find(':') != std::string::npos) {
      out.emplace_back(parse_slice(item));
    } else {
      out.emplace_back(std::stoll(item));
    }
  }
  return out;
}

Array updated(const sp::ArrayAt& place, const std::string& how, const Array& value) {
  if (how == "set") return place.set(value);
  if (how == "add") return place.add(value);
  if (how == "multiply") return place.multiply(value);
  if (how == "min") return place.min(value);
  return place.max(value);
}

void add_updates(Table& t) {
  for (const std::string how : {"set", "add", "multiply", "min", "max"}) {
    const auto compared = how == "add" || how == "multiply" ? scaled : exact;
    t["at_" + how] = compared([how](const Arrays& in, const Params&) {
      return Arrays{updated(in[0].at(in[1]), how, in[2])};
    });
    t["at_slice_" + how] = compared([how](const Arrays& in, const Params& p) {
      return Arrays{updated(sp::ArrayAt(in[0], parse(p.text("spec"))), how, in[1])};
    });
  }
}

}  // namespace

void add_indexing(Table& t) {
  add_updates(t);
  t["index"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::ArrayAt(in[0], parse(p.text("spec"))).get()};
  });
  t["index_array"] = exact([](const Arrays& in, const Params&) { return Arrays{in[0][in[1]]}; });
  t["index_arrays"] = exact([](const Arrays& in, const Params&) {
    return Arrays{in[0][{in[1], in[2]}]};
  });
  t["index_mask"] = t["index_array"];
  t["index_mask"].traceable = false;
  t["take"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::take(in[0], in[1], p.integer("axis"))};
  });
  t["take_along_axis"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::take_along_axis(in[0], in[1], p.integer("axis"))};
  });
  t["put_along_axis"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::put_along_axis(in[0], in[1], in[2], p.integer("axis"))};
  });
  t["sort"] = exact(
      [](const Arrays& in, const Params& p) { return Arrays{sp::sort(in[0], p.integer("axis"))}; });
  t["argsort"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::argsort(in[0], p.integer("axis"))};
  });
  t["top_k"] = exact([](const Arrays& in, const Params& p) {
    const auto [values, indices] = sp::top_k(in[0], p.integer("k"));
    return Arrays{values, indices};
  });
  t["searchsorted"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::searchsorted(in[0], in[1], {.right = p.text("side") == "right"})};
  });
}

}  // namespace reference
