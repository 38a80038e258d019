package unread

import (
	"runtime"
	"sync/atomic"

	"google.golang.org/grpc/mem"
)

// outgoing is an encoded answer of which gRPC holds chunks. gRPC takes it for the pool that their memory comes from,
// and returns each chunk to it once that is passed on.
type outgoing struct {
	whole  mem.Buffer
	chunks atomic.Int32
	held   *heldBytes
}

// heldBytes are the bytes of an answer that count as unread on a connection, until they are freed.
type heldBytes struct {
	connection *connection
	bytes      int64
	freed      atomic.Bool
}

func newOutgoing(a *answer, whole mem.Buffer) *outgoing {
	out := &outgoing{whole: whole, held: &heldBytes{connection: a.connection, bytes: a.held}}
	// gRPC drops an answer without returning its chunks if its call is cancelled just then.
	runtime.AddCleanup(out, (*heldBytes).free, out.held)
	return out
}

func (h *heldBytes) free() {
	if !h.freed.Swap(true) {
		h.connection.advance(h.bytes)
	}
}

// Get returns new memory. gRPC never asks for any here.
func (*outgoing) Get(length int) *[]byte {
	b := make([]byte, length)
	return &b
}

// Put takes back a chunk. The memory of the answer is free with the last one.
func (o *outgoing) Put(*[]byte) {
	if o.chunks.Add(-1) > 0 {
		o.held.connection.advance(0)
		return
	}
	o.whole.Free()
	o.held.free()
}
