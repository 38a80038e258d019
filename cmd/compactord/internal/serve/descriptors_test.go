package serve

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// scriptedListener returns these errors, and then connections.
type scriptedListener struct {
	net.Listener
	errors []error
}

func (l *scriptedListener) Accept() (net.Conn, error) {
	if len(l.errors) == 0 {
		conn, _ := net.Pipe()
		return conn, nil
	}
	err := l.errors[0]
	l.errors = l.errors[1:]
	return nil, err
}

func (l *scriptedListener) Addr() net.Addr { return &net.TCPAddr{} }

func (l *scriptedListener) Close() error { return nil }

func full() error {
	return &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}

// While descriptors are short, accepting goes on, and the log says so once in each spell.
func TestAcceptOutlivesMissingDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, refused := &strings.Builder{}, newRefused()
		inner := &scriptedListener{}
		l := newPatientListener(inner, slog.New(slog.NewTextHandler(log, nil)), refused)
		said := func() int { return strings.Count(log.String(), "no file descriptors are left") }
		fails := func(n int) {
			for range n {
				inner.errors = append(inner.errors, full())
			}
			conn, err := l.Accept()
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
		fails(20)
		fails(3)
		require.Equal(t, 1, said())
		<-time.After(2 * acceptSpell)
		fails(1)
		require.Equal(t, 2, said())
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(refused)
		families, err := registry.Gather()
		require.NoError(t, err)
		require.InDelta(t, 24, families[0].GetMetric()[0].GetCounter().GetValue(), 0)

		other := errors.New("another error")
		inner.errors = []error{other}
		_, err = l.Accept()
		require.ErrorIs(t, err, other)
	})
}

// A stop does not wait for descriptors.
func TestCloseEndsAPatientAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &scriptedListener{}
		for range 1000 {
			inner.errors = append(inner.errors, full())
		}
		l := newPatientListener(inner, slog.New(slog.DiscardHandler), newRefused())
		ended := make(chan error)
		go func() {
			_, err := l.Accept()
			ended <- err
		}()
		<-time.After(10 * time.Second)
		require.NoError(t, l.Close())
		require.ErrorIs(t, <-ended, net.ErrClosed)
	})
}
