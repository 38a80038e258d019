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

// neutralInput reads neutral messages.
func neutralInput(messages []*compactordv1.Message, strict bool) (*input, error) {
	accepted, err := withOrigin(messages)
	if err != nil {
		return nil, err
	}
	in := &input{messages: accepted, strict: strict, positions: make([]int, len(accepted))}
	for i, m := range accepted {
		in.positions[i] = i
		in.findEmpty(i, m)
		in.findBadArguments(i, m)
		in.findRepeatedKeys(i, m)
	}
	return in, nil
}

func (in *input) findEmpty(at int, m *compactordv1.Message) {
	if len(m.GetParts()) == 0 && !session.Failed(m) {
		in.addFinding(dialect.InputEmptyMessage, at, 0, "the message is empty; kept as it is")
	}
}

func (in *input) findBadArguments(at int, m *compactordv1.Message) {
	for i, p := range m.GetParts() {
		call := p.GetToolCall()
		if call == nil || call.GetArguments() == "" || json.Valid([]byte(call.GetArguments())) {
			continue
		}
		in.addFinding(dialect.InputArgumentsNotJSON, at, i, "the arguments of the call are no JSON; kept as they are")
	}
}

// withOrigin returns the messages with their origin set, and refuses origins that only the daemon uses.
func withOrigin(messages []*compactordv1.Message) ([]*compactordv1.Message, error) {
	accepted := make([]*compactordv1.Message, len(messages))
	for i, m := range messages {
		switch m.GetOrigin() {
		case compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT,
			compactordv1.Origin_ORIGIN_CONTINUE:
			accepted[i] = m
		case compactordv1.Origin_ORIGIN_UNSPECIFIED:
			accepted[i] = proto.CloneOf(m)
			accepted[i].Origin = compactordv1.Origin_ORIGIN_CLIENT
		default:
			return nil, apierror.InvalidField(fmt.Sprintf("messages[%d].origin", i),
				"messages of origin FUTURE, MARKER and CHILD are written by the daemon")
		}
	}
	return accepted, nil
}
