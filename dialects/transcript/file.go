package transcript

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// files are the files that a Reader opened itself.
type files struct {
	options options
	open    []io.Closer
}

// read opens a file. Its notes are added to those of the others.
func (f *files) read(path string, notes *noteCounter) (*lines, error) {
	r, err := f.reads(path)
	if err != nil {
		return nil, err
	}
	if f.options.through != nil {
		r = f.options.through(r)
	}
	in := newLines(r, f.options)
	in.notes = notes
	return in, nil
}

// reads opens a file, or the event files of a folder of OpenHands as one input.
func (f *files) reads(path string) (io.Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f.open = append(f.open, file)
	info, err := file.Stat()
	if err != nil || !info.IsDir() {
		return file, err
	}
	events, err := EventFiles(path)
	if err != nil {
		return nil, err
	}
	return &eventFolder{files: events}, nil
}

// EventFiles returns, in order, the files of a folder in which OpenHands keeps the events of a session, one file each.
// The folder can also hold them in a folder `events`. It returns none for any other folder.
func EventFiles(folder string) ([]string, error) {
	for _, pattern := range []string{"event-*.json", filepath.Join("events", "event-*.json")} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(folder), pattern))
		if len(found) > 0 || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// escapeGlob returns a pattern that matches only this path.
func escapeGlob(path string) string {
	if runtime.GOOS == "windows" {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// eventFolder reads files one after the other, each as one or more lines. It has only one of them open at a time.
type eventFolder struct {
	files []string
	now   *os.File
}

func (f *eventFolder) Read(p []byte) (int, error) {
	if f.now == nil {
		if len(f.files) == 0 {
			return 0, io.EOF
		}
		var err error
		if f.now, err = os.Open(f.files[0]); err != nil {
			return 0, err
		}
		f.files = f.files[1:]
	}
	n, err := f.now.Read(p)
	if !errors.Is(err, io.EOF) || n > 0 || len(p) == 0 {
		return n, err
	}
	err = f.now.Close()
	f.now = nil
	p[0] = '\n'
	return 1, err
}

func (f *files) close() error {
	var err error
	for _, file := range f.open {
		err = errors.Join(err, file.Close())
	}
	f.open = nil
	return err
}

// OpenFile opens a transcript by its path, like Open. The path can also be a folder with events of OpenHands (see
// EventFiles). The reader must be closed. For kimi-cli it also reads the earlier files beside a context file that this
// file continues. source_position then counts the lines of all of them.
func OpenFile(path string, opts ...Option) (*Reader, error) {
	f := &files{options: optionsOf(opts)}
	r, err := f.reader(path)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	r.files = f
	return r, nil
}

func (f *files) reader(path string) (*Reader, error) {
	in, err := f.read(path, &noteCounter{strict: f.options.strict})
	if err != nil {
		return nil, err
	}
	r, err := open(in)
	if err != nil {
		return nil, err
	}
	if s, ok := r.source.(*kimiContext); ok {
		return r, s.continueFrom(path, f)
	}
	return r, nil
}

// Close closes the files that OpenFile opened. Next must not be called afterwards. A reader from Open need not be
// closed.
func (r *Reader) Close() error {
	if r.files == nil {
		return nil
	}
	return r.files.close()
}
