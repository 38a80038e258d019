package inprocess_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/compactord/compactord/cmd/compactord/internal/inprocess"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo sends back what each connection sends, until the listener is closed and all clients have closed.
func echo(t *testing.T, l *inprocess.Listener) (wait func()) {
	t.Helper()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				require.ErrorIs(t, err, net.ErrClosed)
				return
			}
			all.Go(func() {
				_, err := io.Copy(conn, conn)
				require.NoError(t, errors.Join(err, conn.Close()))
			})
		}
	})
	return all.Wait
}

func TestManyConnections(t *testing.T) {
	l := inprocess.Listen()
	wait := echo(t, l)
	var clients sync.WaitGroup
	for i := range 100 {
		clients.Go(func() {
			conn, err := l.DialContext(t.Context())
			require.NoError(t, err)
			sent := bytes.Repeat(fmt.Appendf(nil, "%03d", i), 10_000)
			go func() { _, _ = conn.Write(sent) }()
			answered := make([]byte, len(sent))
			_, err = io.ReadFull(conn, answered)
			require.NoError(t, err)
			require.Equal(t, sent, answered)
			require.NoError(t, conn.Close())
		})
	}
	clients.Wait()
	require.NoError(t, l.Close())
	wait()
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inprocess.Listen()
		dialled := make(chan net.Conn, 1)
		go func() {
			conn, _ := l.DialContext(t.Context())
			dialled <- conn
		}()
		server, err := l.Accept()
		require.NoError(t, err)
		client := <-dialled
		require.NoError(t, client.SetDeadline(time.Now().Add(time.Minute)))
		_, err = client.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		_, err = client.Write([]byte("x"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, client.SetDeadline(time.Time{}))
		require.NoError(t, server.Close())
		_, err = client.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, client.Close())
	})
}

// DialContext waits until the server accepts or the context ends.
func TestDialsThatNobodyAccepts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inprocess.Listen()
		ended := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 2)
		dial := func(ctx context.Context) { _, err := l.DialContext(ctx); failed <- err }
		go dial(ctx)
		synctest.Wait()
		require.Empty(t, failed)
		cancel(ended)
		require.ErrorIs(t, <-failed, ended)
		go dial(t.Context())
		synctest.Wait()
		require.Empty(t, failed)
		require.NoError(t, l.Close())
		require.ErrorIs(t, <-failed, net.ErrClosed)
	})
}

func TestClosed(t *testing.T) {
	l := inprocess.Listen()
	require.Equal(t, "pipe", l.Addr().Network())
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err := l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = l.DialContext(t.Context())
	require.ErrorIs(t, err, net.ErrClosed)
}
