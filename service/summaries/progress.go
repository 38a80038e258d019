package summaries

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/summarizers"
)

// progress passes what a summarizer reports during one call to the stream.
type progress struct {
	read  func(tokens uint32)
	add   func(text string)
	again func()
	// redact replaces secrets in the text; nil for the first text of a model, which has seen none.
	redact func(string) string
	// pending is the beginning of a character whose other bytes have not arrived.
	pending string
}

var _ summarizers.Progress = (*progress)(nil)

func (d *draft) progress(ctx context.Context) *progress {
	p := &progress{
		read: func(tokens uint32) { d.stream.reads(ctx, d.part, tokens) },
		add:  func(text string) { d.stream.add(ctx, d.part, text) },
	}
	p.again = func() {
		// What replaces a model's text may come in one piece, in which a secret that the model wrote is complete.
		p.redact = d.writer.secrets.replaceShown
		d.stream.again(ctx, d.part)
	}
	return p
}

// Read implements Progress.
func (p *progress) Read(tokens uint32) { p.read(tokens) }

// Again makes invalid what this call has sent, and sends the finished parts again.
func (p *progress) Again() {
	p.pending = ""
	p.again()
}

// Text passes on whole characters: a provider's stream may break within one.
func (p *progress) Text(delta string) {
	p.pending += delta
	whole := wholeCharacters(p.pending)
	if whole > 0 {
		text := strings.ToValidUTF8(p.pending[:whole], string(utf8.RuneError))
		if p.redact != nil {
			text = p.redact(text)
		}
		p.add(text)
	}
	p.pending = p.pending[whole:]
}

// wholeCharacters returns the length of a text without an incomplete character at its end.
func wholeCharacters(text string) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		start := len(text) - back
		if !utf8.RuneStart(text[start]) {
			continue
		}
		if !utf8.FullRuneInString(text[start:]) {
			return start
		}
		break
	}
	return len(text)
}
