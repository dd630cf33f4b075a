package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// endOfNumbers is passed on by all: closing would do, but not every peer's channels can be closed.
const endOfNumbers = 0

func init() { cases["sieve"] = sieve }

// sieve: a goroutine for each prime passes on what its prime does not divide; an operation is one message.
func sieve(size int) int {
	limit := max(2, size)
	var messages atomic.Int64
	var left sync.WaitGroup
	numbers := make(chan int)
	left.Add(1)
	go func() {
		for n := 2; n <= limit; n++ {
			numbers <- n
		}
		numbers <- endOfNumbers
		left.Done()
	}()
	primes := 0
	from := numbers
	for prime := <-from; prime != endOfNumbers; prime = <-from {
		primes++
		left.Add(1)
		from = filtered(from, prime, &messages, &left)
	}
	left.Wait()
	check(fmt.Sprintf("number of primes up to %d", limit), primes, countPrimes(limit))
	return int(messages.Load()) + primes + 1
}

func filtered(from chan int, prime int, messages *atomic.Int64, left *sync.WaitGroup) chan int {
	to := make(chan int)
	go func() {
		received := 0
		for n := prime; n != endOfNumbers; {
			n = <-from
			received++
			if n == endOfNumbers || n%prime != 0 {
				to <- n
			}
		}
		messages.Add(int64(received))
		left.Done()
	}()
	return to
}

// countPrimes sieves without goroutines.
func countPrimes(limit int) int {
	composite := make([]bool, limit+1)
	primes := 0
	for n := 2; n <= limit; n++ {
		if !composite[n] {
			primes++
			for multiple := 2 * n; multiple <= limit; multiple += n {
				composite[multiple] = true
			}
		}
	}
	return primes
}
