package transcript

import (
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// system looks for what compactions say of themselves; all else is news for the user.
func (s *claudeSession) system(l *claudeLine) error {
	switch {
	case l.kind != "system":
	case l.IsText("subtype", "compact_boundary"):
		s.boundary = l
	case l.IsText("subtype", "microcompact_boundary"):
		s.remarks.add(clearedByClaude)
	case l.IsText("subtype", "api_error"):
		s.remarks.add(claudeAPIError)
	default:
		s.remarks.add(claudeNews)
	}
	return nil
}

// compaction makes a record of a summary. Claude Code keeps nothing before it but the segment that it may tell of.
func (s *claudeSession) compaction(l *claudeLine, summary string) error {
	s.flush()
	c := compaction{tool: string(ClaudeCode), summary: summary, firstKept: s.messages}
	at, err := writtenAt(l.Object, time.Millisecond)
	if c.at, err = s.remarks.orUntimed(at, err, l.at); err != nil {
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
	if e, ok := c.entry(s.remarks); ok {
		s.ready = append(s.ready, e)
	}
	return nil
}

// preserved finds the first message of the segment that a compaction kept.
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
