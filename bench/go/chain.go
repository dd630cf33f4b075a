package main

import "sync"

const links = 10000

func init() { cases["chain"] = chain }

// chain: goroutines in a row, each waiting for its right neighbour to hand it a number, which it hands on plus one; an
// operation is one of them, start to end.
func chain(size int) int {
	links := min(links, size)
	chains := size / links
	for range chains {
		var left sync.WaitGroup
		left.Add(links)
		leftmost := make(chan int)
		end := leftmost
		for range links {
			to, from := end, make(chan int)
			go func() {
				to <- <-from + 1
				left.Done()
			}()
			end = from
		}
		end <- 0
		check("number at the end of the chain", <-leftmost, links)
		left.Wait()
	}
	return chains * links
}
