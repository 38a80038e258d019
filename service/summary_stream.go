package service

import (
	"context"
	"strings"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// summaryStream tells how the parts of a summary come along. They may be written at the same time: the text of each is
// told once all before it are finished, so that the deltas of an attempt make up the summary from its beginning. What a
// part has to say before that is held back.
type summaryStream struct {
	// emit takes the events; nil where nobody listens.
	emit func(ctx context.Context, e *compactordv1.CompactionEvent)
	// redact replaces secrets; nil where the policy wants none replaced.
	redact func(string) string

	mu sync.Mutex
	// attempt numbers the attempts, from 1.
	attempt uint32
	parts   []*streamedPart
	// front is the first part that is not finished.
	front int
	// total and read count stored tokens of what is to be read; before is what was read before all parts.
	total, read, before uint32
}

// streamedPart is a part of a summary in its stream.
type streamedPart struct {
	// said is what this attempt says of it, told or held back, and text what stands once it is finished.
	said     strings.Builder
	text     string
	finished bool
	// tokens is what it has to read, and read how much of that it has read at the most.
	tokens, read uint32
}

func newSummaryStream(t *task, pieces []piece) *summaryStream {
	s := &summaryStream{emit: t.emit, attempt: 1, total: t.total, read: t.read, before: t.read}
	if t.author != nil && t.author.streamed != nil {
		s.redact = t.author.streamed.Text
	}
	for _, p := range pieces {
		part := &streamedPart{}
		if p.request != nil {
			part.tokens = session.StoredTokens(p.request.Messages)
		}
		s.parts = append(s.parts, part)
	}
	return s
}

// begin tells that the summary is being written.
func (s *summaryStream) begin(ctx context.Context) {
	s.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, s.read, s.total)
}

// end tells that it is written and checked.
func (s *summaryStream) end(ctx context.Context) {
	s.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, s.total, s.total)
	s.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_CHECK, 1, 1)
}

// say adds to the text of a part.
func (s *summaryStream) say(ctx context.Context, part int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[part].said.WriteString(text)
	if part == s.front {
		s.delta(ctx, text)
	}
}

// again voids what a part has said, and tells the finished ones anew. It is false where there is nothing to void.
func (s *summaryStream) again(ctx context.Context, part int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts[part].said.Len() == 0 {
		return false
	}
	s.parts[part].said.Reset()
	if part != s.front {
		return true
	}
	s.attempt++
	var finished strings.Builder
	for _, p := range s.parts[:s.front] {
		finished.WriteString(p.text)
	}
	if finished.Len() > 0 {
		s.delta(ctx, finished.String())
	}
	return true
}

// finish says that a part is finished, and what it holds.
func (s *summaryStream) finish(ctx context.Context, part int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[part]
	p.finished, p.text, p.read = true, text, p.tokens
	for s.front < len(s.parts) && s.parts[s.front].finished {
		s.front++
		if s.front < len(s.parts) {
			s.heldBack(ctx, s.parts[s.front])
		}
	}
}

// heldBack tells what a part had to say before it was its turn. In one piece it may hold a secret whole.
func (s *summaryStream) heldBack(ctx context.Context, p *streamedPart) {
	text := p.said.String()
	switch {
	case p.finished:
		text = p.text
	case s.redact != nil:
		text = s.redact(text)
	}
	if text != "" {
		s.delta(ctx, text)
	}
}

// progressSteps is how many steps of progress a summary tells at the most.
const progressSteps = 100

// reads says how much of its messages a part has read. The sum never falls, whatever a summarizer says.
func (s *summaryStream) reads(ctx context.Context, part int, tokens uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[part]
	p.read = max(p.read, min(tokens, p.tokens))
	read := s.before
	for _, p := range s.parts {
		read += p.read
	}
	// A step for each message would be thousands of events that nobody sees.
	if read >= s.read+max(1, s.total/progressSteps) && read < s.total {
		s.read = read
		s.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, s.read, s.total)
	}
}

func (s *summaryStream) delta(ctx context.Context, text string) {
	s.tell(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_SummaryDelta{
		SummaryDelta: &compactordv1.SummaryDelta{Attempt: s.attempt, Text: text},
	}})
}

func (s *summaryStream) progress(ctx context.Context, stage compactordv1.CompactionStage, done, total uint32) {
	s.tell(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Progress{
		Progress: &compactordv1.CompactionProgress{Stage: stage, Done: done, Total: total},
	}})
}

func (s *summaryStream) tell(ctx context.Context, e *compactordv1.CompactionEvent) {
	if s.emit != nil {
		s.emit(ctx, e)
	}
}
