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

	// sweAgentFields are SWE-agent's own. thought and action say again what content and tool_calls say.
	sweAgentFields = []string{"agent", "message_type", "thought", "action", "is_demo", "tags", "tool_call_ids"}
)

// recognizeSWEAgent takes a document with a history of which messages name their agent, or with the steps of a run.
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

// firstObject is the first element of an array in a field; empty where there is none, or it is no object.
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

// openSWEAgent reads the history of a trajectory of SWE-agent: what the model was sent, in OpenAI's shape.
func openSWEAgent(in *lines, _ beginning) (source, error) {
	s := &sweAgent{remarks: in.remarks, names: callNames{}}
	return &elementSource{
		remarks: in.remarks,
		feed: newElements(in, "history", func(string, json.RawMessage) error {
			in.remarks.add(runField)
			return nil
		}),
		read: func(raw json.RawMessage) ([]entry, error) { return one(s.message(raw)) },
	}, nil
}

type sweAgent struct {
	remarks *remarks
	names   callNames
	// agent is the one that the first message names.
	agent string
	// acted says that the model has spoken: what comes as a user's message from then on is what its commands printed.
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
	// Each agent sees its own messages alone.
	if agent != "" && agent != s.agent {
		s.remarks.add(otherAgent)
		return nil, nil
	}
	demo, err := o.Truth("is_demo")
	if err != nil {
		return nil, err
	}
	m, err := litellmMessage(o, s.remarks, sweAgentFields...)
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

// sweAgentCallID reads which call a result answers: SWE-agent keeps a list, of the one call of a step.
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

// attribute tells what the user asked for from demonstrations and what commands printed.
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
