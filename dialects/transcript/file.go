package transcript

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// files are those that a Reader has opened itself.
type files struct {
	options options
	open    []io.Closer
}

// read opens a file. What is said of it goes to the same notes as that of the others.
func (f *files) read(path string, notes *remarks) (*lines, error) {
	r, err := f.reads(path)
	if err != nil {
		return nil, err
	}
	if f.options.through != nil {
		r = f.options.through(r)
	}
	in := newLines(r, f.options)
	in.remarks = notes
	return in, nil
}

// reads reads a file, or one after the other the events that a folder of OpenHands holds.
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

// EventFiles are the files of a folder in which OpenHands keeps the events of a session, one each, or of the folder
// `events` in it, in order. They are none where it is another folder.
func EventFiles(folder string) ([]string, error) {
	for _, pattern := range []string{"event-*.json", filepath.Join("events", "event-*.json")} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(folder), pattern))
		if len(found) > 0 || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// escapeGlob writes a path such that it matches itself.
func escapeGlob(path string) string {
	if runtime.GOOS == "windows" {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// eventFolder reads files one after the other, each as a line or several of its own. It holds no more than one open.
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

// OpenFile opens a transcript by its path, like Open; a folder where that holds the events of OpenHands (see EventFiles). The reader must be closed. Of kimi-cli, it also reads the files that
// lie beside a context file and that it goes on from: then source_position counts the lines of all of them.
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
	in, err := f.read(path, &remarks{strict: f.options.strict})
	if err != nil {
		return nil, err
	}
	r, err := open(in)
	if err != nil {
		return nil, err
	}
	if s, ok := r.source.(*kimiContext); ok {
		return r, s.goOnFrom(path, f)
	}
	return r, nil
}

// Close closes what OpenFile has opened. Next must not be called afterwards. A reader of Open need not be closed.
func (r *Reader) Close() error {
	if r.files == nil {
		return nil
	}
	return r.files.close()
}
