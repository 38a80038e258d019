package main

import (
	"os"
	"syscall"
)

// peakMemory is the most memory that a process that has ended had, in bytes.
func peakMemory(p *os.ProcessState) int64 {
	const kilobyte = 1024
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * kilobyte
}
