# SPDX-License-Identifier: Apache-2.0
"""The picture in docs/architecture.md, from the includes.

    python3 tools/draw_architecture.py           writes it
    python3 tools/draw_architecture.py --check   fails if it is not that of the sources, or where
                                                 folders include each other that did not before

Folders that include each other, directly or around a circle, stand in one frame. An arrow says
that something in one frame includes something in the other; what follows from other arrows is left
out. The folders of core/primitives, none of which includes another, are one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
PARTS = ("core", "transforms", "nn", "optim", "data", "cuda")
CIRCLES = {frozenset({"core/ops", "core/rules"})}  # that there may be
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
            if source.name == part + ".h":
                continue  # it only includes the headers of its part
            folder = str(source.parent.relative_to(ROOT))
            folder = ONE if folder.startswith(ONE + "/") else folder
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


def picture():
    graph = arrows()
    below = reachable(graph)
    circle = {f: frozenset({f} | {to for to in below[f] if f in below[to]}) for f in graph}
    frames = sorted(set(circle.values()), key=min)
    for frame in frames:
        if len(frame) > 1 and frame not in CIRCLES:
            sys.exit(f"These folders include each other: {', '.join(sorted(frame))}")
    direct = {a: {circle[to] for f in a for to in graph[f]} - {a} for a in frames}
    far = reachable(direct)
    number = {frame: k for k, frame in enumerate(frames)}
    lines = ["```mermaid", "flowchart TD"]
    for frame in frames:
        lines.append(f'  f{number[frame]}["{"<br>".join(sorted(frame))}"]')
    for a in frames:
        for b in sorted(direct[a], key=min):
            if not any(b in far[c] for c in direct[a]):
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
