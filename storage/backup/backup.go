// Package backup is the format of backups. A backup is a file of a store, as a store's Copy writes it, and behind it a
// trailer with the size and the SHA-256 sum of that file. So it can be written and read as a stream, and one that is
// damaged, or lacks its end, is found out.
package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// Errors of Read.
var (
	// ErrIncomplete means that the end is missing, or that it never was a backup.
	ErrIncomplete = errors.New("it is no backup, or its end is missing")
	// ErrDamaged means that it is not what was written.
	ErrDamaged = errors.New("the backup is damaged: its content does not have the sum that was written with it")
	// ErrNewer means that a newer version of the program wrote the backup.
	ErrNewer = errors.New("a newer version wrote the backup")
)

// format is the version of the trailer.
const format = 1

// trailerSize is the size of the trailer: JSON, filled up with blanks, and a line break.
const trailerSize = 256

// Contents say what a backup holds.
type Contents struct {
	// Bytes is the size of the store's file.
	Bytes int64 `json:"bytes"`
	// Sessions is how many sessions there are.
	Sessions int `json:"sessions"`
	// Created is when the backup was made.
	Created time.Time `json:"created"`
	// SHA256 is the sum of the store's file and of the trailer without it, in hexadecimal digits.
	SHA256 string `json:"sha256,omitempty"`
}

// trailer is what stands behind the store's file.
type trailer struct {
	Format int `json:"compactord_backup"`
	Contents
}

// line returns the trailer as it is written.
func (t trailer) line() ([]byte, error) {
	line, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	if len(line) >= trailerSize {
		return nil, fmt.Errorf("a trailer of %d bytes is too long", len(line))
	}
	line = append(line, bytes.Repeat([]byte(" "), trailerSize-1-len(line))...)
	return append(line, '\n'), nil
}

// sealed returns the trailer with its sum. sum has that of the store's file.
func (t trailer) sealed(sum hash.Hash) (trailer, error) {
	t.SHA256 = ""
	line, err := t.line()
	if err != nil {
		return trailer{}, err
	}
	_, _ = sum.Write(line)
	t.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return t, nil
}

// Write writes a backup of a store's file to a stream.
func Write(to io.Writer, store io.Reader, sessions int, created time.Time) (Contents, error) {
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(to, sum), store)
	if err != nil {
		return Contents{}, err
	}
	return end(to, sum, size, sessions, created)
}

// Complete makes a backup of a store's file itself: it reads the file, and writes the trailer behind it.
func Complete(file io.ReadWriteSeeker, sessions int, created time.Time) (Contents, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Contents{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return Contents{}, err
	}
	return end(file, sum, size, sessions, created)
}

func end(to io.Writer, sum hash.Hash, size int64, sessions int, created time.Time) (Contents, error) {
	t := trailer{format, Contents{Bytes: size, Sessions: sessions, Created: created.UTC()}}
	t, err := t.sealed(sum)
	if err != nil {
		return Contents{}, err
	}
	line, err := t.line()
	if err != nil {
		return Contents{}, err
	}
	_, err = to.Write(line)
	return t.Contents, err
}

// Read writes the store's file of a backup to a stream. What was written is of no use where it returns an error.
func Read(from io.Reader, to io.Writer) (Contents, error) {
	sum := sha256.New()
	held, size, err := allButTrailer(io.MultiWriter(to, sum), from)
	if err != nil {
		return Contents{}, err
	}
	var found trailer
	if len(held) < trailerSize || json.Unmarshal(held, &found) != nil || found.Format == 0 {
		return Contents{}, ErrIncomplete
	}
	if found.Format > format {
		return Contents{}, fmt.Errorf("%w: format %d, this program reads up to %d", ErrNewer, found.Format, format)
	}
	expected, err := found.sealed(sum)
	if err != nil || expected != found || found.Bytes != size {
		return Contents{}, ErrDamaged
	}
	if line, err := found.line(); err != nil || !bytes.Equal(line, held) {
		return Contents{}, ErrDamaged
	}
	return found.Contents, nil
}

// allButTrailer copies a stream but for its last bytes, which it returns.
func allButTrailer(to io.Writer, from io.Reader) (held []byte, size int64, err error) {
	buffer := make([]byte, 1<<20)
	n, err := io.ReadFull(from, buffer[:trailerSize])
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return buffer[:n], 0, nil
		}
		return nil, 0, err
	}
	for {
		n, err := from.Read(buffer[trailerSize:])
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return nil, 0, err
			}
			size += int64(n)
			copy(buffer[:trailerSize], buffer[n:n+trailerSize])
		}
		switch {
		case errors.Is(err, io.EOF):
			return buffer[:trailerSize], size, nil
		case err != nil:
			return nil, 0, err
		}
	}
}
