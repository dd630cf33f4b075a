package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// As Load.java: the client's command, word by word, and the number of its connections.
const (
	clientVariable      = "GLOOM_BENCH_CLIENT"
	connectionsVariable = "GLOOM_BENCH_CONNECTIONS"
)

var (
	orders    net.Conn
	answers   *bufio.Reader
	httpPort  int
	wrkCount  = regexp.MustCompile(`(\d+) requests in ([\d.]+)s`)
	wrkP99    = regexp.MustCompile(`99% +([\d.]+)(us|ms|s)`)
	wrkUnits  = map[string]float64{"us": 1e3, "ms": 1e6, "s": 1e9}
	httpReply = []byte("Hello, World!")
)

func init() {
	cases["echo"] = echo
	cases["http"] = serveHTTP
}

func cpuNanos() int {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err.Error())
	}
	return int(usage.Utime.Nano() + usage.Stime.Nano())
}

func setFigures(ops, nanos, p99, cpu int) {
	figures = fmt.Sprintf(" clientNanos=%d serverCpu=%d p99=%d", nanos, cpu, p99*ops)
}

func must(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func echo(size int) int {
	if orders == nil {
		startEcho()
	}
	cpu := cpuNanos()
	_, err := fmt.Fprintf(orders, "%d\n", size)
	must(err)
	line, err := answers.ReadString('\n')
	must(err)
	words := strings.Fields(line)
	setFigures(size, number(words[0]), number(words[1]), cpuNanos()-cpu)
	return size
}

func startEcho() {
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	must(err)
	port := server.Addr().(*net.TCPAddr).Port
	words := append(strings.Split(os.Getenv(clientVariable), "\t"),
		strconv.Itoa(port), os.Getenv(connectionsVariable))
	client := exec.Command(words[0], words[1:]...)
	client.Stderr = os.Stderr
	must(client.Start())
	orders, err = server.Accept()
	must(err)
	answers = bufio.NewReader(orders)
	go func() {
		for {
			conn, err := server.Accept()
			must(err)
			go serveEcho(conn)
		}
	}()
}

func serveEcho(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return // the client has gone
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// serveHTTP has Go's own server, as everybody uses it.
func serveHTTP(int) int {
	if httpPort == 0 {
		server, err := net.Listen("tcp4", "127.0.0.1:0")
		must(err)
		httpPort = server.Addr().(*net.TCPAddr).Port
		go http.Serve(server, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Write(httpReply)
		}))
	}
	words := append(strings.Split(os.Getenv(clientVariable), "\t"),
		"-c"+os.Getenv(connectionsVariable), fmt.Sprintf("http://127.0.0.1:%d/", httpPort))
	cpu := cpuNanos()
	output, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	cpu = cpuNanos() - cpu
	must(err)
	text := string(output)
	count := wrkCount.FindStringSubmatch(text)
	p99 := wrkP99.FindStringSubmatch(text)
	if count == nil || p99 == nil || strings.Contains(text, "Socket errors") {
		fail("wrk: " + strings.ReplaceAll(text, "\n", " "))
	}
	seconds, err := strconv.ParseFloat(count[2], 64)
	must(err)
	tail, err := strconv.ParseFloat(p99[1], 64)
	must(err)
	setFigures(number(count[1]), int(seconds*1e9), int(tail*wrkUnits[p99[2]]), cpu)
	return number(count[1])
}
