// Package audit writes who did what to which session: one line of JSON for each call, in a file of its own.
//
// A line has nothing of a conversation. What clients name themselves is bounded by the contract, and is written as a JSON
// string: the ids of sessions and of requests.
package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// fileMode lets only the owner read and write the file.
const fileMode = 0o600

// forEverybody are the bits of a mode that let all users of the machine read or change a file.
const forEverybody = 0o006

// Entry is a line: what somebody did.
type Entry struct {
	// Time is when it began.
	Time time.Time `json:"time"`
	// Tenant is empty for callers without one, and for those that are not known.
	Tenant string `json:"tenant"`
	// Subject names the token, or the part of the daemon that did it by itself; empty where nobody is known.
	Subject string `json:"subject"`
	// Role is the one of the token.
	Role string `json:"role"`
	// RPC is the name of the RPC, with its service.
	RPC string `json:"rpc"`
	// Session is the session that was named, and NewSession one that was made from it.
	Session    string `json:"session,omitempty"`
	NewSession string `json:"new_session,omitempty"`
	// Children is how many children were deleted with the session.
	Children uint32 `json:"children,omitempty"`
	// Code is the name of the status, such as NOT_FOUND.
	Code string `json:"code"`
	// RequestID is the one of the lines of the log.
	RequestID string `json:"request_id,omitempty"`
}

// file is what lines are added to.
type file interface {
	io.WriteCloser
	Stat() (fs.FileInfo, error)
}

// Log is a file of entries. A nil Log takes none.
type Log struct {
	path   string
	logger *slog.Logger
	failed prometheus.Counter

	mutex  sync.Mutex
	file   file
	closed bool
	// torn says that the last line may lack its end.
	torn bool
	// failing says that the last entry was not written, which is logged already.
	failing bool
	// room lets a line of so many bytes in, or refuses it for want of room on the disk.
	room func(bytes int) (done func(), err error)
}

// NewFailures returns the counter of entries that were not written.
func NewFailures() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "compactord_audit_failures_total", Help: "Lines that could not be written to the audit log.",
	})
}

// Open opens the file at a path, or makes it. It refuses one that everybody can read or change, and one that is not regular.
// The caller must call Close.
//
// room lets a line of so many bytes in, or refuses it for want of room on the disk; done is called once it is written. nil lets
// all in.
func Open(path string, logger *slog.Logger, failed prometheus.Counter, room func(bytes int) (done func(), err error)) (*Log, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	if room == nil {
		room = func(int) (func(), error) { return func() {}, nil }
	}
	return &Log{path: path, logger: logger, failed: failed, file: file, room: room}, nil
}

// open returns a file to which lines can be added. Its errors do not name the file.
func open(path string) (*os.File, error) {
	// To open a pipe would wait for somebody who reads it.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return nil, withoutPath(err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(withoutPath(err), file.Close())
	}
	// Windows has no such bits and reports all of them as set.
	if mode := info.Mode().Perm(); mode&forEverybody != 0 && runtime.GOOS != "windows" {
		return nil, errors.Join(fmt.Errorf("everybody on this machine can read or change it (mode %04o): take that away with chmod o-rw", mode),
			file.Close())
	}
	return file, nil
}

// withoutPath returns the system's error without the path, which who opens the file names.
func withoutPath(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// Write writes an entry to the file, to a new one where the file was moved away or removed. An entry that cannot be written
// is counted, and the first of several is logged. What is audited goes on all the same.
func (l *Log) Write(ctx context.Context, e Entry) {
	if l == nil {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	err := l.write(e)
	switch {
	case err != nil:
		l.failed.Inc()
		if !l.failing {
			l.logger.ErrorContext(ctx, "audit log not written: calls go on without it", "file", l.path, "error", err)
		}
	case l.failing:
		l.logger.InfoContext(ctx, "audit log is written again", "file", l.path)
	}
	l.failing = err != nil
}

func (l *Log) write(e Entry) error {
	if l.closed {
		return fs.ErrClosed
	}
	e.Time = e.Time.UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if l.moved() {
		if err := l.reopen(); err != nil {
			return err
		}
	}
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	done, err := l.room(len(line))
	if err != nil {
		return err
	}
	defer done()
	// One write, so that the lines of several daemons do not mix.
	n, err := l.file.Write(line)
	l.torn = err != nil && (l.torn || n > 0)
	return withoutPath(err)
}

// moved reports whether the path does not lead to the open file.
func (l *Log) moved() bool {
	there, err := os.Stat(l.path)
	if err != nil {
		return true
	}
	ours, err := l.file.Stat()
	return err != nil || !os.SameFile(there, ours)
}

// Reopen opens the file at the path again, as after a rotation. A Write does so by itself.
func (l *Log) Reopen() error {
	if l == nil {
		return nil
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return fs.ErrClosed
	}
	return l.reopen()
}

// reopen opens the file again. Where it cannot, entries still go to the old one if that is where the path leads.
func (l *Log) reopen() error {
	file, err := open(l.path)
	if err != nil {
		return err
	}
	// All lines are written already, and a new file is there for the next ones.
	_ = l.file.Close()
	l.file, l.torn = file, false
	return nil
}

// Close closes the file. A second call does nothing.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.file.Close()
}
