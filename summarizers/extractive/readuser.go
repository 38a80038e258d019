package extractive

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// maxRequest is how many units of a request are kept.
const maxRequest = 6000

// answering comes before the question that a short answer belongs to.
const answering = " (answering: “"

// user reads a user message.
func (r *reader) user(index uint32, m *compactordv1.Message) {
	text := clip(textOf(m), maxProse)
	said, wrapped := summarizers.Said(text)
	var media strings.Builder
	for _, p := range m.GetParts() {
		if md := p.GetMedia(); md != nil {
			media.WriteString(" " + wording.MediaLine(md))
		}
	}
	switch m.GetOrigin() {
	case compactordv1.Origin_ORIGIN_UNSPECIFIED, compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT:
	default:
		// A message by the daemon or a revert is not a request, but may say what matters.
		r.prose(index, said, 1)
		return
	}
	it := &item{kind: kindRequest, cites: []uint32{index}}
	if said == "" && media.Len() == 0 {
		it.noise = true
		said = text
		if summary := summarizers.Between(text, "summary"); summary != "" {
			said = summary
		}
	}
	it.text = shorten(oneLine(clip(said, 8*maxRequest)+media.String()), maxRequest)
	if it.text == "" {
		return
	}
	switch {
	case it.noise || looksObserved(said) && r.answered:
		it.noise = true
		it.text = shorten(it.text, 160)
		r.observe(index, text)
	case units(it.text) < 24 && units(r.asked) > 8:
		it.text += answering + shorten(bare(clip(r.asked, 2048)), 160) + "”)"
	}
	if wrapped {
		r.observe(index, text)
	}
	r.lastUser = it
	r.l.request(it)
	r.asked, r.answered = "", false
	if it.noise {
		return
	}
	r.rules(index, said, byUser)
	if list, ok := markdownTodos(said); ok && len(list) > 1 {
		r.l.mergeTodos(index, list)
	}
}

// looksObserved says whether a user message is a command's output, as in agents without tools: it ends with a shell
// prompt, or quotes the command.
func looksObserved(text string) bool {
	if strings.HasPrefix(text, "Ran `") && strings.Contains(text, "```") {
		return true
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return len(last) < 40 && len(text) > len(last) && strings.HasSuffix(strings.TrimSpace(last), "$")
}

// observe reads output that came as a user message.
func (r *reader) observe(index uint32, text string) {
	var e errorScan
	e.scan(text)
	if e.bestScore() < 4 {
		return
	}
	r.l.fail(&item{kind: kindError, text: e.message(), cites: []uint32{index}, score: 1, passing: true})
}
