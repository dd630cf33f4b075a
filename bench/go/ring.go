package main

import "sync"

const nodes = 1000

func init() { cases["ring"] = ring }

// ring: a number that goes round through goroutines, each of which adds one; an operation is one hop.
func ring(size int) int {
	laps := max(1, size/nodes)
	var left sync.WaitGroup
	left.Add(nodes - 1)
	first := make(chan int)
	last := first
	for range nodes - 1 { // one of them is the caller
		from, to := last, make(chan int)
		go func() {
			for range laps {
				to <- <-from + 1
			}
			left.Done()
		}()
		last = to
	}
	token := 0
	for range laps {
		first <- token + 1
		token = <-last
	}
	left.Wait()
	check("number of hops", token, nodes*laps)
	return nodes * laps
}
