package extractive

import (
	"cmp"
	"slices"
	"strings"
)

// marks counts the identifiers of a conversation, to find those that are likely to be needed again.
type marks struct {
	byWord map[string]*mark
}

type mark struct {
	word  string
	what  identifier
	first uint32
	last  uint32
	// messages is how many messages contain it.
	messages int
	// strong says that a person or the agent's prose contains it, and not only a tool's call or result.
	strong bool
}

// maxMarks is how many identifiers are counted.
const maxMarks = 20000

func newMarks() *marks { return &marks{byWord: map[string]*mark{}} }

// note counts the identifiers of a text.
func (m *marks) note(index uint32, text string, strong bool) {
	eachIdentifier(text, func(word string, what identifier) {
		// Text in backquotes may contain anything, but a row of identifiers is one line.
		if what < codeName || len(word) < 4 || len(word) > 120 || oneLine(word) != word {
			return
		}
		k := m.byWord[word]
		if k == nil {
			if len(m.byWord) >= maxMarks {
				return
			}
			m.byWord[word] = &mark{word: strings.Clone(word), what: what, first: index, last: index, messages: 1, strong: strong}
			return
		}
		k.strong = k.strong || strong
		if k.last != index {
			k.messages++
			k.last = index
		}
	})
}

// carry adds an identifier that a previous summary lists.
func (m *marks) carry(word string, cites []uint32) {
	if word == "" || len(word) > maxIdentifier || m.byWord[word] != nil || len(m.byWord) >= maxMarks {
		return
	}
	m.byWord[word] = &mark{
		word: word, what: classifyWord(word), first: cites[0], last: cites[len(cites)-1], messages: 3, strong: true,
	}
}

// maxRows is how many identifiers are candidates for the summary.
const maxRows = 300

// best returns the most important identifiers, the best first.
func (m *marks) best(l *ledger) []*mark {
	var list []*mark
	for _, k := range m.byWord {
		if k.messages > 1 || k.strong && k.what >= pathName {
			list = append(list, k)
		}
	}
	value := func(k *mark) int {
		v := 2*min(k.messages, 12) + 3*k.what.weight()
		if k.strong {
			v += 4
		}
		if l.newest > 0 {
			v += int(12 * uint64(k.last) / uint64(l.newest))
		}
		return v
	}
	slices.SortFunc(list, func(a, b *mark) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), strings.Compare(a.word, b.word))
	})
	return list[:min(len(list), maxRows)]
}
