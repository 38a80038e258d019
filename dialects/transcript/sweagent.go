package transcript

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errCallIDs = errors.New("holds more than one id; a result answers one call")

	otherAgent = leftOut("message of another agent than the main one", "messages of other agents than the main one")

	// sweAgentFields are SWE-agent's own. thought and action repeat content and tool_calls.
	sweAgentFields = []string{"agent", "message_type", "thought", "action", "is_demo", "tags", "tool_call_ids"}
)

// recognizeSWEAgent recognizes a document with a history whose messages name their agent, or with the steps of a run.
func recognizeSWEAgent(b beginning) verdict {
	if b.array {
		return no
	}
	if m := firstObject(b.Object, "history"); m.Has("role") && (m.Has("agent") || m.Has("message_type")) {
		return yes
	}
	if step := firstObject(b.Object, "trajectory"); step.Has("action") && step.Has("observation") {
		return yes
	}
	return no
}

// firstObject returns the first element of an array in a field. It returns nil where that is no object.
func firstObject(o rawjson.Object, field string) rawjson.Object {
	raws, err := o.Elements(field)
	if err != nil || len(raws) == 0 {
		return nil
	}
	first, err := rawjson.ParseObject(raws[0])
	if err != nil {
		return nil
	}
	return first
}

// openSWEAgent reads the history of a trajectory of SWE-agent: the messages to the model, in OpenAI's shape.
func openSWEAgent(in *lines, _ beginning) (source, error) {
	s := &sweAgent{notes: in.notes, names: callNames{}}
	return &elementSource{
		notes: in.notes,
		feed: newElements(in, "history", func(string, json.RawMessage) error {
			in.notes.add(runField)
			return nil
		}),
		read: func(raw json.RawMessage) ([]entry, error) { return one(s.message(raw)) },
	}, nil
}

type sweAgent struct {
	notes *noteCounter
	names callNames
	// agent is the agent of the first message.
	agent string
	// acted reports that the model has answered. USER messages after that are the output of its commands.
	acted bool
}

func (s *sweAgent) message(raw json.RawMessage) (*compactordv1.Message, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	agent, err := o.Text("agent")
	if err != nil {
		return nil, err
	}
	if s.agent == "" {
		s.agent = agent
	}
	// Each agent sees only its own messages.
	if agent != "" && agent != s.agent {
		s.notes.add(otherAgent)
		return nil, nil
	}
	demo, err := o.Truth("is_demo")
	if err != nil {
		return nil, err
	}
	m, err := litellmMessage(o, s.notes, sweAgentFields...)
	if err != nil {
		return nil, err
	}
	if err := sweAgentCallID(m, o); err != nil {
		return nil, err
	}
	s.names.see(m)
	s.attribute(m, demo)
	return m, nil
}

// sweAgentCallID sets the id of the call that a result answers. SWE-agent has a list, with the one call of a step.
func sweAgentCallID(m *compactordv1.Message, o rawjson.Object) error {
	ids, err := o.Elements("tool_call_ids")
	if err != nil || m.GetRole() != compactordv1.Role_ROLE_TOOL || len(ids) == 0 {
		return err
	}
	if len(ids) > 1 {
		return rawjson.In("tool_call_ids", errCallIDs)
	}
	id, err := rawjson.Object{"tool_call_ids": ids[0]}.BoundedText("tool_call_ids", maxID)
	if err == nil && id != "" {
		m.GetParts()[0].GetToolResult().CallId = id
	}
	return err
}

// attribute sets the origin of messages: it distinguishes the user's requests from demonstrations and the output of
// commands.
func (s *sweAgent) attribute(m *compactordv1.Message, demo bool) {
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		if demo || s.acted {
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		}
	case compactordv1.Role_ROLE_ASSISTANT:
		s.acted = s.acted || !demo
	default:
	}
}
