package main

func init() { cases["pingpong"] = pingPong }

// pingPong: two goroutines and two unbuffered channels; an operation is one round trip.
func pingPong(size int) int {
	ping, pong := make(chan int), make(chan int)
	done := make(chan struct{})
	go func() {
		for range size {
			pong <- <-ping
		}
		close(done)
	}()
	sum := 0
	for n := range size {
		ping <- n
		sum += <-pong
	}
	<-done
	check("sum of what came back", sum, size*(size-1)/2)
	return size
}
