module hogs

go 1.26
