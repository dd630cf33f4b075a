package main

import (
	"runtime"
	"sync"
)

const yielders = 1000

func init() { cases["yield"] = yield }

// yield: goroutines that only yield to each other; an operation is one yield.
func yield(size int) int {
	yields := max(1, size/yielders)
	var left sync.WaitGroup
	left.Add(yielders)
	for range yielders {
		go func() {
			for range yields {
				runtime.Gosched()
			}
			left.Done()
		}()
	}
	left.Wait()
	return yielders * yields
}
