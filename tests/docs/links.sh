#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every relative link of the pages leads to a file or folder.
#   links.sh <root of the project>
set -euo pipefail
cd "$1"
failed=0
count=0
for page in *.md docs/*.md docs/decisions/*.md data/*.md examples/*.md; do
  while IFS= read -r target; do
    case $target in
      http://* | https://* | '#'* | '') continue ;;
    esac
    count=$((count + 1))
    if [[ ! -e $(dirname "$page")/${target%%#*} ]]; then
      echo "$page: no such file: $target"
      failed=1
    fi
  done < <(awk '/^```/ {code = !code} !code' "$page" | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//')
done
((failed)) || echo "$count links lead somewhere"
exit "$failed"
