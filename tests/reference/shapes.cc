// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {
namespace {

void add_axes(Table& t) {
  t["reshape"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::reshape(in[0], p.integers("shape"))};
  });
  t["transpose"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::transpose(in[0], axes(p, "axes"))};
  });
  t["swapaxes"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::swapaxes(in[0], p.integer("first"), p.integer("second"))};
  });
  t["moveaxis"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::moveaxis(in[0], p.integer("source"), p.integer("destination"))};
  });
  t["expand_dims"] = exact(
      [](const Arrays& in, const Params& p) { return Arrays{sp::expand_dims(in[0], axes(p))}; });
  t["squeeze"] =
      exact([](const Arrays& in, const Params& p) { return Arrays{sp::squeeze(in[0], axes(p))}; });
  t["broadcast_to"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::broadcast_to(in[0], p.integers("shape"))};
  });
  t["flip"] =
      exact([](const Arrays& in, const Params& p) { return Arrays{sp::flip(in[0], axes(p))}; });
  t["rot90"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::rot90(in[0], p.integer("turns"))};
  });
  t["roll"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::roll(in[0], p.integer("shift"), axes(p))};
  });
}

void add_joining(Table& t) {
  t["stack"] = exact(
      [](const Arrays& in, const Params& p) { return Arrays{sp::stack(in, p.integer("axis"))}; });
  t["concatenate"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::concatenate(in, p.integer("axis"))};
  });
  t["split"] = exact([](const Arrays& in, const Params& p) {
    return sp::split(in[0], p.integer("parts"), p.integer("axis"));
  });
  t["split_at"] = exact([](const Arrays& in, const Params& p) {
    return sp::split(in[0], p.integers("at"), p.integer("axis"));
  });
  t["tile"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::tile(in[0], p.integers("times"))};
  });
  t["repeat"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::repeat(in[0], p.integer("times"), p.integer("axis"))};
  });
}

sp::PadMode pad_mode(const std::string& name) {
  if (name == "constant") return sp::PadMode::kConstant;
  if (name == "edge") return sp::PadMode::kEdge;
  if (name == "reflect") return sp::PadMode::kReflect;
  if (name == "symmetric") return sp::PadMode::kSymmetric;
  return sp::PadMode::kWrap;
}

Array pad(const Array& x, const Params& p) {
  const std::vector<int64_t> flat = p.integers("widths");
  std::vector<std::pair<int64_t, int64_t>> widths;
  for (size_t i = 0; i < flat.size(); i += 2) widths.emplace_back(flat[i], flat[i + 1]);
  return sp::pad(x, widths, {.mode = pad_mode(p.text("mode")), .value = p.number("value", 0)});
}

sp::Dtype dtype(const Params& p) { return sp::parse_dtype(p.text("dtype")); }

void add_made(Table& t) {
  t["one_hot"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::one_hot(in[0], p.integer("classes"), dtype(p))};
  });
  t["arange"] = exact([](const Arrays&, const Params& p) {
    const double start = p.number("start"), stop = p.number("stop"), step = p.number("step");
    return Arrays{sp::astype(sp::arange(start, stop, step), dtype(p))};
  });
  t["linspace"] = relative([](const Arrays&, const Params& p) {
    const Array start = sp::astype(p.number("start"), dtype(p));
    const Array stop = sp::astype(p.number("stop"), dtype(p));
    return Arrays{sp::linspace(start, stop, p.integer("count"))};
  });
  t["eye"] = exact([](const Arrays&, const Params& p) {
    const int64_t columns = p.integer("columns"), k = p.integer("k");
    return Arrays{sp::eye(p.integer("rows"), {.columns = columns, .offset = k, .dtype = dtype(p)})};
  });
}

}  // namespace

void add_shapes(Table& t) {
  add_axes(t);
  add_joining(t);
  add_made(t);
  t["pad"] = exact([](const Arrays& in, const Params& p) { return Arrays{pad(in[0], p)}; });
  t["tril"] = exact(
      [](const Arrays& in, const Params& p) { return Arrays{sp::tril(in[0], p.integer("k", 0))}; });
  t["triu"] = exact(
      [](const Arrays& in, const Params& p) { return Arrays{sp::triu(in[0], p.integer("k", 0))}; });
  t["diag"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{sp::diag(in[0], {.offset = p.integer("k", 0)})};
  });
  t["trace"] = scaled([](const Arrays& in, const Params&) { return Arrays{sp::trace(in[0])}; });
  t["astype"] = exact([](const Arrays& in, const Params& p) {
    return Arrays{
        sp::astype(in[0], p.text("to") == "float" ? dtype(p) : sp::parse_dtype(p.text("to")))};
  });
}

}  // namespace reference
