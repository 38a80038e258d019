package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	exitMessage  = leftOut("message about the end of the run", "messages about the end of the run")
	runField     = leftOut("field on the run", "fields on the run")
	miniSWEMark  = "mini-swe-agent"
	miniSWEExtra = []string{"extra"}
)

// recognizeMiniSWE recognizes a document with the format's name, or one with messages and the statistics of a run.
func recognizeMiniSWE(b beginning) verdict {
	if b.array {
		return no
	}
	if said, err := b.Text("trajectory_format"); err == nil && strings.HasPrefix(said, miniSWEMark) {
		return yes
	}
	info, err := b.Sub("info")
	if err != nil || b.Has("history") || !info.Has("model_stats") && !info.Has("mini_version") {
		return no
	}
	return yes
}

// openMiniSWE reads a trajectory of mini-swe-agent: messages of OpenAI's shape, with the agent's own fields.
func openMiniSWE(in *lines, _ beginning) (source, error) {
	s := &miniSWE{notes: in.notes, names: callNames{}}
	return &elementSource{
		notes: in.notes,
		feed: newElements(in, "messages", func(string, json.RawMessage) error {
			in.notes.add(runField)
			return nil
		}),
		read: func(raw json.RawMessage) ([]entry, error) { return one(s.message(raw)) },
	}, nil
}

type miniSWE struct {
	notes *noteCounter
	names callNames
	// acted reports that the model has answered. USER messages after that are the output of its commands.
	acted bool
}

func (s *miniSWE) message(raw json.RawMessage) (*compactordv1.Message, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	if o.IsText("role", "exit") {
		s.notes.add(exitMessage)
		return nil, nil
	}
	m, err := litellmMessage(o, s.notes, miniSWEExtra...)
	if err != nil {
		return nil, err
	}
	extra, err := o.Sub("extra")
	if err != nil {
		return nil, err
	}
	s.names.see(m)
	return m, rawjson.In("extra", s.note(m, extra))
}

// note sets the fields of a message that the agent logged.
func (s *miniSWE) note(m *compactordv1.Message, extra rawjson.Object) error {
	var err error
	if m.WrittenAt, err = writtenAt(extra, time.Second); err != nil {
		return err
	}
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		interrupt, err := extra.Text("interrupt_type")
		if err != nil {
			return err
		}
		if s.acted && !strings.HasPrefix(interrupt, "User") {
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
		}
	case compactordv1.Role_ROLE_ASSISTANT:
		s.acted = true
		response, err := extra.Sub("response")
		if err != nil || response == nil {
			return err
		}
		return rawjson.In("response", litellmResponse(m, response))
	default:
	}
	return nil
}
