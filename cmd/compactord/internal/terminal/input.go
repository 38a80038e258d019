package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// StandardInput is the file name that means standard input.
const StandardInput = "-"

// Input is a reader that shows progress. A Ctrl-C ends it even while it waits for more.
type Input struct {
	ctx      context.Context
	in       io.Reader
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
	// The goroutine owns the buffer while it reads: after a Ctrl-C, for ever.
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
	case <-w.ctx.Done():
		return 0, context.Cause(w.ctx)
	}
}

// NewInput returns an Input that shows its progress on p.
func NewInput(ctx context.Context, in io.Reader, p *Progress) *Input {
	return &Input{ctx: ctx, in: in, progress: p}
}

// On returns a copy that reads another file from its beginning.
func (w *Input) On(in io.Reader) *Input {
	each := *w
	each.in = in
	return &each
}

// Silent returns a copy that shows no progress.
func (w *Input) Silent() *Input {
	each := *w
	each.progress, each.buffer = nil, nil
	return &each
}

// maxTextBytes is the largest size of a text, more than the service accepts.
const maxTextBytes = 64 << 20

// ReadText reads a text from a file or from standard input.
func (t *Terminal) ReadText(path string) (string, error) {
	in := t.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", Unreadable(path, err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, maxTextBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	case len(content) > maxTextBytes:
		return "", fmt.Errorf("%s is larger than %s", path, Count(maxTextBytes, "byte"))
	}
	return string(content), nil
}

// Culprit returns the name of the file that an error is about: name, or another file that it consists of.
func Culprit(name string, err error) string {
	var path *fs.PathError
	if errors.As(err, &path) && path.Path != name && path.Path != os.Stdin.Name() {
		return path.Path
	}
	return name
}

// Unreadable returns an error that says which file cannot be read, and why.
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
