# SPDX-License-Identifier: Apache-2.0
"""The picture in docs/architecture.md, from the includes.

    python3 tools/draw_architecture.py           writes it
    python3 tools/draw_architecture.py --check   fails if it is not that of the sources, or where
                                                 folders include each other, directly or not

An arrow says that something in one folder includes something in the other; what follows from other
arrows is left out. The folders of core/primitives are drawn as one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
PARTS = ("core", "transforms", "nn", "optim", "data", "cuda")
BEGIN, END = "<!-- picture -->\n", "<!-- end of picture -->\n"
ONE = "core/primitives"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]spruce/([^"<>\n]*)/[^/"<>\n]*[">]', re.MULTILINE)


def arrows():
    """folder -> the other folders that its sources include."""
    out = {}
    for part in PARTS:
        for source in sorted((ROOT / part).rglob("*")):
            if source.suffix not in (".h", ".cc", ".inc"):
                continue
            folder = str(source.parent.relative_to(ROOT))
            seen = set(INCLUDE.findall(source.read_text()))
            out.setdefault(folder, set()).update(seen - {folder})
    return {folder: {to for to in seen if to in out} for folder, seen in out.items()}


def reachable(graph):
    """node -> all nodes that arrows lead to."""
    out = {node: set(seen) for node, seen in graph.items()}
    for middle in graph:
        for node in graph:
            if middle in out[node]:
                out[node] |= out[middle]
    return out


def check(below):
    for folder in sorted(below):
        circle = sorted({folder} | {to for to in below[folder] if folder in below[to]})
        if len(circle) > 1:
            sys.exit(f"These folders include each other: {', '.join(circle)}")


def merged(graph):
    """The graph with the folders of core/primitives as one."""
    def name(folder):
        return ONE if folder.startswith(ONE + "/") else folder

    out = {}
    for folder, seen in graph.items():
        out.setdefault(name(folder), set()).update(name(to) for to in seen)
    return {folder: seen - {folder} for folder, seen in out.items()}


def picture():
    graph = arrows()
    check(reachable(graph))
    graph = merged(graph)
    below = reachable(graph)
    check(below)
    number = {folder: k for k, folder in enumerate(sorted(graph))}
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'  f{k}["{folder}"]' for folder, k in number.items()]
    for a in number:
        for b in sorted(graph[a]):
            if not any(b in below[c] for c in graph[a]):
                lines.append(f"  f{number[a]} --> f{number[b]}")
    return "\n".join([*lines, "```"]) + "\n"


def main():
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    drawn = page[:begin] + picture() + page[end:]
    if "--check" in sys.argv[1:]:
        sys.exit(0 if drawn == page else
                 "docs/architecture.md has another picture than the includes give; write it by "
                 "python3 tools/draw_architecture.py")
    PAGE.write_text(drawn)


if __name__ == "__main__":
    main()
