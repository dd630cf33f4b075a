// The Go peer of gloom's benchmarks: `go-peer CASE SIZE WARMUP_MILLIS`.
//
// The protocol is described in Child.java. A case is a file of its own that registers itself.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

// As in Worker.java; Go needs no warm compiler, but heap and stacks get their size too.
const minWarmupRounds = 5

// work does about size operations and returns how many it really did.
type work func(size int) int

var cases = map[string]work{}

// figures are what a case has measured beside the time, in its last round.
var figures string

func main() {
	if len(os.Args) != 4 {
		fail("usage: go-peer CASE SIZE WARMUP_MILLIS")
	}
	run, known := cases[os.Args[1]]
	if !known {
		say("unsupported no twin in Go")
		return
	}
	size := number(os.Args[2])
	warmup := time.Duration(number(os.Args[3])) * time.Millisecond

	start := time.Now()
	for n := 0; n < minWarmupRounds || time.Since(start) < warmup; n++ {
		run(size)
		say("warm")
	}
	say("ready " + runtime.Version())

	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		start := time.Now()
		ops := run(size)
		nanos := time.Since(start).Nanoseconds()
		say(fmt.Sprintf("round %d %d%s", ops, nanos, figures))
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		fail(err.Error())
	}
	return n
}

// check ends the process if the outcome is wrong: a round that did not do its work has no time.
func check(what string, got, expected int) {
	if got != expected {
		fail(fmt.Sprintf("wrong %s: %d, not %d", what, got, expected))
	}
}

func say(line string) {
	fmt.Println("@bench " + line)
}

func fail(why string) {
	say("fail " + why)
	os.Exit(3)
}
