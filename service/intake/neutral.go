package intake

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

// neutralInput takes neutral messages.
func neutralInput(messages []*compactordv1.Message, strict bool) (*input, error) {
	taken, err := incoming(messages)
	if err != nil {
		return nil, err
	}
	in := &input{messages: taken, strict: strict, positions: make([]int, len(taken))}
	for i, m := range taken {
		in.positions[i] = i
		in.saysSomething(i, m)
		in.argumentsParse(i, m)
	}
	return in, nil
}

func (in *input) saysSomething(at int, m *compactordv1.Message) {
	if len(m.GetParts()) == 0 && !session.Failed(m) {
		in.find(dialect.InputEmptyMessage, at, 0, "the message is empty; kept as it is")
	}
}

func (in *input) argumentsParse(at int, m *compactordv1.Message) {
	for i, p := range m.GetParts() {
		call := p.GetToolCall()
		if call == nil || call.GetArguments() == "" || json.Valid([]byte(call.GetArguments())) {
			continue
		}
		in.find(dialect.InputArgumentsNotJSON, at, i, "the arguments of the call are no JSON; kept as they are")
	}
}

// incoming gives messages their origin, and refuses those that only the daemon writes.
func incoming(messages []*compactordv1.Message) ([]*compactordv1.Message, error) {
	taken := make([]*compactordv1.Message, len(messages))
	for i, m := range messages {
		switch m.GetOrigin() {
		case compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT,
			compactordv1.Origin_ORIGIN_CONTINUE:
			taken[i] = m
		case compactordv1.Origin_ORIGIN_UNSPECIFIED:
			taken[i] = proto.CloneOf(m)
			taken[i].Origin = compactordv1.Origin_ORIGIN_CLIENT
		default:
			return nil, apierror.InvalidField(fmt.Sprintf("messages[%d].origin", i),
				"messages of origin FUTURE and MARKER are written by the daemon")
		}
	}
	return taken, nil
}
