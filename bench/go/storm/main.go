// The Go twin of TimerStorm.java: timers that are set, changed and stopped at random while all processors compute and
// yield. `go run ./storm`, in bench/go; with GOGC=off it has no collector beside it.
package main

import (
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	procs      = 2
	timers     = 1_000_000
	mostMillis = 2_000
)

var (
	mu   sync.Mutex
	late []time.Duration
)

func main() {
	runtime.GOMAXPROCS(procs)
	late = make([]time.Duration, 0, timers)
	var stop atomic.Bool
	for range procs {
		go compute(&stop)
	}
	expected := make(chan int)
	go func() { expected <- set() }()
	for n := <-expected; rang() < n; {
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	slices.Sort(late)
	fmt.Printf("timer storm: %d rang, late p50 %.2f ms, p99 %.2f ms\n", len(late), percentile(50), percentile(99))
}

func compute(stop *atomic.Bool) {
	for !stop.Load() {
		for start := time.Now(); time.Since(start) < 50*time.Microsecond; {
		}
		runtime.Gosched()
	}
}

// set sets them all and returns how many are to ring.
func set() int {
	expected := 0
	var all []*time.Timer
	for i := range timers {
		all = append(all, arm())
		expected++
		other := rand.Intn(len(all))
		switch rand.Intn(4) {
		case 0:
			if all[other].Stop() {
				expected--
			}
		case 1:
			if all[other].Stop() {
				all[other] = arm()
			}
		}
		if i%100 == 0 {
			runtime.Gosched()
		}
	}
	return expected
}

func arm() *time.Timer {
	delay := time.Duration(1+rand.Intn(mostMillis)) * time.Millisecond
	start := time.Now()
	return time.AfterFunc(delay, func() {
		lateness := time.Since(start) - delay
		mu.Lock()
		late = append(late, lateness)
		mu.Unlock()
	})
}

func rang() int {
	mu.Lock()
	defer mu.Unlock()
	return len(late)
}

func percentile(percent int) float64 {
	return late[len(late)*percent/100].Seconds() * 1e3
}
