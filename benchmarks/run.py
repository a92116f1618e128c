# SPDX-License-Identifier: Apache-2.0
"""Runs the rows of spruce_bench and of its peers by turns and writes RESULTS.md.

    ./dev bench --peers [row ...] [--threads n] [--rounds n] [--seconds s] [--without peer ...]
                        [--peers-from DIR] [--realtime] [--tuned-only] [--json] [--title TEXT]
                        [--device cuda:0]

Each row of each program is a process of its own, pinned to the first n cores, so that memory is
that of the row and nothing is shared but the machine. A round runs a row once in every program; the
tables show medians over the rounds. All run with glibc's thresholds for giving memory back raised
(TUNED in pinned.py), as a user who cares has them; peers run a second time without, for a table of
its own, unless --tuned-only says not to. Peers come from benchmarks/peers, or from DIR if it has
programs of the same names. Python packages are put into .cache/peers, or are those of the virtual
environment that SPRUCE_PEERS_VENV names; SPRUCE_PEERS_LIBTORCH names a built rows_libtorch.
torch.compile starts from an empty cache, unless TORCHINDUCTOR_CACHE_DIR names one: then its compile
times are of loading.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import report
from pinned import Pinned, say

HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parent / ".cache" / "peers"


def environment():
    """The Python of a virtual environment that holds the peers."""
    given = os.environ.get("SPRUCE_PEERS_VENV")
    venv = pathlib.Path(given) if given else CACHE
    python = venv / "bin" / "python"
    if given and not python.exists():
        sys.exit(f"run.py: SPRUCE_PEERS_VENV is {given}, which has no bin/python")
    if not python.exists():
        say(f"Installing JAX and PyTorch into {venv}")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "jax[cpu]", "optax", "numpy"], check=True)
        cpu = ["--index-url", "https://download.pytorch.org/whl/cpu"]
        if subprocess.run([*pip, "torch", *cpu], check=False).returncode != 0:
            subprocess.run([*pip, "torch"], check=True)
    return python


def libtorch_program(python, folder):
    """The C++ program, built against the wheel's headers; None where that cannot be."""
    given = os.environ.get("SPRUCE_PEERS_LIBTORCH")
    if given:
        return pathlib.Path(given)
    source, program = folder / "rows_libtorch.cc", CACHE / "rows_libtorch"
    where = "import os, torch; print(os.path.dirname(torch.__file__))"
    found = subprocess.run([python, "-c", where], capture_output=True, text=True, check=False)
    torch = pathlib.Path(found.stdout.strip())
    compiler = shutil.which("c++")
    if found.returncode or not (torch / "include").exists() or not source.exists() or not compiler:
        return None
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        say("Building the C++ peer")
        program.parent.mkdir(parents=True, exist_ok=True)
        include, library = torch / "include", torch / "lib"
        built = subprocess.run(
            [compiler, "-std=c++20", "-O2", source, "-o", program, f"-I{include}",
             f"-I{include}/torch/csrc/api/include", f"-L{library}", f"-Wl,-rpath,{library}",
             "-ltorch", "-ltorch_cpu", "-lc10"], check=False)
        if built.returncode:
            return None
    return program


def programs(args, python):
    """Name -> command, ours first."""
    folder = pathlib.Path(args.peers_from) if args.peers_from else HERE / "peers"
    jax, torch = folder / "rows_jax.py", folder / "rows_torch.py"
    if not jax.exists() and not torch.exists():
        sys.exit(f"run.py: {folder} has neither rows_jax.py nor rows_torch.py")
    out = {"spruce": [args.program, "--json", "--no-floor"]}
    if args.device != "cpu":
        out["spruce"] += ["--device", args.device]
        gpu = {"jax": [python, jax],  # which takes a GPU that is there
               "torch": [python, torch, "--cuda"],
               "torch.compile": [python, torch, "--cuda", "--compile"]}
        return out | {name: command for name, command in gpu.items()
                      if command[1].exists() and name not in args.without}
    if jax.exists():
        out["jax"] = [python, jax]
    if torch.exists():
        out["torch"] = [python, torch]
        out["torch.compile"] = [python, torch, "--compile"]
    libtorch = libtorch_program(python, folder)
    if libtorch:
        out["libtorch"] = [libtorch]
    out = {name: command for name, command in out.items() if name not in args.without}
    peers = [] if args.tuned_only else [name for name in out if name != "spruce"]
    return out | {name + report.UNTUNED: out[name] for name in peers}


def measure(args, pinned, commands, rows):
    """results[row][program] = list of the objects that its rounds printed."""
    results = {row: {name: [] for name in commands} for row in rows}
    for row in rows:
        for turn in range(args.rounds):
            for name, command in commands.items():
                if turn > 0 and not results[row][name]:
                    continue  # it has no such row
                extra = ["--memory"] if name == "jax" and turn == 0 else []
                seconds = ["--seconds", args.seconds]
                tuned = not name.endswith(report.UNTUNED)
                for line in pinned.lines([*command, *extra, *seconds, row], tuned):
                    if line.get("row") == row and "us" in line:
                        results[row][name].append(line)
        say("  ".join([f"{row:22}"] + [
            f"{name} {statistics.median(r['us'] for r in runs):.1f}"
            for name, runs in results[row].items() if runs]))
    return results


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench --peers")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--program", required=True, help="spruce_bench")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peers-from", metavar="DIR")
    parser.add_argument("--without", action="append", default=[], metavar="PEER")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="cuda:0: there, against JAX and PyTorch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each row in each round")
    parser.add_argument("--realtime", action="store_true",
                        help="before all else on a busy machine (chrt; needs the right to)")
    parser.add_argument("--tuned-only", action="store_true",
                        help="no runs with glibc's default thresholds")
    parser.add_argument("--json", action="store_true", help="print JSON lines, write no page")
    parser.add_argument("--title", default="", metavar="TEXT",
                        help="of the rows; those of each title have a section of the page")
    parser.add_argument("--page", type=pathlib.Path, default=HERE / "RESULTS.md")
    return parser.parse_args()


def main():
    args = parse()
    python = environment()
    with tempfile.TemporaryDirectory() as scratch:
        defaults = {"TORCHINDUCTOR_CACHE_DIR": str(scratch)}
        if args.device != "cpu":
            defaults["JAX_PLATFORMS"] = "cuda"  # or fails, instead of falling back to the CPU
        pinned = Pinned(args.threads, args.realtime, defaults)
        every = subprocess.run([args.program, "--list"], capture_output=True, text=True, check=True)
        rows = [r for r in every.stdout.split() if not args.rows or r in args.rows]
        commands = programs(args, python)
        (machine,) = pinned.lines([args.program, "--machine"])
        results = measure(args, pinned, commands, rows)
    summary = report.summarize(results, machine)
    if args.json:
        for entry in summary:
            print(json.dumps(entry))
    else:
        where = "" if args.device == "cpu" else f" and {args.device}"
        heading = f"Threads: {args.threads}{where}" + (f", {args.title}" if args.title else "")
        text = report.page(summary, machine, report.surroundings(python, HERE, args), heading)
        args.page.write_text(report.merged(args.page, text))
        print(text)
    wrong = report.wrong_values(summary, HERE / "values.jsonl")
    for line in wrong:
        say(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
