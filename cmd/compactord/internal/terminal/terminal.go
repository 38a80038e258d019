// Package terminal holds what commands share for input and output: tables, progress, questions, hints at other
// commands, and errors with their exit codes.
package terminal

import (
	"bufio"
	"io"
	"sync"
)

// Terminal is the environment of a run of the program: its input and output, and the command line.
type Terminal struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// OutTerminal and ErrTerminal say whether stdout and stderr are terminals.
	OutTerminal, ErrTerminal bool
	// Columns is the width of the terminal of stdout in characters; 0 where it is unknown.
	Columns int
	// Asks says whether the user can be asked: stdin and stderr are terminals.
	Asks bool

	// Out buffers stdout. Errors are reported once, when it is flushed.
	Out *bufio.Writer
	// Name is the name under which the program was called. Empty means its own name.
	Name string
	// Line is the command line. It is nil where the parser refused it.
	Line *CommandLine
	// Given holds the names of the flags on the command line. Flags from the environment are not in it.
	Given map[string]bool

	// quiet and logLevel set how much the command prints on stderr. diagnosable says that it has the flag for the log
	// level.
	quiet, diagnosable bool
	logLevel           string
}

// Buffer buffers stdout, marks errors of writing to it, and serializes writes on stderr.
func (t *Terminal) Buffer() {
	t.Out = bufio.NewWriterSize(outputWriter{t.Stdout}, 64<<10)
	t.Stderr = &lockedWriter{out: t.Stderr}
}

// outputWriter marks errors, so that they are known for those of stdout wherever a command meets them.
type outputWriter struct{ out io.Writer }

func (w outputWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if err != nil {
		err = AsOutput(err)
	}
	return n, err
}

// lockedWriter serializes writes: progress and the log of a service in this process share stderr.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}
