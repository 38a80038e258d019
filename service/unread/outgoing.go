package unread

import (
	"sync/atomic"

	"google.golang.org/grpc/mem"
)

// outgoing is an encoded answer of which gRPC holds chunks. gRPC takes it for the pool that their memory comes from,
// and returns each chunk to it once that is passed on.
type outgoing struct {
	connection *connection
	whole      mem.Buffer
	held       int64
	chunks     atomic.Int32
}

// Get returns new memory. gRPC never asks for any here.
func (*outgoing) Get(length int) *[]byte {
	b := make([]byte, length)
	return &b
}

// Put takes back a chunk. The memory of the answer is free with the last one.
func (o *outgoing) Put(*[]byte) {
	if o.chunks.Add(-1) > 0 {
		o.connection.advance(0)
		return
	}
	o.whole.Free()
	o.connection.advance(o.held)
}
