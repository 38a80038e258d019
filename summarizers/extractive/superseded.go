package extractive

import (
	"slices"
	"strings"
	"unicode"

	"github.com/compactord/compactord/summarizers"
)

// supersede removes what the user said before about the same thing with another value, and notes in the new item that it
// changed. Of a longer message with such a line, the rest still holds, so it stays and says where the line is corrected.
func (l *ledger) supersede(it *item) {
	now, ok := l.valuedOf(it)
	if !ok {
		return
	}
	if old, found := l.takeSame(&now); found && !old.says(it) {
		it.changed, it.changes = len(old.it.cites) > 0, old.it.newest()
		if old.line != "" {
			l.correctLine(&old, it)
		} else {
			l.forget(old.it)
			l.dropQuote(old.it.newest(), strings.ReplaceAll(ownWords(old.it.text), lineBreak, "\n"))
		}
	}
	l.watch(it)
}

// takeSame takes the latest watched statement about the same thing out of the list.
func (l *ledger) takeSame(now *valued) (old valued, found bool) {
	for i := len(l.values) - 1; i >= 0; i-- {
		if l.values[i].sameThing(now) {
			old = l.values[i]
			l.values = slices.Delete(l.values, i, i+1)
			return old, true
		}
	}
	return old, false
}

// markChanged notes in the rules of a message that they replace what was said before.
func (l *ledger) markChanged(message *item) {
	for _, it := range l.lists[kindRule] {
		if slices.Equal(it.cites, message.cites) {
			it.changed, it.changes = true, message.changes
		}
	}
}

// watch lets a later statement replace this one, if it has a label.
func (l *ledger) watch(it *item) {
	if v, ok := l.valuedOf(it); ok {
		l.watchValued(v)
	}
}

// says says whether an older statement is the same as a new one.
func (v *valued) says(it *item) bool {
	if v.line != "" {
		return keyOf(v.line) == it.keyed()
	}
	return v.it.keyed() == it.keyed()
}

func (l *ledger) watchValued(v valued) {
	l.values = append(l.values, v)
	if len(l.values) > maxValued {
		l.values = slices.Delete(l.values, 0, 1)
	}
}

// maxValued is how many statements with values are compared with later ones.
const maxValued = 400

// valued is a statement with a label.
type valued struct {
	it *item
	// line is the statement where it is one line of several.
	line  string
	label string
	// words are the words after the label, in lower case and without values, and subjects the identifiers. values counts
	// the values.
	words, subjects []string
	values          int
	// forbids says that it forbids something.
	forbids bool
}

// valuedOf returns an item as a statement with a label. It returns false if it has none.
func (l *ledger) valuedOf(it *item) (v valued, ok bool) {
	return valuedIn(it, l.authors.unsigned(ownWords(it.text)))
}

// valuedIn reads a statement of an item.
func valuedIn(it *item, said string) (v valued, ok bool) {
	label, value := labelled(said)
	if label == "" || opensTask(said) || requests(said) || asks(said) {
		return v, false
	}
	v = valued{it: it, label: label}
	for word := range strings.FieldsSeq(value) {
		word = strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) && r != '/' && r != '~' })
		v.forbids = v.forbids || forbidding[strings.ToLower(word)]
		switch {
		// The file that must not be touched is what a prohibition is about.
		case isSubject(word), v.forbids && isValue(word) && strings.ContainsFunc(word, unicode.IsLetter):
			v.subjects = append(v.subjects, word)
		case word == "" || changeWords[strings.ToLower(word)]:
		case isValue(word):
			v.values++
		default:
			v.words = append(v.words, strings.ToLower(word))
		}
	}
	return v, true
}

// sameThing says whether a later statement is about the same thing: it has the same label and names the same
// identifiers, and its other words are the same, apart from a few that only say that something changed. A value alone
// replaces another one. Prohibitions under a vague label add up. In doubt both statements stay.
func (v *valued) sameThing(now *valued) bool {
	switch {
	case v.label != now.label || !slices.Equal(v.subjects, now.subjects):
		return false
	case v.values > 0 && now.values > 0:
		return slices.Equal(v.words, now.words) && (!isVague(v.label) || len(v.words) >= vagueWords && !v.forbids)
	default:
		return len(v.words) == 1 && len(now.words) == 1 && v.values+now.values+len(v.subjects) == 0 && !isVague(v.label)
	}
}

