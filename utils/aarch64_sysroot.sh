#!/usr/bin/env bash
# Downloads the libraries that the runtime links for 64-bit Arm from this machine's
# package sources into a directory; nothing is installed, no root required.
#
# usage: aarch64_sysroot.sh DIR
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
packages=(libpcre2-8-0 libpcre2-dev libutf8proc2 libutf8proc-dev)
[ -e "$folder/complete" ] && exit 0

apt="$folder/apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
options=(
  -o APT::Architecture=arm64 -o APT::Architectures::=arm64
  -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache"
  -o Dir::State::status=/dev/null -o APT::Sandbox::User=""
)
apt-get "${options[@]}" -q update >&2
(cd "$apt" && apt-get "${options[@]}" -q download "${packages[@]}" >&2)
for package in "$apt"/*.deb; do
  dpkg-deb -x "$package" "$folder"
done
rm -rf "$apt"
touch "$folder/complete"
