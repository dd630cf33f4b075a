package main

import (
	"sync"
	"sync/atomic"
)

const children = 10

func init() { cases["skynet"] = skynet }

// skynet: a tree of goroutines in tens, whose leaves' numbers are summed up through the parents; an operation is one
// leaf. Parents wait for a count of their children, as in Skynet.java, not for ten messages.
func skynet(size int) int {
	leaves := children
	for leaves*children <= size {
		leaves *= children
	}
	check("sum of the leaves", int(sum(0, leaves)), leaves*(leaves-1)/2)
	return leaves
}

func sum(first, leaves int) int64 {
	if leaves == 1 {
		return int64(first)
	}
	var total atomic.Int64
	var left sync.WaitGroup
	left.Add(children)
	part := leaves / children
	for i := range children {
		go func() {
			total.Add(sum(first+i*part, part))
			left.Done()
		}()
	}
	left.Wait()
	return total.Load()
}
