package main

import (
	"bufio"
	"io"
	"sync"
)

// terminal is what a run of the program has of its surroundings: what it reads, where it writes, who watches, and how it
// was called.
type terminal struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// outTerminal and errTerminal say whether a person reads stdout and stderr on a terminal.
	outTerminal, errTerminal bool
	// asks says whether a person can be asked: stdin and stderr are a terminal.
	asks bool

	// out buffers stdout. Its errors are reported once, when it is flushed.
	out *bufio.Writer
	// name is how the program was called; empty is its own name.
	name string
	// line is the command line; its command is nil where it was not understood.
	line *commandLine
	// given are the names of the flags on the command line, as opposed to those from the environment.
	given map[string]bool

	// quiet and logLevel say how much the command tells on stderr, diagnosable that it takes a log level.
	quiet, diagnosable bool
	logLevel           string
}

// buffer has stdout buffered, and one write at a time on stderr.
func (t *terminal) buffer() {
	t.out = bufio.NewWriterSize(t.stdout, 64<<10)
	t.stderr = &turnsWriter{out: t.stderr}
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
