#!/bin/sh
# Hogs on the JDK's scheduler, on gloom and on Go, one after the other for each kind, as rows of one table.
#   bench/hogs/hogs.sh [SECONDS [KIND …]]        PROCS=1 limits all of them to so many processors
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
java=$("$root/gloom" env JAVA_HOME)/bin/java
jar=$("$root/gloom" env GLOOM_JAR)
seconds=${1:-10}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- empty arithmetic calls sha256 regex fib native
procs=${PROCS:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go=
if command -v go >/dev/null 2>&1; then
  (cd "$root/bench/hogs" && go build -o "$work/hogs" .) && go=$work/hogs
fi
row() { # NAME COMMAND…
  name=$1
  shift
  printf '%-22s ' "$name"
  timeout $((seconds + 60)) "$@" || echo "(no result)"
}
"$java" -version 2>&1 | head -1
[ -z "$go" ] || go version
for kind; do
  row jdk "$java" -Djdk.virtualThreadScheduler.parallelism="$procs" -Djdk.virtualThreadScheduler.maxPoolSize="$procs" \
    -Dhogs.procs="$procs" "$root/examples/Hogs.java" "$kind" "$seconds"
  for mode in adaptive eager; do
    row "gloom $mode" "$java" -javaagent:"$jar"=maxprocs="$procs",preempt=$mode -Dhogs.procs="$procs" \
      "$root/examples/Hogs.java" "$kind" "$seconds"
  done
  case $kind in
    native) echo "go                     (missing: no native loop)" ;;
    *) if [ -n "$go" ]; then row go env GOMAXPROCS="$procs" "$go" "$kind" "$seconds"; else echo "go                     (missing: no toolchain)"; fi ;;
  esac
done
