package transcript

import (
	"errors"
	"io"
	"os"
)

// files are those that a Reader has opened itself.
type files struct {
	options options
	open    []io.Closer
}

// read opens a file. What is said of it goes to the same notes as that of the others.
func (f *files) read(path string, notes *remarks) (*lines, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f.open = append(f.open, file)
	var r io.Reader = file
	if f.options.through != nil {
		r = f.options.through(file)
	}
	in := newLines(r, f.options)
	in.remarks = notes
	return in, nil
}

func (f *files) close() error {
	var err error
	for _, file := range f.open {
		err = errors.Join(err, file.Close())
	}
	f.open = nil
	return err
}

// OpenFile opens a transcript by its path, like Open. The reader must be closed. Of kimi-cli, it also reads the files that
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
	in, err := f.read(path, &remarks{})
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
