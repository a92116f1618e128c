# SPDX-License-Identifier: Apache-2.0
"""Processes of benchmarks on cores of their own."""

import json
import os
import subprocess
import sys

LIMIT = 600  # seconds for one row of one program
# By default glibc hands large arrays back to the system and gets new pages for the next ones.
TUNED = {"MALLOC_TRIM_THRESHOLD_": str(1 << 32), "MALLOC_MMAP_THRESHOLD_": str(1 << 32)}


def say(text):
    print(text, file=sys.stderr, flush=True)


class Pinned:
    """Runs programs on the first n of the cores that this process may use."""

    def __init__(self, threads, realtime=False, defaults=None):
        cores = sorted(os.sched_getaffinity(0))
        if threads > len(cores):
            sys.exit(f"--threads {threads}, but there are {len(cores)} cores")
        alone = ["chrt", "-f", "1"] if realtime else []
        self.prefix = [*alone, "taskset", "-c", ",".join(map(str, cores[:threads]))]
        count = str(threads)
        self.environment = {**(defaults or {}), **os.environ, "OMP_NUM_THREADS": count,
                            "MKL_NUM_THREADS": count}

    def lines(self, command, tuned=True, extra=None):
        """The JSON objects that a program prints; none if it fails or takes too long."""
        environment = self.environment | (TUNED if tuned else {}) | (extra or {})
        try:
            done = subprocess.run(
                [*self.prefix, *map(str, command)], env=environment, capture_output=True,
                text=True, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            say(f"  {' '.join(map(str, command))}: more than {LIMIT} s")
            return []
        if done.returncode:
            say(f"  {' '.join(map(str, command))}: {done.stderr.strip().splitlines()[-1:]}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
