#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles a program that must be refused with one error, whose whole text the program gives in the
# comment "// expect: ", in at most 25 lines. Where the error is the use of a deleted function, what
# the program gives stands in the declaration that is printed with it.
#   check.sh <program> <folder of precompile.sh> <compiler> [<flag> ...]
# A program may say in further comments "// flags: " what it is compiled with (without a precompiled
# header then), and "// lines: " how many lines there may be by clang, with the reason.
set -euo pipefail
program=$1
precompiled=$2
shift 2
# The comment that begins so, its lines joined.
comment() {
  awk -v begin="// $1: " '
    index($0, begin) == 1 { on = 1; text = substr($0, length(begin) + 1); next }
    on && /^\/\/ (flags|lines|expect): / { on = 0 }
    on && /^\/\/ / { text = text " " substr($0, 4); next }
    { on = 0 }
    END { print text }' "$program"
}
expected=$(comment expect)
limit=25
if "$1" --version | grep -q clang; then
  by_clang=$(comment lines)
  limit=${by_clang%% *}
  limit=${limit:-25}
fi
read -ra flags <<<"$(comment flags)"
if ((${#flags[@]} == 0)); then
  if "$1" --version | grep -q clang; then
    flags=(-include-pch "$precompiled/spruce/spruce.h.gch")
  else
    flags=("-I$precompiled")
  fi
  command=("$1" "${flags[@]}" "${@:2}")
else
  command=("$@" "${flags[@]}")
fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
if LC_ALL=C "${command[@]}" -fsyntax-only "$program" 2>"$said"; then
  echo "$program compiles, it must not"
  exit 1
fi
errors=$(grep -cE '(^|: )(fatal )?error: ' "$said" || true)
lines=$(wc -l <"$said")
# clang writes the text as a string literal; both say of an include that there is no such file.
text=$(grep -m1 -E '(^|: )(fatal )?error: ' "$said" |
  sed "s/\\\\\"/\"/g; s/: No such file or directory\$//; s/' file not found\$//")
told=0
[[ $text == *"$expected" || $text == *"$expected\"" ]] && told=1
[[ $text == *deleted* ]] && grep -qF -- "$expected" "$said" && told=1
if ((errors != 1 || lines > limit || !told)); then
  echo "expected one error with \"$expected\" in at most $limit lines; got $errors in $lines:"
  cat "$said"
  exit 1
fi
echo "refused in $lines lines: $text"
