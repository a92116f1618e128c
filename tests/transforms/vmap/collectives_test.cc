// SPDX-License-Identifier: Apache-2.0
// psum, pmean and axis_index: what a slice under vmap knows of the others.
#include "spruce/transforms/vmap/collectives.h"

#include <gmock/gmock.h>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace collectives_test {

const Array kRow = array({1.0f, 2.0f, 4.0f});

Array share(const Array& x) { return x / psum(x, "i"); }

TEST(Collectives, PsumAddsTheSlices) {
  EXPECT_TRUE(allclose(vmap(share, {.axis_name = "i"})(kRow), kRow / 7.0f));
}

TEST(Collectives, PmeanAndOfWhatIsNotMapped) {
  const auto f = [](const Array& x) { return x - pmean(x, "i") + psum(array(2.0f), "i"); };
  EXPECT_TRUE(allclose(vmap(f, {.axis_name = "i"})(kRow), kRow - 7.0f / 3 + 6.0f));
}

TEST(Collectives, AxisIndexNumbersTheSlices) {
  const auto f = [](const Array& x) { return x * astype(axis_index("i"), float32); };
  EXPECT_TRUE(array_equal(vmap(f, {.axis_name = "i"})(kRow), array({0.0f, 2.0f, 8.0f})));
  const auto number = [](const Array&) { return axis_index("i"); };
  EXPECT_TRUE(array_equal(vmap(number, {.axis_name = "i"})(kRow), array({0, 1, 2})));
}

TEST(Collectives, NamesReachTheirOwnAxis) {
  const Array x = reshape(arange(6.0f), {2, 3});
  const auto f = [](const Array& v) {
    return stack({psum(v, "rows"), psum(v, "columns"), psum(psum(v, "columns"), "rows"),
                  astype(axis_index("rows") * 10 + axis_index("columns"), float32)});
  };
  const auto inner = vmap(f, {.axis_name = "columns"});
  const Array got = vmap(inner, {.axis_name = "rows"})(x);
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) {
      const Array want = stack({sum(x[{slice(), k}]), sum(x[i]), sum(x), array(10.0f * i + k)});
      EXPECT_TRUE(array_equal(got[{i, k}], want)) << got[{i, k}];
    }
  }
}

TEST(Collectives, TheInnerOneOfTwoEqualNames) {
  const auto inner = vmap([](const Array& v) { return psum(v, "i"); }, {.axis_name = "i"});
  const Array x = reshape(arange(6.0f), {2, 3});
  EXPECT_TRUE(array_equal(vmap(inner, {.axis_name = "i"})(x),
                          array({{3.0f, 3.0f, 3.0f}, {12.0f, 12.0f, 12.0f}})));
}

TEST(Collectives, GradOutsideAndInside) {
  const auto loss = [](const Array& x) { return sum(square(vmap(share, {.axis_name = "i"})(x))); };
  const auto plain = [](const Array& x) { return sum(square(x / sum(x))); };
  EXPECT_TRUE(allclose(grad(loss)(kRow), grad(plain)(kRow)));
  // Inside, each slice differentiates its own copy of psum: the cotangents are summed over the
  // slices.
  const auto inside =
      vmap(grad([](const Array& x) { return square(psum(x, "i")); }), {.axis_name = "i"});
  EXPECT_TRUE(allclose(inside(kRow), full({3}, 3 * 2 * 7.0f)));
  const auto forward = [](const Array& x) {
    return jvp([](const Array& y) { return psum(y * y, "i"); }, std::tuple{x},
               std::tuple{ones_like(x)})
        .second;
  };
  EXPECT_TRUE(allclose(vmap(forward, {.axis_name = "i"})(kRow), full({3}, 14.0f)));
}

TEST(Collectives, UnderJitInBothOrders) {
  const Array want = kRow / 7.0f;
  EXPECT_TRUE(allclose(jit(vmap(share, {.axis_name = "i"}))(kRow), want));
  EXPECT_TRUE(allclose(vmap(jit(share), {.axis_name = "i"})(kRow), want));
  const auto number = [](const Array& x) { return astype(axis_index("i"), float32) + x; };
  EXPECT_TRUE(
      allclose(vmap(jit(number), {.axis_name = "i"})(kRow), kRow + array({0.0f, 1.0f, 2.0f})));
  EXPECT_TRUE(allclose(jit(grad([](const Array& x) {
                         return sum(square(vmap(jit(share), {.axis_name = "i"})(x)));
                       }))(kRow),
                       grad([](const Array& x) { return sum(square(x / sum(x))); })(kRow)));
}

