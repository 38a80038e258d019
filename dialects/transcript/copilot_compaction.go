package transcript

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// boundary is how many messages are before those that a compaction keeps that begins now. A call is kept with its
// results.
func (s *copilotSession) boundary() uint32 {
	at := s.messages
	for _, before := range s.open {
		at = min(at, before)
	}
	return at
}

// compaction makes a record from a compaction, which keeps the messages since its start.
func (s *copilotSession) compaction(at *timestamppb.Timestamp, data rawjson.Object) error {
	succeeded, err := data.Truth("success")
	if err != nil {
		return err
	}
	if !succeeded && data.Has("success") {
		s.in.notes.add(copilotFailed)
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
	if made, ok := c.entry(s.in.notes); ok {
		s.entries = append(s.entries, made)
	}
	return nil
}
