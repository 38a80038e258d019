package transcript

import (
	"errors"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var compactionLine = leftOut("_compaction line", "_compaction lines")

// openAILines reads one message a line.
type openAILines struct {
	in      *lines
	held    []byte // the first line, which was read to recognize the format
	remarks *remarks
}

func (s *openAILines) next() (*compactordv1.Message, error) {
	for {
		line, err := s.line()
		if err != nil {
			return nil, err
		}
		m, err := openAIMessage(line)
		if errors.Is(err, errCompaction) {
			s.remarks.add(compactionLine)
			continue
		}
		if err != nil {
			return nil, onLine(s.in.line, err)
		}
		m.SourcePosition = position(s.in.line - 1)
		return m, nil
	}
}

func (s *openAILines) line() ([]byte, error) {
	if held := s.held; held != nil {
		s.held = nil
		return held, nil
	}
	return s.in.next()
}

func position(n int) *uint32 {
	p := uint32(n)
	return &p
}
