package main

func init() { cases["parkpingpong"] = parkPingPong }

// parkPingPong: two goroutines in strict turns over two unbuffered channels; an operation is one round trip.
// Go has no park and unpark for users: a channel is what they would take.
func parkPingPong(size int) int {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for n := range ping {
			pong <- n
		}
		close(pong)
	}()
	for n := range size {
		ping <- n
		<-pong
	}
	close(ping)
	<-pong
	return size
}
