package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// StandardInput is the name of the file that is read from there.
const StandardInput = "-"

// Input is an input that tells how much of it was read, and that a Ctrl-C ends even while it waits for more.
type Input struct {
	in io.Reader
	// ended is closed when the reading has to end; why says why.
	ended    <-chan struct{}
	why      func() error
	progress *Progress
	buffer   []byte
	done     int64
}

func (w *Input) Read(p []byte) (int, error) {
	if len(w.buffer) < len(p) {
		w.buffer = make([]byte, len(p))
	}
	type result struct {
		n   int
		err error
	}
	// The buffer is the goroutine's as long as it reads: after a Ctrl-C, for ever.
	buffer, read := w.buffer[:len(p)], make(chan result, 1)
	go func() {
		n, err := w.in.Read(buffer)
		read <- result{n, err}
	}()
	select {
	case r := <-read:
		w.done += int64(copy(p, buffer[:r.n]))
		w.progress.Update(w.done)
		return r.n, r.err
	case <-w.ended:
		return 0, w.why()
	}
}

// NewInput returns an input whose reading p shows.
func NewInput(ctx context.Context, in io.Reader, p *Progress) *Input {
	return &Input{
		in: in, progress: p, ended: ctx.Done(), why: func() error { return context.Cause(ctx) },
	}
}

// On returns an input like this one that reads something else, from the beginning.
func (w *Input) On(in io.Reader) *Input {
	each := *w
	each.in = in
	return &each
}

// maxTextBytes bounds what is read of a text: more than the service takes.
const maxTextBytes = 64 << 20

// ReadText reads a text from a file, or from standard input.
func (t *Terminal) ReadText(path string) (string, error) {
	in := t.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("cannot open %s: %w", path, errors.Unwrap(err))
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, maxTextBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	case len(content) > maxTextBytes:
		return "", fmt.Errorf("%s holds more than %s", path, Count(maxTextBytes, "byte"))
	}
	return string(content), nil
}

// Culprit is the name of the file that an error is about: name, or one of those that it consists of.
func Culprit(name string, err error) string {
	var path *fs.PathError
	if errors.As(err, &path) && path.Path != name && path.Path != os.Stdin.Name() {
		return path.Path
	}
	return name
}

// Unreadable says which file cannot be read, and why.
func Unreadable(name string, err error) error {
	name = Culprit(name, err)
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot read %s: there is no such file", name)
	case errors.As(err, &path):
		return fmt.Errorf("cannot read %s: %w", name, path.Err)
	default:
		return fmt.Errorf("cannot read %s: %w", name, err)
	}
}
