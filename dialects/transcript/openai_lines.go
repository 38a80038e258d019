package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// recognizeOpenAI takes what has a role, or an array of messages.
func recognizeOpenAI(b beginning) verdict {
	switch {
	case rawjson.KindOf(b.Object["role"]) == rawjson.String, rawjson.KindOf(b.Object["messages"]) == rawjson.Array && !b.array:
		return yes
	default:
		return no
	}
}

func openOpenAI(in *lines, b beginning) (source, error) {
	switch {
	case b.array:
		return newArray(in), nil
	case b.Has("role"):
		return &openAILines{in: in}, nil
	default:
		return newBody(in)
	}
}

// openAILines reads one message a line.
type openAILines struct {
	in     *lines
	counts lineCounts
}

func (s *openAILines) unit() unit { return unitLine }

func (s *openAILines) next() (entry, error) {
	for {
		o, line, err := s.in.object()
		if err != nil {
			return entry{}, err
		}
		at := s.in.line - 1
		e, ok, err := openAIEntry(o, line, at, &s.counts, s.in.remarks)
		if err != nil {
			return entry{}, onLine(s.in.line, err)
		}
		if ok {
			return e, nil
		}
	}
}

// openAIEntry parses a line or element; ok is false where it is left out.
func openAIEntry(o rawjson.Object, raw json.RawMessage, at int, c *lineCounts, notes *remarks) (e entry, ok bool, err error) {
	c.reach(at)
	if o.IsText("role", compactionRole) {
		return openAICompaction(o, c, notes)
	}
	m, err := openAIMessage(raw)
	if err != nil {
		return entry{}, false, err
	}
	c.messages++
	m.SourcePosition = position(at)
	return entry{message: m}, true, nil
}

func position(n int) *uint32 {
	p := uint32(n)
	return &p
}
