package api

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/compactord/compactord/storage"
)

// foreignError says what a file is that is no store. As a damaged one, it is storage.ErrCorrupt: both may be replaced.
type foreignError struct{ path, kind string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("%s is no store of compactord: it is %s", e.path, e.kind)
}

func (e *foreignError) Unwrap() error { return storage.ErrCorrupt }

// foreignBytes is how much of a file says what it is.
const foreignBytes = 4 << 10

// foreignBeginnings are how files of other kinds begin.
var foreignBeginnings = []struct{ begins, kind string }{
	{"SQLite format 3\x00", "a database of SQLite"},
	{"\x1f\x8b", "compressed by gzip"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd"},
	{"PK\x03\x04", "a zip archive"},
	{"\x7fELF", "a program"},
	{"%PDF-", "a PDF"},
}

// foreignKind returns what a file is that is no store for certain. It is empty for all others, such as damaged stores.
func foreignKind(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	begin, err := io.ReadAll(io.LimitReader(file, foreignBytes))
	if closeErr := file.Close(); err != nil || closeErr != nil {
		return ""
	}
	for _, f := range foreignBeginnings {
		if bytes.HasPrefix(begin, []byte(f.begins)) {
			return f.kind
		}
	}
	if len(begin) > 0 && isText(begin) {
		return "a text file"
	}
	return ""
}

// isText says whether bytes are the beginning of a text. The last letter may be cut off.
func isText(b []byte) bool {
	for len(b) > 0 {
		c, size := utf8.DecodeRune(b)
		switch {
		case c == utf8.RuneError && size == 1:
			return !utf8.FullRune(b)
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f':
			return false
		}
		b = b[size:]
	}
	return true
}
