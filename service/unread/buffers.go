package unread

import (
	"math/bits"
	"sync"

	"google.golang.org/grpc/mem"
)

// buffers are pools of memory for encoded answers, each of one power of two. gRPC's own would clear a buffer before it is
// used again, though it is written from its start and never read behind what was written; and it has no size between 32 kB
// and 1 MB.
type buffers [bits.UintSize + 1]sync.Pool

var answerBuffers = new(buffers)

var _ mem.BufferPool = (*buffers)(nil)

// Get returns memory of a length. What is in it has no meaning.
func (b *buffers) Get(length int) *[]byte {
	class := bits.Len(uint(max(length, 1) - 1))
	if buffer, ok := b[class].Get().(*[]byte); ok {
		*buffer = (*buffer)[:length]
		return buffer
	}
	buffer := make([]byte, length, 1<<class)
	return &buffer
}

// Put takes memory back.
func (b *buffers) Put(buffer *[]byte) {
	if size := cap(*buffer); bits.OnesCount(uint(size)) == 1 {
		b[bits.Len(uint(size)-1)].Put(buffer)
	}
}
