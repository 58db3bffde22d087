#!/usr/bin/env bash
# Installs the packages of `./dev package` in a new Debian 12 and tests them there: check_packages.sh BUILD [COUNTS.json]
#
# debootstrap creates the system in a temporary directory, from the mirrors of this machine. Requires root (or sudo).
set -euo pipefail
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: check_packages.sh BUILD [COUNTS.json]" >&2; exit 2; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath "$1")

if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "check_packages: creating a Debian system requires root, and there is no sudo here." >&2; exit 1; }
  exec sudo "$0" "$@"
fi
# Mounts are private to this process, so none remain after it ends for any reason.
[ -n "${LLMIR_OWN_MOUNTS:-}" ] || LLMIR_OWN_MOUNTS=1 exec unshare --mount -- "$0" "$@"
command -v debootstrap >/dev/null || { echo "check_packages: debootstrap is missing: run './dev setup --all'." >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/llmir-packages.XXXXXX")
root=$work/root
passed=0 failed=()
finish() {
  umount -l "$root/proc" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT

# check NAME COMMAND...: the command exits with 0; its output is shown otherwise.
check() {
  local name=$1
  shift
  if "$@" >"$work/output" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $name"
  else
    failed+=("$name")
    echo "FAIL $name: $*"
    tail -n 25 "$work/output"
  fi
}

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
install_packages() { inside apt-get install -y -q --no-install-recommends "$@"; }
# package NAME: its file in the new system.
package() { (cd "$root/packages" && printf '/packages/%s\n' "$1"_*.deb); }
# says TEXT COMMAND...: the command exits with 0 and prints TEXT. refuses_with: it fails and prints TEXT.
says() {
  local text=$1 said
  shift
  said=$("$@" 2>&1) && grep -qF -- "$text" <<<"$said" || { echo "$said"; return 1; }
}
refuses_with() {
  local text=$1 said
  shift
  ! said=$("$@" 2>&1) && grep -qF -- "$text" <<<"$said" || { echo "$said"; return 1; }
}
refuses() { ! "$@"; }
has_no_llvm() { refuses grep -Eq '^Package: (libllvm|libmlir|llvm|mlir)' "$root/var/lib/dpkg/status"; }

#===--- A new system ---------------------------------------------------------===#

# Debian's suites as configured on this machine: LLVM is in the security updates.
suites=$(apt-get indextargets --format '$(ORIGIN) deb [trusted=no] $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  sed -n 's/^Debian deb \[trusted=no\]/deb/p' | sort -u)
mirror=$(awk '$3 == "bookworm" && $4 == "main" { print $2; exit }' <<<"$suites")
[ -n "$mirror" ] || { echo "check_packages: this machine's package sources have no Debian 12." >&2; exit 1; }
echo "check_packages: Debian 12 from $mirror"
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$work/debootstrap" 2>&1 ||
  { tail -n 20 "$work/debootstrap"; echo "check_packages: debootstrap failed, see its last lines above." >&2; exit 1; }
echo "$suites" >"$root/etc/apt/sources.list"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
mkdir "$root/packages" "$root/llmir"
cp "$build"/packages/*.deb "$root/packages/"
cp -r "$source/models/demo" "$source/examples" "$root/llmir/"
"$build/bin/llmir" compile "$source/models/demo" -o "$root/llmir/demo.llmir" 2>/dev/null
prompt="In the beginning"
wanted=$("$build/bin/llmir" run "$root/llmir/demo.llmir" "$prompt" -n 12 --temp 0 2>/dev/null)
check "the new system's lists of packages" inside apt-get update -q

#===--- Running artifacts ----------------------------------------------------===#

check "llmir is installed" install_packages "$(package llmir)"
check "without LLVM" has_no_llvm
check "llmir run ARTIFACT" says "$wanted" inside llmir run /llmir/demo.llmir "$prompt" -n 12 --temp 0
check "llmir pull" refuses_with "127.0.0.1" inside env HF_ENDPOINT=https://127.0.0.1:1 llmir pull org/name
check "a checkpoint is refused" refuses_with "install the package llmir-compiler" inside llmir run /llmir/demo "$prompt"

#===--- Compiling ------------------------------------------------------------===#

check "llmir-compiler is installed" install_packages "$(package llmir-compiler)"
check "llmir run DIR" says "$wanted" inside llmir run /llmir/demo "$prompt" -n 12 --temp 0
check "llmir-opt" says "llm.attention" inside llmir-opt /llmir/examples/LLM/attention.mlir
check "llmir-translate" inside llmir-translate --compare /llmir/examples/LLM/attention.mlir

#===--- Use by other projects ------------------------------------------------===#

project() { # DIR [ARGUMENT]...
  local folder=$1
  shift
  inside cmake -S /llmir/examples/project -B "$folder" "$@" && inside cmake --build "$folder" --parallel 2
}
check "llmir-dev is installed" install_packages "$(package llmir-dev)" g++ cmake make
check "a program of the runtime is built" project /runtime -DONLY_RUNTIME=ON
check "and runs" inside /runtime/run_artifact /llmir/demo.llmir "$prompt" 12
recommended=$(dpkg-deb -f "$root$(package llmir-dev)" Recommends | sed 's/([^)]*)//g; s/,/ /g')
# shellcheck disable=SC2086 # Names of packages, separated by spaces.
check "what llmir-dev recommends is installed" install_packages $recommended
check "programs of the compiler are built" project /whole
check "and trace a model" says "graph.CallGraphOp @model.layers.27" inside /whole/mllm_trace
check "a plugin counts ops" says "llm.attention" inside llmir-opt --load-pass-plugin=/whole/CountOps.so \
  --pass-pipeline='builtin.module(count-ops)' /llmir/examples/LLM/attention.mlir -o /dev/null
check "all is removed" inside apt-get purge -y -q llmir llmir-compiler llmir-dev
check "and leaves nothing" refuses grep -q . <(inside find /usr -ipath '*llmir*')

[ $# -lt 2 ] || printf '{"passed": %d, "failed": [%s]}\n' "$passed" \
  "$(printf '"%s", ' ${failed[@]+"${failed[@]}"} | sed 's/, $//; s/^""$//')" >"$2"
echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
