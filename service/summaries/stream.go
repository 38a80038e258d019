package summaries

import (
	"context"
	"strings"
	"sync"

	"github.com/compactord/compactord/session"
)

// stream tells how the parts of a summary come along. They may be written at the same time: the text of each is
// told once all before it are finished, so that the deltas of an attempt make up the summary from its beginning. What a
// part has to say before that is held back.
type stream struct {
	// listener is nil where nobody listens.
	listener Listener
	redact   func(string) string

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

// stream is the stream of a summary of these parts.
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

// silent is the stream of one text that nobody is shown.
func (w *Writer) silent() *stream {
	return &stream{redact: w.secrets.replaceShown, attempt: 1, parts: []*streamedPart{{}}}
}

// begin tells that the summary is being written.
func (s *stream) begin(ctx context.Context) { s.tellRead(ctx, s.read) }

// end tells that it is written and checked.
func (s *stream) end(ctx context.Context) {
	s.tellRead(ctx, s.total)
	if s.listener != nil {
		s.listener.Checked(ctx)
	}
}

// say adds to the text of a part.
func (s *stream) say(ctx context.Context, part int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[part].said.WriteString(text)
	if part == s.front {
		s.delta(ctx, text)
	}
}

// again voids what a part has said, and tells the finished ones anew. It is false where there is nothing to void.
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

// finish says that a part is finished, and what it holds.
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

// heldBack tells what a part had to say before it was its turn. In one piece it may hold a secret whole.
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

// progressSteps is how many steps of progress a summary tells at the most.
const progressSteps = 100

// reads says how much of its messages a part has read. The sum never falls, whatever a summarizer says.
func (s *stream) reads(ctx context.Context, part int, tokens uint32) {
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
		s.tellRead(ctx, s.read)
	}
}

func (s *stream) delta(ctx context.Context, text string) {
	if s.listener != nil {
		s.listener.Delta(ctx, s.attempt, text)
	}
}

func (s *stream) tellRead(ctx context.Context, read uint32) {
	if s.listener != nil {
		s.listener.Read(ctx, read, s.total)
	}
}
