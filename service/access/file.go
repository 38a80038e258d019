package access

import "github.com/compactord/compactord/service/trusted"

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
	// read is the version that was read last, and seen the one that was there at the last look.
	read, seen trusted.Version
}

// settled says whether the file has changed since it was read, and has stayed the same since the look before: whoever
// writes it in place has time to write it whole.
func (f *watchedFile) settled() bool {
	now, before := trusted.Look(f.Path), f.seen
	f.seen = now
	return now.Same(before) && !now.Same(f.read)
}

// load reads the file. Where that fails, the tokens stay as they were. A file is not read again before it changes.
func (f *watchedFile) load() error {
	f.read = trusted.Look(f.Path)
	f.seen = f.read
	entries, err := f.Read(f.Path)
	if err != nil {
		return err
	}
	f.entries = entries
	return nil
}
