package transcript

import (
	"errors"

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

var compactionLine = leftOut("_compaction line", "_compaction lines")

// openAILines reads one message a line.
type openAILines struct {
	in *lines
}

func (s *openAILines) unit() unit { return unitLine }

func (s *openAILines) next() (entry, error) {
	for {
		_, line, err := s.in.object()
		if err != nil {
			return entry{}, err
		}
		m, err := openAIMessage(line)
		if errors.Is(err, errCompaction) {
			s.in.remarks.add(compactionLine)
			continue
		}
		if err != nil {
			return entry{}, onLine(s.in.line, err)
		}
		m.SourcePosition = position(s.in.line - 1)
		return entry{message: m}, nil
	}
}

func position(n int) *uint32 {
	p := uint32(n)
	return &p
}
