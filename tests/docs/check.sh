#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each block of a page's program; where the page says what it prints, compares.
#   check.sh <program> <folder of expected output>
set -euo pipefail
program=$1 folder=$2
count=$(<"$folder/count")
failed=0
for ((block = 1; block <= count; ++block)); do
  printed=$(mktemp)
  if ! "$program" "$block" >"$printed" 2>&1; then
    echo "block $block failed:"
    cat "$printed"
    failed=1
  elif [[ -e $folder/$block ]] && ! diff -u --label page "$folder/$block" --label program "$printed"
  then
    echo "block $block does not print what the page says"
    failed=1
  fi
  rm -f "$printed"
done
((failed)) || echo "$count blocks run as the page says"
exit "$failed"
