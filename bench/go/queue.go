package main

import (
	"sync"
	"sync/atomic"
)

const capacity = 128

func init() {
	cases["buffered"] = func(size int) int { return queue(1, size) }
	cases["mpmc"] = func(size int) int { return queue(4, size) }
}

// queue: so many senders and as many receivers at one channel; an operation is one message.
func queue(pairs, size int) int {
	each := max(1, size/pairs)
	channel := make(chan int, capacity)
	var sum atomic.Int64
	var left sync.WaitGroup
	left.Add(2 * pairs)
	for range pairs {
		go func() {
			for n := range each {
				channel <- n
			}
			left.Done()
		}()
		go func() {
			mine := 0
			for range each {
				mine += <-channel
			}
			sum.Add(int64(mine))
			left.Done()
		}()
	}
	left.Wait()
	check("sum of the messages", int(sum.Load()), pairs*each*(each-1)/2)
	return pairs * each
}
