// SPDX-License-Identifier: Apache-2.0
// expect: spruce: the call operator of the function has to be const; leave out `mutable`, and
// return what changes
#include <spruce/spruce.h>

namespace sp = spruce;
using spruce::Array;

auto f(const Array& x) {
  int n = 0;
  return sp::vmap([n](const Array& v) mutable {
    ++n;
    return v;
  })(x);
}
