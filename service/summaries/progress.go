package summaries

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/summarizers"
)

// progress hands on to the stream what a summarizer tells during one call.
type progress struct {
	read  func(tokens uint32)
	say   func(text string)
	again func()
	// redact replaces secrets in what is shown; nil where there can be none.
	redact func(string) string
	// pending is the beginning of a character whose end has not come yet.
	pending string
}

var _ summarizers.Progress = (*progress)(nil)

func (d *draft) progress(ctx context.Context) *progress {
	return &progress{
		read:  func(tokens uint32) { d.stream.reads(ctx, d.part, tokens) },
		say:   func(text string) { d.stream.say(ctx, d.part, text) },
		again: func() { d.stream.again(ctx, d.part) },
	}
}

// Read implements Progress.
func (p *progress) Read(tokens uint32) { p.read(tokens) }

// Again voids what this call of the summarizer has shown, and shows the finished parts anew.
func (p *progress) Again() {
	p.pending = ""
	p.again()
}

// Text hands on whole characters: a provider's stream may break within one.
func (p *progress) Text(delta string) {
	p.pending += delta
	whole := wholeCharacters(p.pending)
	if whole > 0 {
		text := strings.ToValidUTF8(p.pending[:whole], string(utf8.RuneError))
		if p.redact != nil {
			text = p.redact(text)
		}
		p.say(text)
	}
	p.pending = p.pending[whole:]
}

// wholeCharacters is where a text ends without the beginning of a character whose end is missing.
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
