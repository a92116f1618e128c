#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles a program that must be refused with one error, whose text the program names in its line
# "// expect: ", and with not much more.
#   check.sh <program> <compiler> [<flag> ...]
set -euo pipefail
program=$1
shift
expected=$(sed -n 's|^// expect: ||p' "$program")
said=$(mktemp)
trap 'rm -f "$said"' EXIT
if "$@" -fsyntax-only "$program" 2>"$said"; then
  echo "$program compiles, it must not"
  exit 1
fi
errors=$(grep -cE '(^|: )(fatal )?error: ' "$said" || true)
lines=$(wc -l <"$said")
if ((errors != 1 || lines > 40)) || ! grep -E 'error: ' "$said" | grep -qF -- "$expected"; then
  echo "expected one error with \"$expected\" in at most 40 lines; got $errors in $lines:"
  cat "$said"
  exit 1
fi
echo "refused in $lines lines: $(grep -E 'error: ' "$said")"
