package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openaichat"
)

func openOpenAI(in *lines, b beginning) (source, error) {
	_, body := signOfBody(b.Object)
	switch {
	case b.array:
		return &openAIDocument{feed: newElements(in, "", nil), notes: in.notes}, nil
	case b.Has("choices"):
		return provider{dialect: openaichat.New(), list: "messages"}.open(in, b)
	case body:
		return newOpenAIBody(in), nil
	default:
		return &openAILines{in: in}, nil
	}
}

// openAILines reads one message per line.
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
		e, ok, err := openAIEntry(o, line, at, &s.counts, s.in.notes)
		if err != nil {
			return entry{}, onLine(s.in.line, err)
		}
		if ok {
			return e, nil
		}
	}
}

// openAIEntry parses a line or element. ok is false where it is left out.
func openAIEntry(o rawjson.Object, raw json.RawMessage, at int, c *lineCounts, notes *noteCounter) (e entry, ok bool, err error) {
	c.reach(at)
	if o.IsText("role", compactionRole) {
		return openAICompaction(o, c, notes)
	}
	m, err := openAIMessage(raw, notes)
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
