package transcript

import (
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// system reads the lines about compactions. All other system lines are only for the user.
func (s *claudeSession) system(l *claudeLine) error {
	switch {
	case l.kind != "system":
	case l.IsText("subtype", "compact_boundary"):
		s.boundary = l
	case l.IsText("subtype", "microcompact_boundary"):
		s.notes.add(clearedByClaude)
	case l.IsText("subtype", "api_error"):
		s.notes.add(claudeAPIError)
	default:
		s.notes.add(claudeNews)
	}
	return nil
}

// compaction makes a record from a summary. Of the messages before it, Claude Code keeps only the segment that the
// boundary can name.
func (s *claudeSession) compaction(l *claudeLine, summary string) error {
	s.flush()
	c := compaction{tool: string(ClaudeCode), summary: summary, firstKept: s.messages}
	at, err := writtenAt(l.Object, time.Millisecond)
	if c.at, err = s.notes.orUntimed(at, err, l.at); err != nil {
		return err
	}
	if boundary := s.boundary; boundary != nil {
		s.boundary = nil
		metadata, err := boundary.Sub("compactMetadata")
		if err != nil {
			return onLine(boundary.at, err)
		}
		if c.tokensBefore, err = metadata.Count("preTokens"); err != nil {
			return onLine(boundary.at, rawjson.In("compactMetadata", err))
		}
		if first, found := s.preserved(metadata); found {
			c.firstKept = first
		}
	}
	if e, ok := c.entry(s.notes); ok {
		s.ready = append(s.ready, e)
	}
	return nil
}

// preserved returns the index of the first message of the segment that a compaction kept.
func (s *claudeSession) preserved(metadata rawjson.Object) (uint32, bool) {
	segment, err := metadata.Sub("preservedSegment")
	if err != nil {
		return 0, false
	}
	head, err := segment.Text("headUuid")
	if err != nil || head == "" {
		return 0, false
	}
	first, found := s.before[head]
	return first, found
}
