// The twin of examples/Hogs.java: goroutines that compute for ever, twice as many as GOMAXPROCS, and what
// is left for a ticker of 1 ms, a liveness probe over HTTP and a short task every 5 ms.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const kinds = "empty|arithmetic|calls|sha256|regex|fib"

type counter struct {
	n atomic.Int64
	_ [120]byte
}

var stop atomic.Bool

func empty(c *counter) {
	for i := 0; !stop.Load(); i++ {
		if i&0xffff == 0 {
			c.n.Add(1)
		}
	}
}

func arithmetic(c *counter) {
	numbers := make([]int32, 1<<15)
	for !stop.Load() {
		for i := range numbers {
			numbers[i] = numbers[i]*31 + int32(i)
		}
		c.n.Add(1)
	}
}

//go:noinline
func scramble(n uint32) uint32 { return bits.RotateLeft32(n*0x9E3779B9, 13) ^ n }

func calls(c *counter) {
	n := uint32(1)
	for !stop.Load() {
		for i := 0; i < 20000; i++ {
			n = scramble(n)
		}
		c.n.Add(1)
	}
}

func sha(c *counter) {
	bytes := make([]byte, 16<<20)
	for !stop.Load() {
		sha256.Sum256(bytes)
		c.n.Add(1)
	}
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func recursive(c *counter) {
	for !stop.Load() {
		fib(20)
		c.n.Add(1)
	}
}

// groups matches (a+)+b at i as a matcher that backtracks does; package regexp does not.
func groups(s string, i int) bool {
	end := i
	for end < len(s) && s[end] == 'a' {
		end++
	}
	for j := end; j > i; j-- {
		if groups(s, j) || j < len(s) && s[j] == 'b' {
			return true
		}
	}
	return false
}

func regex(c *counter) {
	text := strings.Repeat("a", 22)
	for !stop.Load() {
		groups(text, 0)
		c.n.Add(1)
	}
}

type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (t *times) add(d time.Duration) {
	t.mu.Lock()
	t.all = append(t.all, d)
	t.mu.Unlock()
}

func (t *times) sorted() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := append([]time.Duration(nil), t.all...)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	return s
}

func (t *times) p99() string {
	s := t.sorted()
	if len(s) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(s[min(len(s)-1, len(s)*99/100)])/1e6)
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// probe is a process of its own: the Java twin has platform threads for that, Go has none.
func probe(address string, seconds int) {
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	all, in := 0, 0
	for time.Now().Before(end) {
		start := time.Now()
		took := time.Hour
		if conn, err := net.DialTimeout("tcp", address, 2*time.Second); err == nil {
			conn.SetDeadline(time.Now().Add(2 * time.Second))
			io.WriteString(conn, "GET /live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if body, err := io.ReadAll(conn); err == nil && len(body) > 2 && string(body[len(body)-2:]) == "ok" {
				took = time.Since(start)
			}
			conn.Close()
		}
		all++
		if took <= 50*time.Millisecond {
			in++
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println(all, in)
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "probe" {
		seconds, _ := strconv.Atoi(os.Args[3])
		probe(os.Args[2], seconds)
		return
	}
	bodies := map[string]func(*counter){"empty": empty, "arithmetic": arithmetic, "calls": calls, "sha256": sha, "regex": regex, "fib": recursive}
	if len(os.Args) != 3 || bodies[os.Args[1]] == nil {
		fmt.Println("usage: hogs " + kinds + " SECONDS")
		return
	}
	kind := os.Args[1]
	seconds, _ := strconv.Atoi(os.Args[2])
	hogs := 2 * runtime.GOMAXPROCS(0)
	counters := make([]counter, hogs)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/live", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	go http.Serve(listener, nil)

	for i := range counters {
		go bodies[kind](&counters[i])
	}
	time.Sleep(time.Second)

	before := make([]int64, hogs)
	for i := range counters {
		before[i] = counters[i].n.Load()
	}
	used := cpu()
	start := time.Now()
	end := start.Add(time.Duration(seconds) * time.Second)
	var late, tasks times
	prober := exec.Command(os.Args[0], "probe", listener.Addr().String(), os.Args[2])
	answers, err := prober.StdoutPipe()
	if err == nil {
		err = prober.Start()
	}
	if err != nil {
		panic(err)
	}
	go func() {
		for time.Now().Before(end) {
			start := time.Now()
			time.Sleep(time.Millisecond)
			late.add(time.Since(start) - time.Millisecond)
		}
	}()
	go func() {
		for time.Now().Before(end) {
			start := time.Now()
			go func() {
				n := uint32(1)
				for i := 0; i < 10000; i++ {
					n = scramble(n)
				}
				tasks.add(time.Since(start) + time.Duration(n&1))
			}()
			time.Sleep(5 * time.Millisecond)
		}
	}()
	time.Sleep(time.Until(end))
	elapsed := time.Since(start)
	cores := float64(cpu()-used) / float64(elapsed)

	var sum, most int64
	least := int64(1 << 62)
	for i := range counters {
		n := counters[i].n.Load() - before[i]
		sum += n
		least = min(least, n)
		most = max(most, n)
	}
	fair := max(1, float64(sum)/float64(hogs))
	var all, in int
	fmt.Fscan(answers, &all, &in)
	percent := 100 * float64(in) / float64(max(1, all))
	fmt.Printf("%-10s ticks %6d p99 %8s ms  probes %5d in time %5.1f %%  tasks %5d p99 %8s ms  share %4.2f..%4.2f  cores %4.2f\n",
		kind, len(late.sorted()), late.p99(), all, percent, len(tasks.sorted()), tasks.p99(), float64(least)/fair, float64(most)/fair, cores)
}
