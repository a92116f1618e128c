// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/operations.h"

namespace reference {
namespace {

template <class Reduce>
Operation reduction(const Reduce& f, Operation (*compared)(Function) = scaled) {
  return compared([f](const Arrays& in, const Params& p) {
    return Arrays{f(in[0], axes(p), {.keepdims = p.flag("keepdims")})};
  });
}

template <class Search>
Operation search(const Search& f) {
  return exact([f](const Arrays& in, const Params& p) {
    return Arrays{f(in[0], axes(p), {.keepdims = p.flag("keepdims")})};
  });
}

template <class Spread>
Operation spread(const Spread& f) {
  return scaled([f](const Arrays& in, const Params& p) {
    const sp::VarOptions options{.ddof = p.integer("ddof"), .keepdims = p.flag("keepdims")};
    return Arrays{f(in[0], axes(p), options)};
  });
}

template <class Running>
Operation running(const Running& f, Operation (*compared)(Function) = scaled) {
  return compared(
      [f](const Arrays& in, const Params& p) { return Arrays{f(in[0], p.integer("axis"))}; });
}

}  // namespace

void add_reductions(Table& t) {
  t["sum"] = reduction(sp::sum);
  t["mean"] = reduction(sp::mean);
  t["prod"] = reduction(sp::prod);
  t["min"] = reduction(sp::min, exact);
  t["max"] = reduction(sp::max, exact);
  t["any"] = reduction(sp::any, exact);
  t["all"] = reduction(sp::all, exact);
  t["argmin"] = search(sp::argmin);
  t["argmax"] = search(sp::argmax);
  t["logsumexp"] = reduction(sp::logsumexp);
  t["norm"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{sp::norm(in[0], axes(p), {.keepdims = p.flag("keepdims")})};
  });
  t["norm_of_order"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{sp::norm(in[0], axes(p), {.ord = p.number("order")})};
  });
  t["nansum"] = reduction(sp::nansum);
  t["nanmean"] = reduction(sp::nanmean);
  t["nanmax"] = reduction(sp::nanmax, exact);
  t["nanmin"] = reduction(sp::nanmin, exact);
  t["ptp"] = reduction(sp::ptp);
  t["count_nonzero"] = reduction(sp::count_nonzero, exact);
  t["average"] = scaled(
      [](const Arrays& in, const Params& p) { return Arrays{sp::average(in[0], in[1], axes(p))}; });
  t["var"] = spread(sp::var);
  t["std"] = spread(sp::std);
  t["diff"] = relative([](const Arrays& in, const Params& p) {
    return Arrays{sp::diff(in[0], {.n = p.integer("times"), .axis = p.integer("axis")})};
  });
  t["cumsum_reverse"] = scaled([](const Arrays& in, const Params& p) {
    return Arrays{sp::cumsum(in[0], p.integer("axis"), {.reverse = true})};
  });
  t["cumsum"] = running(sp::cumsum);
  t["cumprod"] = running(sp::cumprod);
  t["cummax"] = running(sp::cummax, exact);
  t["cummin"] = running(sp::cummin, exact);
  t["cumlogsumexp"] = running(sp::cumlogsumexp);
}

}  // namespace reference
