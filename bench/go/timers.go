package main

import (
	"sync"
	"sync/atomic"
	"time"
)

const sleepers = 10000
const nap = time.Millisecond

func init() { cases["timers"] = timers }

// timers: goroutines that sleep for a millisecond again and again; an operation is one sleep. None may be shorter.
func timers(size int) int {
	sleepers := min(sleepers, size)
	sleeps := size / sleepers
	var early atomic.Int64
	var left sync.WaitGroup
	left.Add(sleepers)
	for range sleepers {
		go func() {
			start := time.Now()
			for range sleeps {
				time.Sleep(nap)
			}
			if time.Since(start) < time.Duration(sleeps)*nap {
				early.Add(1)
			}
			left.Done()
		}()
	}
	left.Wait()
	check("number of sleepers that came back early", int(early.Load()), 0)
	return sleepers * sleeps
}
