#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails where a source is longer than 500 lines, lacks its licence line, or a header its guard.
#   tests/house/sources.sh <repository>
set -euo pipefail
cd "$1"

folders=()
for folder in core transforms nn optim data cuda include tests examples benchmarks; do
  [[ -d $folder ]] && folders+=("$folder")
done
find "${folders[@]}" \( -name '*.h' -o -name '*.cc' \) -print | awk '
  {
    files++
    lines = guard = 0
    while ((getline line < $0) > 0) {
      if (++lines == 1 && line != "// SPDX-License-Identifier: Apache-2.0")
        wrong($0 ": the first line is not // SPDX-License-Identifier: Apache-2.0")
      if (line == "#pragma once") guard = 1
    }
    close($0)
    if (lines == 0) wrong($0 ": empty")
    if (lines > 500) wrong($0 ": " lines " lines; one concept, one file, 500 at most")
    if ($0 ~ /[.]h$/ && !guard) wrong($0 ": no #pragma once")
  }
  function wrong(what) { print what; failed = 1 }
  END {
    if (!failed) print files " sources keep the house rules"
    exit failed
  }'
