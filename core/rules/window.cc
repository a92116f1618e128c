// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/window.h"

#include "spruce/core/rules/conv.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce::rules {

WindowParams with_front_axis(const WindowParams& w) {
  return {with_front(w.window, 1),        with_front(w.strides, 1),
          with_front(w.padding_low, 0),   with_front(w.padding_high, 0),
          with_front(w.base_dilation, 1), with_front(w.window_dilation, 1)};
}

bool leaves_rows(const WindowParams& w) {
  return w.window[0] == 1 && w.strides[0] == 1 && w.padding_low[0] == 0 && w.padding_high[0] == 0 &&
         w.base_dilation[0] == 1 && w.window_dilation[0] == 1;
}

Shape window_shape(const char* op, const Aval& in, const WindowParams& w) {
  const auto fail = [&](const std::string& what) {
    throw ShapeError(std::string(op) + ": " + what + "; x " + to_string(in));
  };
  for (const Shape* s : {&w.window, &w.strides, &w.padding_low, &w.padding_high, &w.base_dilation,
                         &w.window_dilation}) {
    if (s->rank() != in.shape.rank())
      fail("the parameter " + to_string(*s) + " does not have one entry for each axis");
  }
  Shape out;
  int64_t places = 1;
  for (int d = 0; d < in.shape.rank(); ++d) {
    if (w.window[d] < 1) fail("the window " + to_string(w.window) + " is empty");
    if (__builtin_mul_overflow(places, w.window[d], &places))
      fail("the window " + to_string(w.window) + " has more places than int64 can count");
    if (w.strides[d] < 1 || w.base_dilation[d] < 1 || w.window_dilation[d] < 1) {
      fail("strides and dilations are at least 1, got " + to_string(w.strides) + ", " +
           to_string(w.base_dilation) + " and " + to_string(w.window_dilation));
    }
    out.push_back(window_places(op, in.shape[d], w.base_dilation[d], w.padding_low[d],
                                w.padding_high[d], w.window[d], w.window_dilation[d],
                                w.strides[d]));
  }
  check_shape(op, out, size_of(in.dtype));
  return out;
}

Aval window_reduced(const ShapeArgs& a) {
  return {a.in[0]->dtype, a.in[0]->weak,
          window_shape(a.op, *a.in[0], a.params.get<WindowParams>())};
}

Aval window_reduced_numeric(const ShapeArgs& a) {
  if (is_bool(a.in[0]->dtype)) {
    throw DtypeError(std::string(a.op) + ": takes numbers, not bool, got " + to_string(*a.in[0]) +
                     "; convert with astype");
  }
  return window_reduced(a);
}

Aval window_indices(const ShapeArgs& a) {
  return {Dtype::kInt32, false, window_shape(a.op, *a.in[0], a.params.get<WindowParams>())};
}

void jvp_window(const JvpArgs& a, const Primitive& arg, double fill) {
  const auto& w = a.params.get<WindowParams>();
  const Array index = bind1(arg, a.in, a.params);
  const auto pick = [&](const Array& x, double f) {
    return bind1(window_gather_p, {x, index},
                 Params::make(with_windows(WindowGatherParams{{}, {}, {}, {}, {}, {}, f}, w)));
  };
  a.out[0] = pick(a.in[0], fill);
  a.out_tangents[0] = pick(a.tangents[0], 0);
}

void batch_window(const BatchArgs& a) {
  a.out[0] = bind1(a.p, a.in, Params::make(with_front_axis(a.params.get<WindowParams>())));
}

std::vector<WindowCase> window_cases() {
  return {
      {{6}, {{2}, {1}, {0}, {0}, {1}, {1}}},
      {{7}, {{3}, {2}, {1}, {1}, {1}, {1}}},
      {{5}, {{2}, {1}, {1}, {1}, {2}, {1}}},
      {{8}, {{2}, {3}, {0}, {1}, {1}, {3}}},
      {{6}, {{2}, {1}, {-1}, {-2}, {1}, {1}}},
      {{4, 4}, {{2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {1, 1}}},
      {{3, 4}, {{2, 3}, {1, 2}, {1, 1}, {0, 1}, {1, 1}, {1, 1}}},
      {{2, 2, 3, 3},
       {{1, 1, 2, 2}, {1, 1, 1, 1}, {0, 0, 0, 1}, {0, 0, 1, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}}},
      {{2, 4, 2}, {{1, 2, 1}, {1, 2, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}}},
      {{3}, {{5}, {1}, {0}, {0}, {1}, {1}}},
      {{0, 3}, {{1, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}}},
      {{}, {{}, {}, {}, {}, {}, {}}},
  };
}

std::vector<Sample> window_samples() {
  std::vector<Sample> samples;
  for (const WindowCase& c : window_cases()) {
    Sample s = sample_of({c.shape}, Params::make(c.params));
    s.in[0].distinct = true;
    samples.push_back(s);
  }
  return samples;
}

}  // namespace spruce::rules
