package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// The pause between two attempts to accept a connection grows from acceptPause to maxAcceptPause.
	acceptPause    = 5 * time.Millisecond
	maxAcceptPause = time.Second
	// acceptSpell is how long accepting must have gone well before the next failure is logged again. While descriptors
	// are short, every connection that ends lets one in.
	acceptSpell = time.Minute
)

// patientListener goes on where the process has no descriptor left for a connection, and says so once in each spell.
type patientListener struct {
	net.Listener
	logger  *slog.Logger
	refused prometheus.Counter

	close  sync.Once
	closed chan struct{}

	// mu guards lastFailure, the time of the last failure; zero where there was none.
	mu          sync.Mutex
	lastFailure time.Time
}

func newPatientListener(l net.Listener, logger *slog.Logger, refused prometheus.Counter) *patientListener {
	return &patientListener{Listener: l, logger: logger, refused: refused, closed: make(chan struct{})}
}

// newRefused returns the counter of failed attempts to accept a connection.
func newRefused() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "compactord_accept_failures_total",
		Help: "Attempts to accept a connection that failed because all file descriptors are in use.",
	})
}

// Accept returns the next connection. It waits while there is no descriptor for it.
func (l *patientListener) Accept() (net.Conn, error) {
	for pause := acceptPause; ; pause = min(2*pause, maxAcceptPause) {
		conn, err := l.Listener.Accept()
		if err == nil || !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			return conn, err
		}
		l.failed(err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-l.closed:
			timer.Stop()
			return nil, net.ErrClosed
		}
	}
}

func (l *patientListener) failed(err error) {
	l.refused.Inc()
	l.mu.Lock()
	now := time.Now()
	begins := l.lastFailure.IsZero() || now.Sub(l.lastFailure) > acceptSpell
	l.lastFailure = now
	l.mu.Unlock()
	if begins {
		l.logger.ErrorContext(context.Background(), "no file descriptors are left; connections wait until others end",
			"address", l.Addr().String(), "error", cause(err))
	}
}

// Close also ends a waiting Accept.
func (l *patientListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
