# SPDX-License-Identifier: Apache-2.0
"""RESULTS.md: what the rounds of run.py measured, as tables."""

import datetime
import json
import math
import os
import platform
import re
import statistics
import subprocess

HEAD = """# Results

Written by `./dev bench --peers` (benchmarks/run.py); each section by a run with that many threads.
Times are microseconds of one call: the median over rounds in which all programs take turns, each
row in a process of its own. Ratios are the best peer's time over ours: above 1 we are faster.

"""

UNTUNED = ", default malloc"  # behind the name of a peer that runs with glibc's own thresholds
COMPILE_PART = 20  # the bar: compile in at most this part of JAX's time

NOTES = """
- memory of the system: all programs run with `MALLOC_TRIM_THRESHOLD_` and `MALLOC_MMAP_THRESHOLD_`
  raised to 4 GiB, so that glibc keeps freed memory as our pool does; ratios are against that. By
  default it returns each large array and gets its pages anew, which costs a page fault per 4 KiB;
  "default malloc" is the same rows that way.
- floor: multiplications and additions of products and convolutions (bodies of loops as often as
  they run, zeros of padding not counted) at the machine's rate, plus arguments and results once at
  its rate of moving blocks of that size; "of floor" is floor / ours. It is an estimate: functions
  such as exp, sums and what a program keeps between its operations are not in it.
- compile: `lower` is the time until the function is ready to run, before anything runs: of Spruce
  `jit(f).lower(args).memory()`, of JAX `jit(f).lower(args).compile()`. `first` is how much longer the first call takes than a later one, which is all that
  PyTorch has to show. That holds the first touch of memory too: here, a virtual machine, 2.6 s a GiB
  for pages that its host has not given yet, 0.14 s a GiB for others, so that it differs from run to
  run (`SPRUCE_LOG=compile spruce_bench gpt` shows the compiler's phases).
- peak memory: of Spruce, the most array memory at once in a call, arguments and results included
  (`memory::peak_bytes`); of JAX, arguments, results and temporaries of its compiler's
  `memory_analysis`, less what is donated; "resident" is the growth of the process's resident set
  over the whole row, compilation included, which is all that PyTorch has to show.
"""


def middle(runs, key):
    values = [r[key] for r in runs if r.get(key) is not None]
    return statistics.median(values) if values else None


def copy_rate(machine, size):
    """Bytes a second at the measured size nearest to this one."""
    near = min(machine["copy_gb_s"], key=lambda p: abs(math.log(p[0] / max(size, 1))))
    return near[1] * 1e9


def summarize(results, machine):
    """One object a row: ours, each peer's, the best peer, the ratio and the floor."""
    out = []
    for row, programs in results.items():
        entry = {"row": row, "programs": {}}
        for name, runs in programs.items():
            if runs:
                entry["programs"][name] = {
                    "us": middle(runs, "us"),
                    # Later rounds of torch.compile load what the first one compiled.
                    "compile_ms": middle(runs[:1] if name == "torch.compile" else runs,
                                         "compile_ms"),
                    "lower_ms": middle(runs, "lower_ms"),
                    "value": runs[0].get("value"),
                    "peak_bytes": runs[0].get("peak_bytes"),
                    "rss_bytes": middle(runs, "rss_bytes"),
                }
        ours = programs["spruce"][0] if programs.get("spruce") else None
        peers = {n: p["us"] for n, p in entry["programs"].items()
                 if n != "spruce" and not n.endswith(UNTUNED)}
        if ours:
            floor = (ours["flops"] / (machine["gflops"] * 1e9)
                     + ours["bytes"] / copy_rate(machine, ours["bytes"]))
            entry["floor_us"] = floor * 1e6
            if peers:
                entry["best"] = min(peers, key=peers.get)
                entry["ratio"] = peers[entry["best"]] / entry["programs"]["spruce"]["us"]
        out.append(entry)
    return out


def wrong_values(summary, table):
    expected = {}
    for line in table.read_text().splitlines():
        entry = json.loads(line)
        if "row" in entry:
            expected[entry["row"]] = entry
    out = []
    for entry in summary:
        want = expected.get(entry["row"])
        for name, program in entry["programs"].items():
            got = program["value"]
            if want is None or got is None:
                continue
            if not abs(got - want["value"]) <= want["tolerance"] * abs(want["value"]):
                out.append(f"{entry['row']}: {name} gives {got}, expected {want['value']}")
    return out


# --- text -------------------------------------------------------------------------------------


def number(x):
    if x is None:
        return ""
    if x >= 1000:
        return f"{x:,.0f}"
    return f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def megabytes(x):
    return "" if x is None else f"{x / 1e6:,.2f}"


def table(header, lines):
    out = ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
    out += ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(out) + "\n"


def field(entry, program, key):
    return entry["programs"].get(program, {}).get(key)


