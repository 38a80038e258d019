package transcript

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// boundary is how many messages stand before what a compaction that begins now keeps: a call keeps with its results.
func (s *copilotSession) boundary() uint32 {
	at := s.messages
	for _, before := range s.open {
		at = min(at, before)
	}
	return at
}

// compaction makes a record of a compaction, which keeps what has come since it began.
func (s *copilotSession) compaction(at *timestamppb.Timestamp, data rawjson.Object) error {
	succeeded, err := data.Truth("success")
	if err != nil {
		return err
	}
	if !succeeded && data.Has("success") {
		s.in.remarks.add(copilotFailed)
		s.compacting = false
		return nil
	}
	c := compaction{tool: string(CopilotCLI), firstKept: s.boundary(), at: at}
	if s.compacting {
		c.firstKept = s.cut
	}
	if c.summary, err = data.Text("summaryContent"); err != nil {
		return err
	}
	if c.tokensBefore, err = data.Count("preCompactionTokens"); err != nil {
		return err
	}
	s.compacting = false
	if made, ok := c.entry(s.in.remarks); ok {
		s.entries = append(s.entries, made)
	}
	return nil
}
