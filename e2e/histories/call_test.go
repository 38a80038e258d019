package histories_test

import (
	"math"
	"sync"
	"sync/atomic"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// outcome is what a client knows of a call.
type outcome int

const (
	// unknown: nothing was answered, so it may have taken effect.
	unknown outcome = iota
	answered
	// refused: by an error that says that nothing was written.
	refused
)

// never is the end of a call without an answer.
const never = math.MaxInt64

// call is a call, with all its repetitions.
type call struct {
	session string
	// request is the request, with its request_id where it writes.
	request proto.Message
	// began is when it was sent for the first time, ended when it was answered; never without an answer.
	began, ended int64
	outcome      outcome
	// cut is how often it was sent without an answer.
	cut    int
	answer proto.Message
	err    error
	// operations are the ids of the compactions that said that they have started.
	operations map[string]bool
}

// history collects the calls of all clients.
type history struct {
	clock atomic.Int64
	// ends receives a value for each call that has ended.
	ends  chan struct{}
	mu    sync.Mutex
	calls []*call
}

// begin notes that a call is about to be sent.
func (h *history) begin(session string, request proto.Message) *call {
	c := &call{
		session: session, request: request, ended: never, began: h.clock.Add(1), operations: make(map[string]bool),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
	return c
}

// end notes how a call has ended. An answer or a refusal of a repetition is that of the call.
func (h *history) end(c *call, answer proto.Message, err error) {
	c.outcome, c.err = outcomeOf(err), err
	if c.outcome == unknown {
		c.cut++
	} else {
		c.ended = h.clock.Add(1)
	}
	if c.outcome == answered {
		c.answer = answer
	}
	select {
	case h.ends <- struct{}{}:
	default:
	}
}

func outcomeOf(err error) outcome {
	switch status.Code(err) {
	case codes.OK:
		return answered
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return unknown
	default:
		return refused
	}
}

// explicable reports whether an error is one that these clients can get from a sound daemon.
func explicable(request proto.Message, err error) bool {
	switch status.Code(err) {
	case codes.OK, codes.Unavailable, codes.Canceled, codes.FailedPrecondition, codes.Aborted:
		return true
	case codes.NotFound:
		// Some of the indexes do not exist yet.
		_, indexed := request.(interface{ GetIndexes() []uint32 })
		return indexed
	case codes.ResourceExhausted:
		// A daemon that was not disturbed would log this as an error, which is looked for.
		return reasonOf(err) == "STORE_UNAVAILABLE"
	default:
		return false
	}
}

func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}
