package main

import (
	"os"
	"syscall"
	"testing"
)

// reportMemory reports the largest amount of memory that a process had.
func reportMemory(b *testing.B, p *os.ProcessState) {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		b.ReportMetric(float64(u.Maxrss)/1024, "MiB")
	}
}
