package histories_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// client makes calls one after the other, until the daemon is killed.
type client struct {
	name    string
	history *history
	random  *rand.Rand
	// shared are the sessions of all clients.
	shared []string
	number int
	// open is the call that got no answer; nil where there is none.
	open *call
	// done are the answered calls that write.
	done []*call
	// points are the newest points that it knows of, by session.
	points map[string]uint32
	// tokens are the tokens of its last views, by session.
	tokens map[string]string
	// lengths are the numbers of messages that the sessions had when it last heard of that.
	lengths map[string]uint32
	// outlives says that a call may take effect when its daemon has already ended: a database is still at it.
	outlives bool
}

func newClient(h *history, name string, seed uint64, shared []string) *client {
	number := uint64(0)
	for _, b := range []byte(name) {
		number = number<<8 + uint64(b)
	}
	return &client{
		name: name, history: h, random: rand.New(rand.NewPCG(seed, number)), shared: shared,
		points: make(map[string]uint32), tokens: make(map[string]string), lengths: make(map[string]uint32),
	}
}

// run makes calls until the daemon is gone or, where calls is positive, that many were made.
func (c *client) run(ctx context.Context, d *daemon, calls int) error {
	if c.open != nil && c.random.IntN(4) > 0 {
		// The same request again: it takes effect once.
		if err := c.send(ctx, d, c.open); err != nil {
			return err
		}
	} else {
		c.abandon()
	}
	if err := c.repeatAnswered(ctx, d); err != nil {
		return err
	}
	for n := 0; c.open == nil && (calls == 0 || n < calls); n++ {
		session, request := c.draw()
		if err := c.send(ctx, d, c.history.begin(session, request)); err != nil {
			return err
		}
	}
	return nil
}

// step makes one call on any daemon: a call that got no answer once more, an old one again, or a new one.
func (c *client) step(ctx context.Context, anyDaemon func(*rand.Rand) *daemon) error {
	switch n := c.random.IntN(20); {
	case c.open != nil && n < 15:
		return c.send(ctx, anyDaemon(c.random), c.open)
	case n == 0:
		return c.repeatAnswered(ctx, anyDaemon(c.random))
	default:
		c.abandon()
		session, request := c.draw()
		return c.send(ctx, anyDaemon(c.random), c.history.begin(session, request))
	}
}

// abandon leaves an unanswered call as it is. Its daemon has ended, so that it cannot take effect any more unless a
// database is still at it.
func (c *client) abandon() {
	if c.open != nil && !c.outlives {
		c.open.ended = c.history.clock.Add(1)
	}
	c.open = nil
}

// send sends a call and notes its end. It returns errors that nothing explains.
func (c *client) send(ctx context.Context, d *daemon, call *call) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := dispatch(ctx, d, call)
	c.history.end(call, answer, err)
	c.open = nil
	switch {
	case !explicable(call.request, err):
		return fmt.Errorf("%T: %w", call.request, err)
	case call.outcome == unknown:
		c.open = call
	case call.outcome == answered && isRemembered(call):
		c.done = append(c.done, call)
	}
	c.learn(call)
	return nil
}

// learn notes points and tokens for later calls.
func (c *client) learn(call *call) {
	if call.outcome != answered {
		return
	}
	if a, ok := call.answer.(*compactordv1.AppendMessagesResponse); ok {
		c.lengths[call.session] = a.GetNextIndex()
	}
	switch a := call.answer.(type) {
	case interface{ GetPoint() uint32 }:
		c.points[call.session] = max(c.points[call.session], a.GetPoint())
	case *compactordv1.GetSessionResponse:
		c.points[call.session] = max(c.points[call.session], a.GetSession().GetPoint())
	case *compactordv1.GetLLMViewResponse:
		c.tokens[call.session] = a.GetViewToken()
	}
}

// repeatAnswered sends a request again that was answered long ago, perhaps by another daemon.
func (c *client) repeatAnswered(ctx context.Context, d *daemon) error {
	if c.open != nil || len(c.done) == 0 {
		return nil
	}
	old := c.done[c.random.IntN(len(c.done))]
	answer, err := dispatch(ctx, d, &call{session: old.session, request: old.request, operations: make(map[string]bool)})
	switch {
	case outcomeOf(err) == unknown:
		return nil
	case err != nil:
		return fmt.Errorf("%T was answered before: %w", old.request, err)
	case !proto.Equal(old.answer, answer):
		return fmt.Errorf("%T was answered before with\n%v\nand now with\n%v", old.request, old.answer, answer)
	}
	return nil
}

// dispatch sends a request to its RPC.
func dispatch(ctx context.Context, d *daemon, call *call) (proto.Message, error) {
	switch r := call.request.(type) {
	case *compactordv1.CreateSessionRequest:
		return d.sessions.CreateSession(ctx, r)
	case *compactordv1.AppendMessagesRequest:
		return d.sessions.AppendMessages(ctx, r)
	case *compactordv1.CreateCheckpointRequest:
		return d.sessions.CreateCheckpoint(ctx, r)
	case *compactordv1.RevertToCheckpointRequest:
		return d.sessions.RevertToCheckpoint(ctx, r)
	case *compactordv1.PinMessagesRequest:
		return d.sessions.PinMessages(ctx, r)
	case *compactordv1.UnpinMessagesRequest:
		return d.sessions.UnpinMessages(ctx, r)
	case *compactordv1.ForkSessionRequest:
		return d.sessions.ForkSession(ctx, r)
	case *compactordv1.PruneRequest:
		return d.compactions.Prune(ctx, r)
	case *compactordv1.CompactRequest:
		return compact(ctx, d, r, call)
	case *compactordv1.GetLLMViewRequest:
		return d.compactions.GetLLMView(ctx, r)
	case *compactordv1.GetSessionRequest:
		return d.sessions.GetSession(ctx, r)
	case *compactordv1.ListMessagesRequest:
		return d.sessions.ListMessages(ctx, r)
	case *compactordv1.ListSessionsRequest:
		return d.sessions.ListSessions(ctx, r)
	default:
		return nil, fmt.Errorf("no RPC for %T", r)
	}
}

