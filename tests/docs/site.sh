#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the site of `./dev site` in a folder and looks whether it is whole: a page for each page of
# the project, the examples and their pictures, and nothing that a page shows or links to is missing.
#   tests/docs/site.sh <repository> <folder>
# Exits 77 where there is no doxygen.
set -euo pipefail
repository=$1
folder=$2

command -v doxygen >/dev/null || { echo "skipped: there is no doxygen on this machine" && exit 77; }
rm -rf "$folder"
"$repository/dev" site "$folder"

failed=0
missing() {
  echo "$*"
  failed=1
}
[[ -s $folder/index.html ]] || missing "there is no index.html"
for page in "$repository"/docs/*.md "$repository"/docs/decisions/*.md "$repository"/examples/README.md; do
  heading=$(sed -n 's/^# //p' "$page" | head -n 1)
  grep -qlF -- "<div class=\"title\">${heading//&/&amp;}" "$folder"/md_*.html ||
    missing "no page of the site has the heading of $page: $heading"
done
for file in "$repository"/examples/*.cc "$repository"/examples/pictures/*; do
  [[ -s $folder/${file##*/} ]] || missing "${file##*/} is not in the site"
done
for picture in "$repository"/examples/pictures/*; do
  grep -qE "(src|data)=\"${picture##*/}\"" "$folder"/md_examples*.html ||
    missing "the page of the examples does not show ${picture##*/}"
done
for name in $(grep -ohE '<(img|object)[^>]* (src|data)="[^":]+"' "$folder"/md_*.html |
  sed -E 's/.* (src|data)="([^"]*)".*/\2/' | sort -u); do
  [[ -e $folder/$name ]] || missing "a page shows $name, which is not in the site"
done
for name in spruce::nn::Linear spruce::optim::AdamOptions spruce::data::CsvTable; do
  grep -qF "$name" "$folder/annotated.html" "$folder"/class*.html "$folder"/struct*.html ||
    missing "the site does not describe $name"
done
if grep -E 'warning: .*(argument|parameter|not documented)' "$folder.log"; then
  missing "comments do not fit what they describe"
fi
((failed)) || echo "$(find "$folder" -name '*.html' | wc -l) pages, none of which lacks anything"
exit "$failed"
