package serve

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// logQueueBytes is how much of the log may wait to be written.
	logQueueBytes = 1 << 20
	// logPieceBytes is how much is written at once, so that room becomes free while a slow reader reads.
	logPieceBytes = 32 << 10
	// logEndTimeout is how long the end of the daemon waits for what is left of the log.
	logEndTimeout = time.Second
)

// logQueue passes the log to a writer that may block, such as a pipe that nobody reads. Writing to the queue never
// blocks: lines without room are dropped and counted.
type logQueue struct {
	out io.Writer
	// told is called after the queue has become empty, with the number of lines dropped before. It may write to the queue.
	told func(lines int)

	mu sync.Mutex
	// waiting holds whole lines. size counts those too that are just being written.
	waiting []byte
	size    int
	// untold counts the dropped lines since told was called, dropped all of them.
	untold, dropped int
	// failed reports that the last write failed, so that it makes no sense to tell.
	failed, closed bool

	// wake holds at most one signal to look at the queue. ended is closed when nothing more is written.
	wake  chan struct{}
	ended chan struct{}
}

// newLogQueue returns a queue. The caller must call start, and Close.
func newLogQueue(out io.Writer) *logQueue {
	return &logQueue{out: out, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// start begins to write what is in the queue.
func (q *logQueue) start(told func(lines int)) {
	q.told = told
	go q.write()
}

// Write takes lines, or drops them. It never fails.
func (q *logQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.size+len(p) > logQueueBytes {
		q.drop(p)
		return len(p), nil
	}
	q.waiting = append(q.waiting, p...)
	q.size += len(p)
	q.signal()
	return len(p), nil
}

// drop counts lines as dropped, also one that was written in part. The caller has locked the queue.
func (q *logQueue) drop(p []byte) {
	lines := bytes.Count(p, []byte("\n"))
	q.untold += lines
	q.dropped += lines
}

func (q *logQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Dropped returns the number of all lines that were dropped.
func (q *logQueue) Dropped() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Close writes what is left, and reports whether it could within logEndTimeout. If not, a write still blocks, and the
// goroutine ends with it.
func (q *logQueue) Close() (written bool) {
	q.mu.Lock()
	q.closed = true
	q.signal()
	q.mu.Unlock()
	timer := time.NewTimer(logEndTimeout)
	defer timer.Stop()
	select {
	case <-q.ended:
		return true
	case <-timer.C:
		return false
	}
}

// write writes until the queue is closed and empty.
func (q *logQueue) write() {
	defer close(q.ended)
	for {
		piece, lost, closed := q.take()
		switch {
		case len(piece) > 0:
			n, err := q.out.Write(piece)
			q.wrote(piece, n, err)
		case lost > 0:
			q.told(lost)
		case closed:
			return
		default:
			<-q.wake
		}
	}
}

// take returns the next whole lines, or else the number of lines to tell about.
func (q *logQueue) take() (piece []byte, lost int, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		if !q.closed && !q.failed {
			lost, q.untold = q.untold, 0
		}
		return nil, lost, q.closed
	}
	end := len(q.waiting)
	if end > logPieceBytes {
		end = logPieceBytes
		if newline := bytes.LastIndexByte(q.waiting[:end], '\n'); newline >= 0 {
			end = newline + 1
		}
	}
	piece = bytes.Clone(q.waiting[:end])
	q.waiting = append(q.waiting[:0], q.waiting[end:]...)
	return piece, 0, false
}

func (q *logQueue) wrote(piece []byte, n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size -= len(piece)
	q.failed = err != nil
	if q.failed {
		// Nobody reads any more. The next lines are tried all the same: a terminal can come back.
		q.drop(piece[min(n, len(piece)):])
	}
}

// lastWords is stderr after the end of the log. Where nobody reads it, it gives up, so that the program ends.
type lastWords struct{ out io.Writer }

func (w lastWords) Write(p []byte) (int, error) {
	text := bytes.Clone(p)
	done := make(chan error, 1)
	go func() {
		_, err := w.out.Write(text)
		done <- err
	}()
	timer := time.NewTimer(logEndTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return len(p), err
	case <-timer.C:
		return 0, os.ErrDeadlineExceeded
	}
}
