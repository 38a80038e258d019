package futurereference

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Log is a conversation with an index of what occurs where. It is safe for concurrent use.
type Log struct {
	messages []*compactordv1.Message
	// visible and thinking are the plain texts of the messages, and words and thinkingWords the messages that have a word.
	visible, thinking    []string
	words, thinkingWords map[string][]int
	// lead is the number of SYSTEM and DEVELOPER messages at the start, which every view shows.
	lead   int
	schema map[string]bool

	// mu guards what is found when it is first asked for.
	mu       sync.Mutex
	entities map[int][]Entity
	found    map[string]*occurrences
	contexts map[contextKey][]wordSet
}

// occurrences are the messages with a text, ascending: in what they say, and in their thinking.
type occurrences struct{ visible, thinking []int }

// NewLog returns the log of a conversation.
func NewLog(messages []*compactordv1.Message) *Log {
	l := &Log{
		messages: messages, visible: make([]string, len(messages)), thinking: make([]string, len(messages)),
		schema: schemaNames(messages), entities: make(map[int][]Entity), found: make(map[string]*occurrences),
		contexts: make(map[contextKey][]wordSet),
	}
	for i, m := range messages {
		l.visible[i], l.thinking[i] = Plain(visibleText(m)), Plain(thinkingText(m))
	}
	l.words, l.thinkingWords = byWord(l.visible), byWord(l.thinking)
	for l.lead < len(messages) && leads(messages[l.lead].GetRole()) {
		l.lead++
	}
	return l
}

func leads(role compactordv1.Role) bool {
	return role == compactordv1.Role_ROLE_SYSTEM || role == compactordv1.Role_ROLE_DEVELOPER
}

// byWord returns the indexes of the texts that have a word.
func byWord(texts []string) map[string][]int {
	index := make(map[string][]int)
	for i, text := range texts {
		for word := range wordsOf(text) {
			if at := index[word]; len(at) == 0 || at[len(at)-1] != i {
				index[word] = append(at, i)
			}
		}
	}
	return index
}

// wordsOf yields the runs of letters, digits and underscores of a text.
func wordsOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordChar(r) }) {
			if !yield(word) {
				return
			}
		}
	}
}

// Len returns the number of messages.
func (l *Log) Len() int { return len(l.messages) }

// entitiesOf returns the entities of a message's text and arguments.
func (l *Log) entitiesOf(i int) []Entity {
	l.mu.Lock()
	defer l.mu.Unlock()
	entities, known := l.entities[i]
	if !known {
		entities = Entities(l.visible[i])
		l.entities[i] = entities
	}
	return entities
}

// occurrencesOf returns the messages with a text.
func (l *Log) occurrencesOf(value string) *occurrences {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, known := l.found[value]
	if !known {
		found = &occurrences{
			visible: holding(value, l.visible, l.words), thinking: holding(value, l.thinking, l.thinkingWords),
		}
		l.found[value] = found
	}
	return found
}

// holding returns the indexes of the texts with a value: of those with its rarest word, those in which it occurs.
func holding(value string, texts []string, words map[string][]int) []int {
	var fewest []int
	first := true
	for word := range wordsOf(value) {
		if with := words[word]; first || len(with) < len(fewest) {
			fewest, first = with, false
		}
	}
	var found []int
	for _, i := range fewest {
		if nextPlace(texts[i], value, 0) >= 0 {
			found = append(found, i)
		}
	}
	return found
}

// nextPlace returns the first position from a start at which a value occurs between characters that are part of no word;
// -1 if there is none.
func nextPlace(text, value string, start int) int {
	for start <= len(text) {
		at := strings.Index(text[start:], value)
		if at < 0 {
			return -1
		}
		at += start
		if !wordBefore(text, at) && !wordAt(text, at+len(value)) {
			return at
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		start = at + max(size, 1)
	}
	return -1
}

// within says whether a value occurs in messages from a start to an end.
func (o *occurrences) within(start, end int) bool {
	return anyWithin(o.visible, start, end) || anyWithin(o.thinking, start, end)
}

func anyWithin(ascending []int, start, end int) bool {
	at, _ := slices.BinarySearch(ascending, start)
	return at < len(ascending) && ascending[at] < end
}

// Excerpt returns the part of a line of a message that is around a value; empty if the message does not have it.
func (l *Log) Excerpt(message int, value string) string {
	for _, text := range []string{l.visible[message], l.thinking[message]} {
		if at := nextPlace(text, value, 0); at >= 0 {
			return contextAt(text, at, len(value))
		}
	}
	return ""
}
