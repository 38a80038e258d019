package encoded

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Answer is an answer of GetLLMView on its way to the codec.
type Answer struct {
	messages *Messages
	// before and after are the encodings of the fields before and after the messages.
	before, after []byte
}

// tray carries the messages of an answer from the handler of a call to its codec, beside the answer.
type tray struct {
	answer   *compactordv1.GetLLMViewResponse
	messages *Messages
}

type trayKey struct{}

// Expect returns the context of a call whose handler may put the messages of its answer, and the function that takes them.
// That returns nil where the answer must be encoded by protobuf: the handler has put none, or returned another answer.
func Expect(ctx context.Context) (_ context.Context, take func(answer any) *Answer) {
	t := new(tray)
	return context.WithValue(ctx, trayKey{}, t), t.take
}

// Expected says whether somebody takes what Put puts.
func Expected(ctx context.Context) bool {
	_, ok := ctx.Value(trayKey{}).(*tray)
	return ok
}

// Put passes on the messages of an answer, which are all that it has.
func Put(ctx context.Context, answer *compactordv1.GetLLMViewResponse, messages *Messages) {
	if t, ok := ctx.Value(trayKey{}).(*tray); ok {
		t.answer, t.messages = answer, messages
	}
}

func (t *tray) take(answer any) *Answer {
	if t.answer == nil || answer != any(t.answer) || !t.messages.areOf(t.answer) {
		return nil
	}
	others, err := proto.Marshal(&compactordv1.GetLLMViewResponse{
		UnchangedPrefix: t.answer.GetUnchangedPrefix(), ViewToken: t.answer.GetViewToken(), HasMore: t.answer.GetHasMore(),
		Report: t.answer.GetReport(), ViewReport: t.answer.GetViewReport(), MessagesJson: t.answer.GetMessagesJson(),
		SystemJson: t.answer.GetSystemJson(), Findings: t.answer.GetFindings(), Sources: t.answer.GetSources(),
	})
	if err != nil {
		return nil
	}
	a := &Answer{messages: t.messages, after: others}
	for len(a.after) > 0 {
		number, _, n := protowire.ConsumeField(a.after)
		if n < 0 || number > messagesField {
			break
		}
		a.after = a.after[n:]
	}
	a.before = others[:len(others)-len(a.after)]
	return a
}

// areOf says that these are the messages of an answer.
func (m *Messages) areOf(answer *compactordv1.GetLLMViewResponse) bool {
	if len(m.list) != len(answer.GetMessages()) {
		return false
	}
	for i, vm := range answer.GetMessages() {
		if m.list[i].shown != vm {
			return false
		}
	}
	return true
}

// Size returns the size of the encoded answer.
func (a *Answer) Size() int { return len(a.before) + a.messages.bytes + len(a.after) }

// AppendTo appends the encoded answer.
func (a *Answer) AppendTo(b []byte) (_ []byte, err error) {
	b = append(b, a.before...)
	for i := range a.messages.list {
		if b, err = a.messages.list[i].appendTo(b); err != nil {
			return nil, fmt.Errorf("encode an answer: %w", err)
		}
	}
	return append(b, a.after...), nil
}
