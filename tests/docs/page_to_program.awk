# SPDX-License-Identifier: Apache-2.0
# Turns a page of Markdown into one C++ program that runs its code, a block an argument.
#   awk -v program=page.cc -v folder=expected -f page_to_program.awk page.md
#
# A block ```cpp is compiled and run: by itself if it ends in a main, else as the body of one, with the
# names sp, nn and Array known. A block ```output after it is what it prints, to the letter; it goes
# to <folder>/<number of the block>. Any other block is only read by people.

/^```/ && inside == "" {
  inside = substr($0, 4)
  if (inside == "cpp") {
    ++blocks
    text = ""
    whole = 0
    first_line = NR + 1
  } else if (inside == "output") {
    expected = folder "/" blocks
    printf "" > expected
  } else if (inside == "") {
    inside = "plain"
  }
  next
}

/^```$/ {
  if (inside == "cpp") {
    body = whole ? text : "int main() {\n" text "}\n"
    gsub(/int main\(/, "int run(", body)
    sub(/}\n*$/, "return 0;\n}\n", body)  # only a real main may go without
    bodies = bodies sprintf("namespace block_%d {\n#line %d \"%s\"\n%s}  // namespace block_%d\n\n",
                            blocks, first_line - !whole, FILENAME, body, blocks)
    cases = cases sprintf("    case %d:\n      return block_%d::run();\n", blocks, blocks)
  } else if (inside == "output") {
    close(expected)
  }
  inside = ""
  next
}

inside == "output" { print > expected }

inside == "cpp" {
  if (/^#include/) {
    if (!seen[$0]++) includes = includes $0 "\n"
    text = text "\n"
    next
  }
  if (/int main\(/) whole = 1
  text = text $0 "\n"
}

END {
  printf "#include <spruce/spruce.h>\n#include <cstdlib>\n%s\n", includes > program
  print "namespace sp = spruce;\nnamespace nn = spruce::nn;\nusing sp::Array;\n" > program
  printf "%s", bodies > program
  printf "int main(int, char** argv) {\n  switch (std::atoi(argv[1])) {\n%s", cases > program
  print "  }\n  return 1;\n}" > program
  printf "%d\n", blocks > (folder "/count")
}
