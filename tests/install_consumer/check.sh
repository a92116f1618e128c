#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the same small program in each way that a project can use spruce.
#   check.sh installed <prefix> <empty folder>    by find_package, then by pkg-config
#   check.sh subdirectory <folder> [cmake argument ...]    by add_subdirectory
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

by_cmake() {  # by_cmake <project> <folder> [cmake argument ...]
  cmake -S "$here/$1" -B "$2" -G Ninja "${@:3}" >/dev/null
  cmake --build "$2"
  "$2/consumer"
}

case $1 in
  installed)
    prefix=$2 folder=$3
    by_cmake find_package "$folder/find_package" -D CMAKE_BUILD_TYPE=Release \
      -D CMAKE_PREFIX_PATH="$prefix"

    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    read -ra flags <<<"$(pkg-config --cflags --libs spruce_data)"
    c++ -O1 "$here/main.cc" "${flags[@]}" -Wl,-rpath,"$prefix/lib" -o "$folder/consumer"
    "$folder/consumer"

    # A shared spruce keeps what it is made of to itself.
    if [[ -e $prefix/lib/libspruce.so ]]; then
      if pkg-config --cflags --libs spruce_data | grep -E 'absl|dnnl|openmp|zlib|-lz|png|jpeg'; then
        echo "pkg-config hands on what spruce links" >&2
        exit 1
      fi
      if grep -E 'absl|dnnl|openmp|libz|libpng|libjpeg' "$folder/find_package/build.ninja"; then
        echo "the CMake package hands on what spruce links" >&2
        exit 1
      fi
      # Whoever has another version of these libraries in the same program must not meet ours.
      exported=$(nm -D --defined-only -C "$prefix/lib/libspruce.so")
      if grep -E 'spruce::(cpu|fusion|passes)::|nlohmann::|absl::|Xbyak::' <<<"$exported"; then
        echo "spruce shows names that it keeps to itself" >&2
        exit 1
      fi
    fi
    ;;
  subdirectory)
    by_cmake add_subdirectory "$2" "${@:3}"
    ;;
esac
