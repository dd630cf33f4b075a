package main

import "sync"

func init() {
	cases["select2"] = select2
	cases["select8"] = select8
}

func select2(size int) int {
	c := channels(2)
	a, b := c[0], c[1]
	return choose(c, size, func() (v int) {
		select {
		case v = <-a:
		case v = <-b:
		}
		return
	})
}

func select8(size int) int {
	all := channels(8)
	a, b, c, d, e, f, g, h := all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]
	return choose(all, size, func() (v int) {
		select {
		case v = <-a:
		case v = <-b:
		case v = <-c:
		case v = <-d:
		case v = <-e:
		case v = <-f:
		case v = <-g:
		case v = <-h:
		}
		return
	})
}

// choose: a sender at each of several unbuffered channels, and one receiver that takes from whichever is ready; an
// operation is one message.
func choose(channels []chan int, size int, receive func() int) int {
	each := max(1, size/len(channels))
	var left sync.WaitGroup
	left.Add(len(channels))
	for _, channel := range channels {
		go func() {
			for n := range each {
				channel <- n
			}
			left.Done()
		}()
	}
	sum := 0
	for range len(channels) * each {
		sum += receive()
	}
	left.Wait()
	check("sum of the messages", sum, len(channels)*each*(each-1)/2)
	return len(channels) * each
}

func channels(count int) []chan int {
	all := make([]chan int, count)
	for i := range all {
		all[i] = make(chan int)
	}
	return all
}
