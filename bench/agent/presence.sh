#!/bin/sh
# What an agent costs each switch by being there: virtual threads of the plain JDK without one, with one that does nothing, and
# with gloom's, one after the other, several times over.
#   bench/agent/presence.sh [TIMES]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
times=${1:-5}
home=$("$root/gloom" env JAVA_HOME)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'public class Empty { public static void premain(String a) {} }\n' >"$work/Empty.java"
"$home/bin/javac" -d "$work" "$work/Empty.java"
printf 'Premain-Class: Empty\n' >"$work/manifest"
"$home/bin/jar" cfm "$work/empty.jar" "$work/manifest" -C "$work" Empty.class
one() { # NAME FLAG
  "$root/gloom" bench yield parkpingpong --peers jdk --rounds 3 --jvm "$2" | awk -v name="$1" '/^(yield|parkpingpong)\// { print $1, name, $3 }'
}
i=0
while [ "$i" -lt "$times" ]; do
  one none -Xshare:auto
  one empty -javaagent:"$work/empty.jar"
  one gloom -javaagent:"$root/core/target/gloom.jar"
  i=$((i + 1))
done | sort -k1,1 -k2,2 -k3,3n | awk '
  { key = $1 " " $2; v[key] = v[key] " " $3; n[key]++ }
  END { for (k in v) { split(v[k], a, " "); printf "%-28s %8.1f ns (median of %d)\n", k, a[int((n[k] + 1) / 2)], n[k] } }' | sort