// vagueWords is how many words two statements under a vague label have in common if they are about the same thing.
const vagueWords = 3

// changeWords are words that may be in only one of two statements about the same thing.
var changeWords = wordSet("now instead again still already currently actually only just at is are was set to changed moved new")

// forbidding are words that forbid what comes after them.
var forbidding = wordSet("never not don't dont don’t mustn't cannot can't nie niemals nicht kein keine jamais pas nunca no não mai non никогда не")

// vague are labels under which people write about many things, or that no value belongs to.
var vague = wordSet(`note notes todo fixme bug bugs rule rules constraint constraints question error errors warning story task tasks step decision idea
	example fix feature issue update info important reminder hint ps btw edit review request requests allowed allow done also and but or so then please this
	that here yes no ok`)

// forget removes what is no longer true.
func (l *ledger) forget(it *item) {
	same := func(o *item) bool { return o.keyed() == it.keyed() }
	l.requests = slices.DeleteFunc(l.requests, same)
	for _, k := range []kind{kindRule, kindDecision} {
		l.lists[k] = slices.DeleteFunc(l.lists[k], func(o *item) bool {
			if !same(o) {
				return false
			}
			delete(l.byKey, indexKey(k, o.keyed()))
			return true
		})
	}
}

// isValue says whether a word can change while the statement stays the same: a number, a date, an amount, a path, an
// address.
func isValue(word string) bool {
	return strings.ContainsAny(word, "0123456789/@$€£¥") && !isSubject(word)
}

// isSubject says whether a word is an identifier, which is what a statement is about.
func isSubject(word string) bool {
	return !strings.Contains(word, "/") && strings.Contains(strings.Trim(word, "_"), "_")
}

// isVague says whether a label says little about its statement: one of its words is vague, or it ends in a digit.
func isVague(label string) bool {
	if last := label[len(label)-1]; last >= '0' && last <= '9' {
		return true
	}
	return slices.ContainsFunc(strings.Fields(label), func(w string) bool { return vague[w] })
}

// The remarks on a statement: that it replaces an earlier one, and that a later one corrects a part of it.
const (
	changedSince = " (changed since "
	correctedIn  = " (corrected in "
)

// remarks say which message said it otherwise before, and which one corrects it.
func (it *item) remarks() string {
	text := ""
	if it.changed {
		text = changedSince + strings.TrimSpace(citation([]uint32{it.changes})) + ")"
	}
	if len(it.corrections) > 0 {
		text += correctedIn + strings.TrimSpace(citation(it.corrections)) + ")"
	}
	return text
}

// leaveCorrections leaves corrections to the rules that were taken out of a statement, unless it has the corrected
// value, too.
func (it *item) leaveCorrections(rules []*item) {
	if len(it.corrections) == 0 {
		return
	}
	left := valuesIn(clip(it.text, longestContent))
	it.corrections = slices.DeleteFunc(slices.Clone(it.corrections), func(index uint32) bool {
		return slices.ContainsFunc(rules, func(rule *item) bool {
			return slices.Contains(rule.corrections, index) && !slices.ContainsFunc(rule.read().values, func(v value) bool {
				return slices.ContainsFunc(left, v.same)
			})
		})
	})
}

// readRemarks reads the remarks at the end of a text, and returns the text without them.
func (it *item) readRemarks(text string) string {
	text, it.corrections = readRemark(text, correctedIn)
	rest, cites := readRemark(text, changedSince)
	if len(cites) != 1 {
		return text
	}
	it.changes, it.changed = cites[0], true
	return rest
}

// readRemark splits the remark off the end of a text that begins with these words.
func readRemark(text, opening string) (rest string, cites []uint32) {
	at := strings.LastIndex(text, opening)
	if at < 0 {
		return text, nil
	}
	cites, length := summarizers.CitationAt(text[at+len(opening):])
	if len(cites) == 0 || text[at+len(opening)+length:] != ")" {
		return text, nil
	}
	return text[:at], cites
}
