package unread

import (
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Where the room for all is used up, the client with the most to read is disconnected of those that read nothing. One
// that has just read goes on, and so does one with small answers.
func TestWhichClientMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := New(Options{Total: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		unread := func(bytes int64) *connection {
			ours, theirs := net.Pipe()
			c := &connection{Conn: ours, answers: a, unread: bytes, progress: time.Now()}
			t.Cleanup(func() {
				require.NoError(t, c.Close())
				require.NoError(t, theirs.Close())
			})
			a.connections[c] = struct{}{}
			a.total += bytes
			return c
		}
		small, much, most := unread(smallAnswer), unread(300<<10), unread(600<<10)
		<-time.After(2 * idleUnderPressure)
		reading := unread(900 << 10)
		for _, left := range [][]*connection{{small, much, reading}, {small, reading}, {small, reading}} {
			a.relieve(200 << 10)
			require.Len(t, a.connections, len(left))
			for _, c := range left {
				require.Contains(t, a.connections, c)
			}
		}
		require.True(t, most.gone)
	})
}
