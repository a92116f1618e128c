# SPDX-License-Identifier: Apache-2.0
"""What each pass of the compiler does for the rows of spruce_bench.

    ./dev bench --ablation [row ...] [--without pass ...] [--rounds n] [--seconds s] [--threads n]
                           [--write]

Runs each row with all passes and, by turns, without each of those that can be switched off
(SPRUCE_PASSES=-name). Prints a table: the least time without the pass over the least with it, and,
where it differs, the same of the peak of array memory. --write puts the table into docs/passes.md.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

from pinned import Pinned

ROWS = ["tiny_mlp", "mlp_adam", "lenet", "cnn64", "lstm", "transformer", "gpt", "maml",
        "per_example", "hessian", "pinn", "lorenz_jac", "take_rows_grad", "bag_grad", "stencil"]
PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "passes.md"
BEGIN, END = "<!-- ablation -->\n", "<!-- end of ablation -->\n"
SHOWN = 0.03  # a ratio as near to 1 as this is noise


def passes(program):
    """The names that SPRUCE_PASSES knows, from what the library says of one that it does not."""
    done = subprocess.run([program, "--no-floor", "--json", "--seconds", "0", "exp_1m"],
                          env=os.environ | {"SPRUCE_PASSES": "-"}, capture_output=True, text=True,
                          check=True)
    known = re.search(r"known values: (.*)", done.stderr)
    if not known:
        sys.exit(f"ablation.py: {program} does not read SPRUCE_PASSES")
    return [name.removeprefix("-") for name in known.group(1).split(", ")]


def run(args, pinned, row, without):
    """The time in microseconds and the peak in bytes of one process."""
    command = [args.program, "--no-floor", "--json", "--seconds", args.seconds, row]
    lines = pinned.lines(command, extra={"SPRUCE_PASSES": f"-{without}" if without else ""})
    if not lines:
        sys.exit(f"ablation.py: {row} did not run")
    return lines[0]["us"], lines[0]["peak_bytes"]


def measure(args, names):
    """ratios[name][row] = (time, peak) without the pass over those with it."""
    pinned = Pinned(args.threads)
    ratios = {name: {} for name in names}
    for row in args.rows:
        least = {}
        for _ in range(args.rounds):
            for name in ["", *names]:
                time, peak = run(args, pinned, row, name)
                least[name] = (min(time, least.get(name, (time, 0))[0]), peak)
        for name in names:
            ratios[name][row] = tuple(least[name][i] / max(least[""][i], 1e-9) for i in range(2))
        print(f"{row}: {least[''][0]:.1f} us", file=sys.stderr, flush=True)
    return ratios


def table(ratios):
    """A row for each pass: what becomes slower or larger without it, and what faster."""
    lines = ["| without | time | peak |", "| --- | --- | --- |"]
    for name, by_row in ratios.items():
        cells = []
        for i in range(2):
            moved = [(ratio[i], row) for row, ratio in by_row.items() if abs(ratio[i] - 1) > SHOWN]
            moved.sort(reverse=True)
            cells.append(", ".join(f"{row} {ratio:.2f}" for ratio, row in moved) or "-")
        lines.append(f"| `{name}` | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --ablation")
    parser.add_argument("rows", nargs="*", default=ROWS)
    parser.add_argument("--program", required=True, help="spruce_bench")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--without", action="append", default=[], metavar="PASS")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--write", action="store_true", help="into docs/passes.md")
    args = parser.parse_args()
    text = table(measure(args, args.without or passes(args.program)))
    print(text, end="")
    if args.write:
        page = PAGE.read_text()
        begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        PAGE.write_text(page[:begin] + text + page[end:])


if __name__ == "__main__":
    main()
