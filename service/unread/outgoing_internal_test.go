package unread

import (
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// gRPC drops an answer without freeing it if the call is cancelled at the same time. Its bytes do not stay unread.
func TestDroppedAnswersAreFreed(t *testing.T) {
	t.Parallel()
	answers, err := New(Options{})
	require.NoError(t, err)
	ours, theirs := net.Pipe()
	t.Cleanup(func() { require.NoError(t, theirs.Close()) })
	c := &connection{Conn: ours, answers: answers}
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	freed := encodeAndDrop(t, c)
	for {
		select {
		case <-freed:
			require.Zero(t, answers.unread())
			return
		default:
			runtime.GC()
		}
	}
}

// encodeAndDrop encodes an answer as gRPC does, and forgets it. The channel is closed when its bytes are free.
func encodeAndDrop(t *testing.T, c *connection) <-chan struct{} {
	t.Helper()
	const bytes = 100 << 10
	c.take(bytes)
	c.answers.mu.Lock()
	freed := c.answers.freed
	c.answers.mu.Unlock()
	data, err := Codec{encoding.GetCodecV2(grpcproto.Name)}.Marshal(&answer{
		message:    &compactordv1.GetLLMViewResponse{SystemJson: []string{strings.Repeat("x", bytes)}},
		connection: c, held: bytes,
	})
	require.NoError(t, err)
	require.Greater(t, len(data), 1)
	require.Equal(t, int64(bytes), c.answers.unread())
	return freed
}

// An answer takes at most twice as much memory as it has bytes, from whatever pool its buffer comes.
func TestAnswersTakeLittleMoreThanTheirBytes(t *testing.T) {
	t.Parallel()
	for _, length := range []int{40 << 10, 600 << 10, 3 << 20} {
		pool := mem.DefaultBufferPool()
		buffer := pool.Get(length)
		(*buffer)[length-1] = 1
		whole := fitting(mem.BufferSlice{mem.NewBuffer(buffer, pool)})
		content := whole.ReadOnlyData()
		require.Len(t, content, length)
		require.Equal(t, byte(1), content[length-1])
		require.LessOrEqual(t, cap(content), 2*length)
		whole.Free()
	}
}
