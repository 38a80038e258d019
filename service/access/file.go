package access

import (
	"os"
	"time"
)

// File is a file of tokens.
type File struct {
	// Flag is the flag that names it, for messages.
	Flag string
	Path string
	// Read reads the file and returns its tokens.
	Read func(path string) ([]Entry, error)
}

// OwnToken returns the file of the token of who runs the daemon, which may do everything.
func OwnToken(flag, path string) File {
	return File{Flag: flag, Path: path, Read: func(path string) ([]Entry, error) {
		token, err := ReadTokenFile(path)
		if err != nil {
			return nil, err
		}
		hash, err := HashOf(token)
		if err != nil {
			return nil, err
		}
		return []Entry{{Subject: "owner", Role: Admin, Hash: hash}}, nil
	}}
}

// watchedFile is a File that is read again when it has changed. Only one goroutine looks at it.
type watchedFile struct {
	File

	entries []Entry
	// read is what the file looked like when it was read last, and seen when it was looked at last.
	read, seen *appearance
}

// appearance tells versions of a file apart without reading it.
type appearance struct {
	info     os.FileInfo
	size     int64
	modified time.Time
	mode     os.FileMode
}

// look returns what the file looks like; nil where it cannot be looked at.
func look(path string) *appearance {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return &appearance{info, info.Size(), info.ModTime(), info.Mode()}
}

func (a *appearance) equal(b *appearance) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.size == b.size && a.modified.Equal(b.modified) && a.mode == b.mode && os.SameFile(a.info, b.info)
}

// settled says whether the file has changed since it was read, and has stayed the same since the look before: whoever
// writes it in place has time to write it whole.
func (f *watchedFile) settled() bool {
	now, before := look(f.Path), f.seen
	f.seen = now
	return now.equal(before) && !now.equal(f.read)
}

// load reads the file. Where that fails, the tokens stay as they were. A file is not read again before it changes.
func (f *watchedFile) load() error {
	f.read = look(f.Path)
	f.seen = f.read
	entries, err := f.Read(f.Path)
	if err != nil {
		return err
	}
	f.entries = entries
	return nil
}