def times(summary, peers):
    lines = []
    for e in summary:
        ours = field(e, "spruce", "us")
        ratio = f"{e['ratio']:.2f}" if "ratio" in e else ""
        of_floor = f"{100 * e['floor_us'] / ours:.0f} %" if ours else ""
        lines.append([e["row"], number(ours), *[number(field(e, p, "us")) for p in peers],
                      ratio if not ratio or e["ratio"] >= 1 else f"**{ratio}**",
                      number(e.get("floor_us")), of_floor])
    return table(["row", "Spruce", *peers, "ratio", "floor", "of floor"], lines)


def untuned_times(summary, peers):
    """Times of the peers with glibc's default thresholds, where they were taken."""
    names = [p + UNTUNED for p in peers]
    lines = [[e["row"], *[number(field(e, n, "us")) for n in ("spruce", *names)]]
             for e in summary if any(n in e["programs"] for n in names)]
    return table(["row", "Spruce", *names], lines) if lines else ""


def compile_times(summary, peers):
    lines = []
    for e in summary:
        lowered = [field(e, p, "lower_ms") for p in ("spruce", "jax")]
        ratio = f"{lowered[1] / lowered[0]:,.0f}" if all(lowered) else ""
        first = [field(e, p, "compile_ms") for p in ("spruce", *peers)]
        lines.append([e["row"], *map(number, lowered), ratio, *map(number, first)])
    names = [f"{p}, first" for p in ("Spruce", *peers)]
    return table(["row, ms", "Spruce, lower", "jax, lower", "JAX / Spruce", *names], lines)


def memory(summary, peers):
    lines = []
    for e in summary:
        resident = [megabytes(field(e, p, "rss_bytes")) for p in ("spruce", *peers)]
        lines.append([e["row"], megabytes(field(e, "spruce", "peak_bytes")),
                      megabytes(field(e, "jax", "peak_bytes")), *resident])
    names = [f"{p}, resident" for p in ("Spruce", *peers)]
    return table(["row, MB", "Spruce, peak", "jax, peak", *names], lines)


def conclusion(summary):
    ratios = [e["ratio"] for e in summary if "ratio" in e]
    if not ratios:
        return ""
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    slower = [f"{e['row']} ({e['ratio']:.2f})" for e in summary if e.get("ratio", 1) < 1]
    staging = [(e["row"], field(e, "spruce", "lower_ms"), field(e, "jax", "lower_ms"))
               for e in summary]
    slow = [f"{row} (1/{jax / ours:.0f})" for row, ours, jax in staging
            if jax and ours and ours * COMPILE_PART > jax]
    return (f"Geometric mean of the ratios: **{mean:.2f}** over {len(ratios)} rows. "
            f"Slower than the best peer: {', '.join(slower) or 'none'}. Compile time above "
            f"1/{COMPILE_PART} of JAX's: {', '.join(slow) or 'none'}.\n")


def surroundings(python, folder, args):
    """Lines on the machine, the versions and the run."""
    def first(pattern, path):
        found = re.search(pattern, open(path).read(), re.M)
        return found.group(1).strip() if found else "?"

    names = ("jax", "jaxlib", "optax", "torch")
    script = ("import importlib.metadata as m\n"
              f"print(', '.join(n + ' ' + m.version(n) for n in {names}))")
    versions = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True,
                            text=True, check=False, cwd=folder)
    busy = open("/proc/loadavg").read().split()[0]
    return [
        f"machine: {first('^model name.*: (.*)$', '/proc/cpuinfo')}, {platform.system()} "
        f"{platform.release()}; load at the end {busy}",
        f"versions: {versions.stdout.strip()}; Spruce {commit.stdout.strip()}",
        f"run: {datetime.date.today()}, {args.threads} thread(s), {args.rounds} rounds of "
        f"{args.seconds} s" + (", at real-time priority" if args.realtime else "")
        + (", torch.compile from a filled cache" if "TORCHINDUCTOR_CACHE_DIR" in os.environ else "")
        + (f", without {', '.join(args.without)}" if args.without else ""),
    ]


def page(summary, machine, lines, heading):
    peers = [p for p in ("jax", "torch", "torch.compile", "libtorch")
             if any(p in e["programs"] for e in summary)]
    rates = ", ".join(f"{rate:.1f} GB/s at {size / 2**20:g} MiB"
                      for size, rate in machine["copy_gb_s"])
    lines = [*lines, f"rates: {machine['gflops']:.0f} GFLOP/s in f32 products; moving {rates}"]
    return "\n".join([
        f"## {heading}\n", *[f"- {line}" for line in lines], "",
        conclusion(summary), times(summary, peers), untuned_times(summary, peers),
        compile_times(summary, peers),
        memory(summary, peers)])


def merged(path, text):
    """The page with this section in the place of an earlier one of the same heading."""
    sections = {}
    earlier = path.read_text().split("\n## Notes\n")[0] if path.exists() else ""
    for part in [*re.split(r"^(?=## Threads: )", earlier, flags=re.M)[1:], text]:
        sections[part.splitlines()[0]] = part.rstrip() + "\n"
    return HEAD + "\n".join(sections[h] for h in sorted(sections)) + "\n## Notes\n" + NOTES
