#!/bin/sh
# The compiler launcher of builds with clang and ccache: lets clones share what they compile.
#
#   compile.sh SOURCE_DIR RELATIVE_DIR CCACHE COMPILER ARGUMENT...
#
# SOURCE_DIR is the clone, RELATIVE_DIR the path to it from the build folder. ccache makes most paths
# relative by itself (CCACHE_BASEDIR), but not those of a precompiled header, which follow -Xclang. A
# precompiled header stores absolute paths, so each clone compiles its own; ccache identifies it by the
# sources it was made of (CCACHE_PCH_EXTSUM reads OUTPUT.sum).
source_dir=$1 relative_dir=$2 ccache=$3
shift 3

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
