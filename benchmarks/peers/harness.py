# SPDX-License-Identifier: Apache-2.0
"""What the peers share: a table of rows, and how one row is timed.

A row is a function that returns Work. Each program prints one JSON object a line:
row, peer, us (median of one call after warm-up), compile_ms (how much longer the first call takes),
value (mean of |x| over the results of the first call), rss_bytes (growth of the resident set from
before the row's inputs to its highest; say --separate for one process a row, as memory that an
earlier row left behind is not counted).
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
import time
from typing import Any, Callable


@dataclasses.dataclass
class Work:
    call: Callable[[], Any]  # starts one call and returns its results
    finish: Callable[[Any], None]  # waits until results are there
    numbers: Callable[[Any], tuple]  # results -> (sum of |x|, number of elements)
    compiled: Callable[[], dict] | None = None  # compiles before the first call: its figures


ROWS: dict[str, Callable[[], Work]] = {}


def row(name):
    def enter(make):
        ROWS[name] = make
        return make

    return enter


def resident(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0


def forget_highest():
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")


def later_calls(work, seconds):
    """Median time of a call, in batches of about 2 ms; the first third counts as warm-up."""
    times, inner, start = [], 1, time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        for _ in range(inner):
            results = work.call()
        work.finish(results)
        took = time.perf_counter() - begin
        times.append(took / inner)
        if took < 2e-3:
            inner *= 2
    return statistics.median(times[len(times) // 3 :])


def measure(make, seconds):
    forget_highest()
    before = resident("VmRSS")
    work = make()
    begin = time.perf_counter()
    figures = work.compiled() if work.compiled is not None else {}
    results = work.call()
    work.finish(results)
    first = time.perf_counter() - begin
    total, count = work.numbers(results)
    del results
    later = later_calls(work, seconds)
    out = {
        "us": round(later * 1e6, 2),
        "compile_ms": round(max(0.0, first - later) * 1e3, 1),
        "value": float(f"{total / count:.7g}"),
        "rss_bytes": resident("VmHWM") - before,
    }
    return out | figures


def main(peer, options=()):
    """Runs the rows that the command line names; `options` are further switches of this peer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--seconds", type=float, default=1.5, help="how long a row is repeated")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--separate", action="store_true", help="one process a row")
    for name in options:
        parser.add_argument(name, action="store_true")
    args = parser.parse_args()
    if args.list:
        print("\n".join(ROWS))
        return
    for name in args.rows or ROWS:
        if name not in ROWS:
            continue
        if args.separate:
            rest = [a for a in sys.argv[1:] if a not in ("--separate", *args.rows)]
            subprocess.run([sys.executable, sys.argv[0], *rest, name], check=False)
            continue
        try:
            print(json.dumps({"row": name, "peer": peer, **measure(ROWS[name], args.seconds)}))
        except Exception as error:  # a row that a peer cannot do is a result, not the end
            print(json.dumps({"row": name, "peer": peer, "error": repr(error)[:200]}))
        sys.stdout.flush()
