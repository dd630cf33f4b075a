package main

import "sync"

func init() { cases["spawn"] = spawn }

// spawn: one goroutine starts all others, which only count themselves out; an operation is one of them.
func spawn(size int) int {
	var left sync.WaitGroup
	left.Add(size)
	for range size {
		go left.Done()
	}
	left.Wait()
	return size
}
