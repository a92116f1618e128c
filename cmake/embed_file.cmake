# SPDX-License-Identifier: Apache-2.0
# Writes <folder>/<symbol>.h and .cc, which hold the bytes of <input>.
#   cmake -D symbol=... -D input=... -D folder=... -P embed_file.cmake

file(READ "${input}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes
                     "${bytes}")

file(WRITE "${folder}/${symbol}.h" "#pragma once
#include <string_view>

extern const std::string_view ${symbol};
")
file(WRITE "${folder}/${symbol}.cc" "#include \"${symbol}.h\"

static constexpr unsigned char kBytes[] = {
${bytes}};
const std::string_view ${symbol}(reinterpret_cast<const char*>(kBytes), sizeof kBytes);
")
