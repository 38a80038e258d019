// Package terminal is what commands share of the terminal: what they read and print, tables, progress, questions, hints at
// other commands, and errors with their exit codes.
package terminal

import (
	"bufio"
	"io"
	"sync"
)

// Terminal is what a run of the program has of its surroundings: what it reads, where it writes, who watches, and how it
// was called.
type Terminal struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// OutTerminal and ErrTerminal say whether a person reads stdout and stderr on a terminal.
	OutTerminal, ErrTerminal bool
	// Asks says whether a person can be asked: stdin and stderr are a terminal.
	Asks bool

	// Out buffers stdout. Its errors are reported once, when it is flushed.
	Out *bufio.Writer
	// Name is how the program was called; empty is its own name.
	Name string
	// Line is the command line; its command is nil where it was not understood.
	Line *CommandLine
	// Given are the names of the flags on the command line, as opposed to those from the environment.
	Given map[string]bool

	// quiet and logLevel say how much the command tells on stderr, diagnosable that it takes a log level.
	quiet, diagnosable bool
	logLevel           string
}

// Buffer has stdout buffered, and one write at a time on stderr.
func (t *Terminal) Buffer() {
	t.Out = bufio.NewWriterSize(t.Stdout, 64<<10)
	t.Stderr = &turnsWriter{out: t.Stderr}
}

// turnsWriter lets one write at a time: progress and the log of a service in this process share stderr.
type turnsWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *turnsWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}
