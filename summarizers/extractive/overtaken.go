package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// Arguments of edits with the text that is replaced, and with the one in its place.
var (
	oldTextKeys = []string{"old_string", "old_str", "oldString", "old_text", "oldText", "old_content", "search", "old"}
	newTextKeys = []string{"new_string", "new_str", "newString", "new_text", "newText", "new_content", "replace", "new"}
)

// Limits of what is read of an edit and remembered of all.
const (
	maxEdited  = 16 << 10
	maxRemoved = 20000
)

// removes notes the names that an edit removed, and the files that a call deleted.
func (l *ledger) removes(index uint32, c *call) {
	for _, f := range c.files {
		if f.discarded && !f.restored {
			l.remove(index, f.path)
			l.remove(index, baseOf(f.path))
		}
	}
	if c.class != classWriteFile {
		return
	}
	before, ok := find(c.args, oldTextKeys...)
	if !ok || !before.isString() {
		return
	}
	stays := map[string]bool{}
	if after, ok := find(c.args, newTextKeys...); ok && after.isString() {
		eachName(clip(after.text(), maxEdited), func(name string) { stays[name] = true })
	}
	eachName(clip(before.text(), maxEdited), func(name string) {
		if !stays[name] {
			l.remove(index, name)
		}
	})
}

func (l *ledger) remove(index uint32, name string) {
	if len(l.removed) < maxRemoved {
		l.removed[name] = index
	}
}

// eachName calls yield for each name of code in a text.
func eachName(text string, yield func(name string)) {
	for line := range evidence.Lines(text) {
		evidence.Names(line, func(n evidence.Name, _ int) {
			switch n.Kind {
			case evidence.Path, evidence.Code, evidence.Identifier:
				yield(n.Text)
			default:
			}
		})
	}
}

// removedScore is taken off the score of a statement about something that was removed later.
const removedScore = 5

// dropRemoved drops the facts about what is not there any more: an edit removed it, and nobody named it again. A fact that
// names other things, too, is worth less.
func (l *ledger) dropRemoved() {
	if len(l.removed) == 0 {
		return
	}
	gone := l.quotes.Remove(l.removed)
	if len(gone) == 0 {
		return
	}
	l.dropItems(kindFact, func(it *item) bool {
		names, missing := 0, 0
		eachName(it.text, func(name string) {
			names++
			if gone[name] && it.newest() < l.removed[name] {
				missing++
			}
		})
		if missing > 0 {
			it.score -= removedScore
		}
		return missing > 0 && 2*missing >= names
	})
}

// reserving are words with which a choice leaves the other options open, or refuses what it names.
var reserving = wordSet(`skip not no except without but don't dont drop ignore remove first start begin then later after before also too nicht kein ohne
	außer erst zuerst dann später auch no sin excepto salvo primero luego después también pas sans sauf abord ensuite après aussi não sem primeiro depois também
	не кроме без сначала потом тоже`)

// strikeOptions drops what the agent said about the options that the user did not choose, if the choice of one excludes
// the others.
func (r *reader) strikeOptions(said string, chosen []option) {
	words := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return r == ' ' || r == ',' || r == '.' || r == ';' })
	if len(chosen) != 1 || chosen[0].label == "" && !asks(r.asked) || slices.ContainsFunc(words, func(w string) bool { return reserving[w] }) ||
		strings.ContainsAny(said, "不别先非无") {
		return
	}
	kept := func(o option) bool { return slices.ContainsFunc(chosen, func(c option) bool { return c == o }) }
	for _, offer := range offersOf(clip(r.offered, maxProse)) {
		if !slices.ContainsFunc(offer, kept) {
			continue
		}
		for _, o := range offer {
			if !kept(o) {
				r.strike(o)
			}
		}
	}
}

// strike drops what the agent said about one option: its line, and those that are indented below it.
func (r *reader) strike(o option) {
	said := sectionOf(r.offered, o)
	if said == "" {
		return
	}
	key := keyOf(said)
	for _, k := range []kind{kindFact, kindNext, kindDecision} {
		r.l.dropItems(k, func(it *item) bool { return it.newest() == r.offering && strings.Contains(key, it.keyed()) })
	}
	r.l.dropQuote(r.offering, said)
}

// sectionOf returns the lines of an option in an offer: up to the next option of its kind, or what is not below it.
func sectionOf(offer string, o option) string {
	var b strings.Builder
	in, heading, kind := false, false, noOption
	for line := range strings.Lines(offer) {
		trimmed := strings.TrimSpace(line)
		found, k := optionAt(trimmed)
		switch {
		case k != noOption && found.key == o.key && found.label == o.label && (found.text == o.text || found.text == ""):
			in, kind, heading = true, k, isHeading(trimmed) || isBold(trimmed) || found.text == ""
		case k != noOption && k == kind && found.key != o.key, heading && isHeading(trimmed):
			in = false
		case trimmed != "" && !heading && line[0] != ' ' && line[0] != '\t':
			in = false
		}
		if in {
			b.WriteString(line)
		}
	}
	return b.String()
}
