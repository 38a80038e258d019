package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A writer that blocks blocks nobody: lines within the bound come through in order once it reads, the others are
// counted, and that is said at the end.
func TestLogQueueNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		queue := newLogQueue(writer)
		queue.start(func(lines int) { _, _ = fmt.Fprintf(queue, "dropped %d\n", lines) })
		line := strings.Repeat("x", 1000)
		const lines = 3 * logQueueBytes / 1000
		for n := range lines {
			_, err := fmt.Fprintf(queue, "%06d %s\n", n, line)
			require.NoError(t, err)
			// The writer takes a piece, and then blocks.
			synctest.Wait()
		}
		dropped := queue.Dropped()
		require.Greater(t, dropped, lines/2)
		require.Less(t, dropped, lines*3/4)

		said := bufio.NewScanner(reader)
		for n := range lines - dropped {
			require.True(t, said.Scan())
			require.Equal(t, fmt.Sprintf("%06d %s", n, line), said.Text())
		}
		require.True(t, said.Scan())
		require.Equal(t, fmt.Sprintf("dropped %d", dropped), said.Text())

		_, _ = fmt.Fprintln(queue, "and on")
		require.True(t, said.Scan())
		require.Equal(t, "and on", said.Text(), "it is said once")
		require.True(t, queue.Close())
		require.Equal(t, dropped, queue.Dropped())
	})
}

// The end waits a moment for a reader, and not for ever.
func TestLogQueueEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		queue := newLogQueue(writer)
		queue.start(func(int) {})
		_, _ = io.WriteString(queue, "last words\n")
		require.False(t, queue.Close())
		_, _ = io.WriteString(queue, "too late\n")
		require.Equal(t, 1, queue.Dropped())
		said, err := bufio.NewReader(reader).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "last words\n", said)
		<-queue.ended
	})
}

// failingWriter fails at first.
type failingWriter struct {
	failures int
	text     strings.Builder
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.failures > 0 {
		w.failures--
		return 0, errors.New("nobody is there")
	}
	return w.text.Write(p)
}

// After a failed write the next lines are tried, and nothing is told to a writer that fails.
func TestLogQueueGoesOnAfterErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &failingWriter{failures: 2}
		queue := newLogQueue(out)
		queue.start(func(lines int) { _, _ = fmt.Fprintf(queue, "dropped %d\n", lines) })
		for n := range 4 {
			_, _ = fmt.Fprintln(queue, n)
			synctest.Wait()
		}
		require.True(t, queue.Close())
		require.Equal(t, "2\ndropped 2\n3\n", out.text.String())
	})
}
