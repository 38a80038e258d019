package secrets

import (
	"syscall"
	"time"
)

// ofThread asks for what a thread has used.
const ofThread = 1

// spent returns the time that the processor has spent on this thread.
func spent() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(ofThread, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
