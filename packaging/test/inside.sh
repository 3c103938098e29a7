#!/bin/sh
# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# The part of scripts/test-package that runs in the clean root, at the top of this project.
set -eu

fail() {
  echo "test-package: $1" >&2
  exit 1
}
expect() {
  case "$2" in
    *"$1"*) ;;
    *) fail "expected '$1' in: $2" ;;
  esac
}
# All files of the system that a package may lay down.
files() { find /usr /etc -xdev | sort; }

work=$(mktemp -d)
# What a run that failed has left.
{ apt-get -q purge -y foveate libfoveate-dev 'libfoveate-c[0-9]*' && apt-get -q autoremove -y --purge; } > "$work/apt.log" 2>&1 || true
apt-get -q install -y --no-install-recommends libhwy-dev libtbb-dev > "$work/apt.log" 2>&1 || fail "$(cat "$work/apt.log")"
files > "$work/before"

echo '== install'
apt-get -q install -y --no-install-recommends ./build/package/packages/*.deb
dpkg -V foveate libfoveate-dev

echo '== the command line'
expect 'foveate 0.' "$(foveate --version)"
expect 'targets' "$(foveate info)"
(cd "$work" && foveate demo --no-svg --color never --lang en) | head -n 3
printf '== the page: '
foveate serve --port 7399 > "$work/serve.log" 2>&1 &
server=$!
sleep 1
if kill -0 $server 2> /dev/null; then
  expect 'http://127.0.0.1:7399/' "$(cat "$work/serve.log")"
  kill -INT $server
  wait $server || fail 'serve did not end well'
  echo served
else
  expect 'holds no page' "$(cat "$work/serve.log")"
  echo 'skipped: not in this package'
fi
[ -s /usr/share/man/man1/foveate-attend.1.gz ] || fail 'no man page'
[ -s /usr/share/bash-completion/completions/foveate ] || fail 'no completion of bash'

echo '== a project against libfoveate-dev'
cp -r tests/consumer "$work/consumer"
cmake -S "$work/consumer" -B "$work/build" > "$work/cmake.log" || fail "$(cat "$work/cmake.log")"
cmake --build "$work/build"
"$work/build/consumer"
# shellcheck disable=SC2046 # a list of flags is meant to be split
g++ -std=c++20 -DWITH_TBB "$work/consumer/main.cc" $(pkg-config --cflags --libs foveate_tbb) -o "$work/by_pkg_config"
"$work/by_pkg_config"

echo '== a program in C against libfoveate_c'
# shellcheck disable=SC2046
gcc -std=c11 tests/consumer/c/main.c $(pkg-config --cflags --libs foveate_c) -o "$work/in_c"
"$work/in_c"

echo '== remove'
apt-get -q purge -y foveate libfoveate-dev 'libfoveate-c[0-9]*' > "$work/apt.log" 2>&1 || fail "$(cat "$work/apt.log")"
apt-get -q autoremove -y --purge > "$work/apt.log" 2>&1 || fail "$(cat "$work/apt.log")"
files > "$work/after"
left=$(comm -13 "$work/before" "$work/after")
[ -z "$left" ] || fail "left behind: $left"
echo 'packages install, work, and leave nothing behind'