// compact runs a compaction to its end, and returns its last event without what differs in a repeated answer.
func compact(ctx context.Context, d *daemon, r *compactordv1.CompactRequest, call *call) (proto.Message, error) {
	stream, err := d.compactions.Compact(ctx, r)
	if err != nil {
		return nil, err
	}
	var last *compactordv1.CompactionEvent
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return &compactordv1.CompactionEvent{OperationId: last.GetOperationId(), Event: last.GetEvent()}, nil
		}
		if err != nil {
			return nil, err
		}
		last = answer.GetEvent()
		if last.GetStarted() != nil {
			call.operations[last.GetOperationId()] = true
		}
	}
}

// isRemembered reports whether a call has written something: its answer is kept with it.
func isRemembered(c *call) bool {
	switch c.request.(type) {
	case *compactordv1.CreateSessionRequest, *compactordv1.ForkSessionRequest, *compactordv1.AppendMessagesRequest:
		return true
	default:
		return len(recordsOf(c.answer)) > 0
	}
}

// draw returns a request, and the session that it is about.
func (c *client) draw() (session string, request proto.Message) {
	c.number++
	id := fmt.Sprintf("%s-%d", c.name, c.number)
	session = c.shared[c.random.IntN(len(c.shared))]
	point := c.points[session]
	switch n := c.random.IntN(100); {
	case n < 40:
		return session, c.append(session, id)
	case n < 50:
		return session, &compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_SessionId{SessionId: session}, RequestId: id,
		}
	case n < 57:
		return session, &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: session}, RequestId: id,
		}
	case n < 61:
		return session, &compactordv1.RevertToCheckpointRequest{
			SessionId: session, RequestId: id,
			Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point - uint32(c.random.IntN(int(min(point, 20)+1)))},
		}
	case n < 65:
		return session, &compactordv1.PinMessagesRequest{SessionId: session, RequestId: id, Indexes: c.indexes(point)}
	case n < 68:
		return session, &compactordv1.UnpinMessagesRequest{SessionId: session, RequestId: id, Indexes: c.indexes(point)}
	case n < 72:
		return session, &compactordv1.CreateCheckpointRequest{SessionId: session, RequestId: id, Title: id}
	case n < 74:
		// Its session is the new one: forks are compared with what they were made from.
		return "fork-" + id, &compactordv1.ForkSessionRequest{
			SessionId: session, NewSessionId: "fork-" + id, RequestId: id, At: &compactordv1.ForkSessionRequest_Point{Point: point},
		}
	default:
		return session, c.drawRead(session, point)
	}
}

func (c *client) drawRead(session string, point uint32) proto.Message {
	switch c.random.IntN(8) {
	case 0:
		return &compactordv1.ListSessionsRequest{PageSize: 1000}
	case 1:
		return &compactordv1.GetSessionRequest{SessionId: session}
	case 2:
		return &compactordv1.ListMessagesRequest{SessionId: session, PageSize: 1000, MaxBytes: 64 << 20}
	case 3:
		return &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: session},
			AsOf:   proto.Uint32(point - uint32(c.random.IntN(int(point+1)))),
		}
	case 4, 5:
		return &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: session}, ViewToken: c.tokens[session],
		}
	default:
		return &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: session}}
	}
}

// indexes draws a few indexes, some of which may not be active or not exist.
func (c *client) indexes(point uint32) []uint32 {
	list := []uint32{uint32(c.random.IntN(int(point)/2 + 1))}
	if c.random.IntN(2) == 0 {
		list = append(list, list[0]+1+uint32(c.random.IntN(5)))
	}
	return list
}

// append returns a request to append a request of a user, an answer, or a whole tool group, sometimes only where the log
// ends as the client knows it. Every message has a text that no other one has.
func (c *client) append(session, id string) *compactordv1.AppendMessagesRequest {
	text := func(role compactordv1.Role, n int) *compactordv1.Message {
		words := strings.Repeat(" and so on", c.random.IntN(60))
		return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{
			Text: &compactordv1.TextPart{Text: mark(id, n) + words},
		}}}}
	}
	r := &compactordv1.AppendMessagesRequest{SessionId: session, RequestId: id}
	if length, known := c.lengths[session]; known && c.random.IntN(4) == 0 {
		r.ExpectedNextIndex = &length
	}
	switch c.random.IntN(3) {
	case 0:
		r.Messages = append(r.Messages, text(compactordv1.Role_ROLE_USER, 0))
	case 1:
		r.Messages = append(r.Messages, text(compactordv1.Role_ROLE_USER, 0), text(compactordv1.Role_ROLE_ASSISTANT, 1))
	default:
		asks := text(compactordv1.Role_ROLE_ASSISTANT, 0)
		asks.Parts = append(asks.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
			Id: "call-" + id, Name: "read", Arguments: `{"path":"pkg/` + id + `.go"}`,
		}}})
		output := mark(id, 1) + strings.Repeat("\na line of the file", c.random.IntN(300))
		r.Messages = append(r.Messages, asks, &compactordv1.Message{
			Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{
				ToolResult: &compactordv1.ToolResult{CallId: "call-" + id, Parts: []*compactordv1.ResultPart{
					{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: output}}},
				}},
			}}},
		})
	}
	return r
}

// mark is the beginning of the n-th message of a request.
func mark(id string, n int) string { return fmt.Sprintf("<%s.%d>", id, n) }
