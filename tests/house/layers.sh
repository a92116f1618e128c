#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails where a part includes one that is not below it, or what users alone include.
#   tests/house/layers.sh <repository>
set -euo pipefail
cd "$1"

declare -A sees=(
  [core]="core"
  [transforms]="core transforms"
  [nn]="core transforms nn"
  [optim]="core transforms optim"
  [data]="core data"
  [cuda]="core cuda"
)
failed=0
for part in core transforms nn optim data cuda; do
  seen=${sees[$part]}
  wrong=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]spruce/' \
    --include='*.h' --include='*.cc' "$part" |
    grep -vE "[\"<]spruce/(${seen// /|})/" || true)
  if [[ -n $wrong ]]; then
    printf '%s sees only: %s\n%s\n' "$part" "$seen" "$wrong"
    failed=1
  fi
done

# The back end of the CPU is for the primitives, which name their kernels, and for itself.
outside=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]spruce/core/cpu/' \
  --include='*.h' --include='*.cc' core transforms nn optim data cuda |
  grep -vE '^core/(cpu|primitives)/' || true)
if [[ -n $outside ]]; then
  printf 'Only core/cpu and core/primitives include core/cpu:\n%s\n' "$outside"
  failed=1
fi

# Side-by-side headers are reached by their full names only, or the rule above could be passed by.
local_names=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.h' \
  --include='*.cc' core transforms nn optim data cuda | grep -v '"spruce/' || true)
if [[ -n $local_names ]]; then
  printf 'Includes of our own headers begin with "spruce/<part>/":\n%s\n' "$local_names"
  failed=1
fi
((failed)) || echo "every part includes only what is below it"
exit "$failed"
