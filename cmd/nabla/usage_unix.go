//go:build linux || darwin

package main

import (
	"runtime"
	"syscall"
	"time"
)

// usage returns the processor time of this process and of the processes that it started, and the peak of the memory of
// this process in bytes.
func usage() (processor time.Duration, memory int64, ok bool) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return 0, 0, false
		}
		processor += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		if who == syscall.RUSAGE_SELF {
			memory = int64(u.Maxrss) // in bytes on darwin, in kilobytes elsewhere
			if runtime.GOOS != "darwin" {
				memory *= 1024
			}
		}
	}
	return processor, memory, true
}
