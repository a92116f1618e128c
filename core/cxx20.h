// SPDX-License-Identifier: Apache-2.0
// Stops a compiler that does not read C++20 with one error instead of hundreds. Headers that
// include no other header of ours include it, so that it is what is read first, whichever header a
// program includes. `#error` would not do: compilers go on behind it.
#pragma once

#if __cplusplus < 202002L
#include <Spruce needs C++20: compile with -std=c++20>
#endif
