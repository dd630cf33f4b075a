module gloom/bench

go 1.24
