#!/bin/sh
# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# What scripts/perf-check says of counts that were made up.
set -eu
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect STATUS WORDS COUNTS: of one kept call of 1000 instructions; WORDS '' is silence.
expect() {
  printf '# compiler: any\nf32 avx2 1000\n' > "$folder/kept"
  printf '# compiler: any\n%b' "$3" > "$folder/counted"
  status=0
  said=$(scripts/perf-check --compare "$folder/counted" "$folder/kept" 2>&1) || status=$?
  case "$said" in
    '') heard=$([ -z "$2" ] && echo yes || echo no) ;;
    *"$2"*) heard=$([ -n "$2" ] && echo yes || echo no) ;;
    *) heard=no ;;
  esac
  if [ "$status" != "$1" ] || [ $heard = no ]; then
    echo "counts '$3': expected status $1 and '$2', got $status and '$said'"
    failures=$((failures + 1))
  fi
}

expect 0 '' 'f32 avx2 1000\n'
expect 0 '' 'f32 avx2 1030\n'
expect 0 '' 'f32 avx2 970\n'
expect 1 'f32 avx2: 1031 instructions, kept 1000: 3.1 % more' 'f32 avx2 1031\n'
expect 1 'scripts/perf-check --keep' 'f32 avx2 1031\n'
expect 0 'f32 avx2: 900 instructions, kept 1000: 10.0 % fewer' 'f32 avx2 900\n'
expect 0 'keep what was gained: scripts/perf-check --keep' 'f32 avx2 900\n'
expect 1 'bf16 avx2: 7 instructions, of which' 'f32 avx2 1000\nbf16 avx2 7\n'
expect 1 'f32 avx2: kept in' 'bf16 avx2 7\n'
expect 1 'bf16 sse4: 7 instructions, of which' 'bf16 sse4 7\n'
expect 1 'no counts' ''
expect 1 'expected a call, a target and a count' 'f32 avx2 many\n'
expect 1 'expected a call, a target and a count' 'f32 avx2 0\n'
expect 1 'expected a call, a target and a count' 'f32 avx2\n'

# refuse WORDS ARGUMENTS...: wrong calls end with status 2 and a line.
refuse() {
  words=$1
  shift
  status=0
  said=$(scripts/perf-check "$@" 2>&1) || status=$?
  case "$status $said" in
    "2 perf-check: "*"$words"*) ;;
    *)
      echo "perf-check $*: expected status 2 and '$words', got $status and '$said'"
      failures=$((failures + 1))
      ;;
  esac
}
refuse 'expected two files of counts' --compare
refuse 'expected two files of counts' --compare "$folder/kept" "$folder/missing"
refuse "no option is named '--wrong'" --wrong
[ $failures = 0 ]
