package summaries

import (
	"context"
	"strings"
	"sync"

	"github.com/compactord/compactord/session"
)

// stream reports to the listener how the parts of a summary are written. Parts may be written at the same time. The
// text of a part is sent after all parts before it are finished, so that the deltas of an attempt give the summary from
// its beginning. Until then its text is held back.
type stream struct {
	// listener is nil where nobody listens.
	listener Listener
	redact   func(string) string

	mu sync.Mutex
	// attempt numbers the attempts, from 1.
	attempt uint32
	parts   []*streamedPart
	// front is the first unfinished part.
	front int
	// total and read count stored tokens of the input; before is what was read before all parts.
	total, read, before uint32
}

// streamedPart is a part of a summary in its stream.
type streamedPart struct {
	// said is the text of this attempt, sent or held back, and text the final text once the part is finished.
	said     strings.Builder
	text     string
	finished bool
	// tokens is the part's input, and read the most that it has reported as read.
	tokens, read uint32
}

// stream returns the stream of a summary with these parts.
func (w *Writer) stream(parts []part) *stream {
	s := &stream{
		listener: w.op.Listener, redact: w.secrets.replaceShown, attempt: 1, total: w.op.ToRead, read: w.read, before: w.read,
	}
	for _, p := range parts {
		streamed := &streamedPart{}
		if p.request != nil {
			streamed.tokens = session.StoredTokens(p.request.Messages)
		}
		s.parts = append(s.parts, streamed)
	}
	return s
}

// silent returns a stream of one text that no listener gets.
func (w *Writer) silent() *stream {
	return &stream{redact: w.secrets.replaceShown, attempt: 1, parts: []*streamedPart{{}}}
}

// begin reports that the summary is being written.
func (s *stream) begin(ctx context.Context) { s.reportRead(ctx, s.read) }

// end reports that the summary is written and checked.
func (s *stream) end(ctx context.Context) {
	s.reportRead(ctx, s.total)
	if s.listener != nil {
		s.listener.Checked(ctx)
	}
}

// add adds to the text of a part.
func (s *stream) add(ctx context.Context, part int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[part].said.WriteString(text)
	if part == s.front {
		s.delta(ctx, text)
	}
}

// again makes a part's text so far invalid, and sends the finished parts again in a new attempt. It returns false where
// the part has no text so far.
func (s *stream) again(ctx context.Context, part int) bool {
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

// finish sets the final text of a part.
func (s *stream) finish(ctx context.Context, part int, text string) {
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

// heldBack sends what a part wrote before its turn. Its pieces are redacted as one text, in which a secret may be
// complete.
func (s *stream) heldBack(ctx context.Context, p *streamedPart) {
	text := p.said.String()
	if p.finished {
		text = p.text
	} else {
		text = s.redact(text)
	}
	if text != "" {
		s.delta(ctx, text)
	}
}

// progressSteps is the most progress events for one summary.
const progressSteps = 100

// reads notes how much of its input a part has read. The sum never falls, whatever a summarizer reports.
func (s *stream) reads(ctx context.Context, part int, tokens uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[part]
	p.read = max(p.read, min(tokens, p.tokens))
	read := s.before
	for _, p := range s.parts {
		read += p.read
	}
	// An event for each message could be thousands.
	if read >= s.read+max(1, s.total/progressSteps) && read < s.total {
		s.read = read
		s.reportRead(ctx, s.read)
	}
}

func (s *stream) delta(ctx context.Context, text string) {
	if s.listener != nil {
		s.listener.Delta(ctx, s.attempt, text)
	}
}

func (s *stream) reportRead(ctx context.Context, read uint32) {
	if s.listener != nil {
		s.listener.Read(ctx, read, s.total)
	}
}
