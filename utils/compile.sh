#!/bin/sh
# The compiler launcher of builds with clang and ccache: lets clones share what they compile.
#
#   compile.sh SOURCE_DIR CCACHE COMPILER ARGUMENT...
#
# ccache makes most paths within SOURCE_DIR relative by itself (CCACHE_BASEDIR), but not those of a
# precompiled header, which follow -Xclang. A precompiled header stores absolute paths, so each clone
# compiles its own; ccache identifies it by its sources (CCACHE_PCH_EXTSUM reads
# OUTPUT.sum).
source_dir=$1 ccache=$2
shift 2
relative_dir=$(realpath --relative-to=. "$source_dir")

makes_header=
for argument; do
  shift
  case $argument in
  "$source_dir"/*) argument=$relative_dir/${argument#"$source_dir"/} ;;
  -emit-pch) makes_header=yes ;;
  esac
  set -- "$@" "$argument"
done
[ -n "$makes_header" ] || exec "$ccache" "$@"

"$@" || exit
while [ $# -gt 1 ]; do
  case $1 in
  -o) output=$2 ;;
  -MF) dependencies=$2 ;;
  esac
  shift
done
sed 's/^[^:]*://; s/\\$//' "$dependencies" | xargs cat | sed "s#$source_dir/##g" | sha256sum > "$output.sum"
