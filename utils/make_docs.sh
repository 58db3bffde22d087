#!/usr/bin/env bash
# Markdown of the dialects and passes from their .td files: make_docs.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:?usage: make_docs.sh FOLDER}
tools=${LLVM_TOOLS:-/usr/lib/llvm-22/bin}
tblgen=$tools/mlir-tblgen
[ -x "$tblgen" ] || {
  echo "make_docs.sh: $tblgen is missing: run './dev setup'." >&2
  exit 1
}
include=$("$tools/llvm-config" --includedir)
mkdir -p "$folder"

# generate NAME GENERATOR FILE.td [ARGUMENT]...
generate() {
  local out=$folder/$1.md generator=$2 file=$3
  shift 3
  "$tblgen" "-$generator" "$file" "$@" -I include -I "$include" -o "$out"
  echo "$out"
}

for file in $(git -c safe.directory='*' ls-files --cached --others --exclude-standard -- 'include/*.td'); do
  [ -f "$file" ] || continue
  name=$(basename "$file" .td)
  case "$file" in
  */Passes.td)
    generate "$(basename "$(dirname "${file#include/}")")Passes" gen-pass-doc "$file" ;;
  *)
    # Only the file that defines a dialect's ops as a whole makes a page.
    if grep -q "^def .*Dialect *: *Dialect" "$file"; then
      dialect=$(sed -n 's/^ *let name = "\(.*\)";/\1/p' "$file" | head -1)
      ops=$(dirname "$file")/${name%Base}Ops.td
      [ -f "$ops" ] || ops=$(dirname "$file")/${name%Dialect}Ops.td
      [ -f "$ops" ] || ops=$file
      generate "$dialect" gen-dialect-doc "$ops" "-dialect=$dialect"
    fi ;;
  esac
done
