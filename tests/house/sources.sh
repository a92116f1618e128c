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
failed=0
count=0
while IFS= read -r -d '' file; do
  count=$((count + 1))
  lines=$(wc -l <"$file")
  if ((lines > 500)); then
    echo "$file: $lines lines; one concept, one file, 500 at most"
    failed=1
  fi
  if ! head -n 1 "$file" | grep -qx '// SPDX-License-Identifier: Apache-2.0'; then
    echo "$file: the first line is not // SPDX-License-Identifier: Apache-2.0"
    failed=1
  fi
  if [[ $file == *.h ]] && ! grep -qx '#pragma once' "$file"; then
    echo "$file: no #pragma once"
    failed=1
  fi
done < <(find "${folders[@]}" \( -name '*.h' -o -name '*.cc' \) -print0)
((failed)) || echo "$count sources keep the house rules"
exit "$failed"