TEST(Collectives, UnderANamelessVmapInside) {
  const auto f = [](const Array& row) {
    return vmap([](const Array& v) { return psum(v, "i") + 0.0f * v; })(row);
  };
  const Array x = reshape(arange(6.0f), {2, 3});
  EXPECT_TRUE(
      array_equal(vmap(f, {.axis_name = "i"})(x), array({{3.0f, 5.0f, 7.0f}, {3.0f, 5.0f, 7.0f}})));
}

TEST(Collectives, UnknownNamesAreErrors) {
  const auto message = [](const auto& f) -> std::string {
    try {
      (void)vmap(f, {.axis_name = "j"})(kRow);
    } catch (const ValueError& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message(share), testing::HasSubstr("psum: no enclosing vmap has the axis_name 'i'"));
  EXPECT_THAT(message([](const Array& x) { return pmean(x, "i"); }),
              testing::HasSubstr("pmean: no enclosing vmap"));
  EXPECT_THAT(message([](const Array&) { return axis_index("i"); }),
              testing::HasSubstr("axis_index: no enclosing vmap"));
  EXPECT_THROW((void)psum(kRow, "i"), ValueError);
}

// === within loops and branches ===

Array slices() { return reshape(linspace(0.1f, 1.0f, 12), {3, 4}); }

// What f, which sees one slice, gives under vmap: eagerly, compiled, and its derivative against
// that of `plain`, the same function of all slices.
template <class F, class Plain>
void expect_same(const F& f, const Plain& plain) {
  const auto mapped = vmap(f, {.axis_name = "i"});
  const Array x = slices(), want = plain(x);
  EXPECT_TRUE(allclose(mapped(x), want)) << mapped(x) << want;
  EXPECT_TRUE(allclose(jit(mapped)(x), want));
  const auto loss = [&](const Array& v) { return sum(square(mapped(v))); };
  const auto plain_loss = [&](const Array& v) { return sum(square(plain(v))); };
  const Array g = grad(plain_loss)(x);
  EXPECT_TRUE(allclose(grad(loss)(x), g, {.rtol = 1e-4})) << grad(loss)(x) << g;
  EXPECT_TRUE(allclose(jit(grad(loss))(x), g, {.rtol = 1e-4}));
}

TEST(Collectives, InTheBodyOfAScan) {
  const auto f = [](const Array& x) {
    const auto step = [](const Array& c, const Array& v) {
      const Array next = 0.5f * c * pmean(v, "i") + psum(v, "i") + astype(axis_index("i"), float32);
      return std::pair{next, next * v};
    };
    return scan(step, sum(x), x).second;
  };
  expect_same(f, [](const Array& x) {
    Array c = sum(x, 1);
    std::vector<Array> out;
    for (int t = 0; t < 4; ++t) {
      const Array v = x[{slice(), t}];
      c = 0.5f * c * mean(v) + sum(v) + arange(3.0f);
      out.push_back(c * v);
    }
    return stack(out, 1);
  });
}

TEST(Collectives, InTheBodyOfALoopWithABound) {
  const auto f = [](const Array& x) {
    return while_loop([](const Array& c) { return sum(c) < 40.0f; },
                      [](const Array& c) { return c + 0.3f * psum(c, "i"); }, x, {.max_steps = 8});
  };
  expect_same(f, [](const Array& x) {
    Array c = x;
    for (int t = 0; t < 8; ++t)
      c = where(sum(c, 1, {.keepdims = true}) < 40.0f, c + 0.3f * sum(c, 0, {.keepdims = true}), c);
    return c;
  });
}

TEST(Collectives, InBranches) {
  const auto f = [](const Array& x) {
    return cond(
        sum(x) > 1.0f, [](const Array& v) { return psum(v, "i"); },
        [](const Array& v) { return 2.0f * v; }, x);
  };
  expect_same(f, [](const Array& x) {
    return where(sum(x, 1, {.keepdims = true}) > 1.0f, broadcast_to(sum(x, 0), {3, 4}), 2.0f * x);
  });
}

TEST(Collectives, InLoopsThatTakeNothingMapped) {
  const auto f = [](const Array&) {
    return fori_loop(
        0, 3, [](const Array&, const Array& c) { return c + astype(axis_index("i"), float32); },
        array(1.0f));
  };
  EXPECT_TRUE(array_equal(vmap(f, {.axis_name = "i"})(kRow), array({1.0f, 4.0f, 7.0f})));
  const auto outer = vmap([&](const Array& x) { return f(x) + x; });
  const auto both = vmap(outer, {.axis_name = "i"});
  EXPECT_TRUE(array_equal(both(zeros({3, 2})), array({{1.0f, 1.0f}, {4.0f, 4.0f}, {7.0f, 7.0f}})));
}

}  // namespace collectives_test
}  // namespace spruce
