package futurereference

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// The context of an entity is the words at most contextChars characters from it on the same line. A view has the entity
// in context if contextShare of these words stand as near to it there. Lines with fewer than contextWords other words give
// no context.
const (
	contextChars = 120
	contextShare = 0.6
	contextWords = 3
	// mostPlaces is how many occurrences in one text are looked at.
	mostPlaces = 50
)

// Score is what a view holds of the needed entities.
type Score struct {
	// Needed is their number, and Held the number of those that occur in the view.
	Needed, Held int
	// Bare are those without any context in the dropped messages. InContext are those of the others that the view has in
	// context.
	Bare, InContext int
	// Reachable are those in a message that the view cites.
	Reachable int
	// Lost are those that are neither in the view nor reachable.
	Lost []Need
	// Named is the number of entities in the view. Absent are those that the dropped messages do not have.
	Named  int
	Absent []Entity
	// Tokens is the size of the view.
	Tokens int
}

// Score judges what stands for the messages that a cut drops: a summary, or a whole view.
func (l *Log) Score(view string, cut Cut, needs []Need) Score {
	s := Score{Needed: len(needs), Tokens: Tokens(view)}
	plain := Plain(view)
	cited := citations(plain, cut.FirstKept)
	for _, need := range needs {
		places := places(plain, need.Value)
		contexts := l.contextsOf(need.Value, cut.FirstKept)
		if len(contexts) == 0 {
			s.Bare++
		}
		if len(places) > 0 {
			s.Held++
			if inContext(plain, need.Value, places, contexts) {
				s.InContext++
			}
		}
		found := l.occurrencesOf(need.Value)
		reachable := slices.ContainsFunc(cited, func(c citation) bool { return found.within(c.first, c.end) })
		if reachable {
			s.Reachable++
		}
		if !reachable && len(places) == 0 {
			s.Lost = append(s.Lost, need)
		}
	}
	for _, e := range Entities(plain) {
		s.Named++
		if !l.schema[e.Value] && !l.occurrencesOf(e.Value).within(0, cut.FirstKept) {
			s.Absent = append(s.Absent, e)
		}
	}
	return s
}

// places returns the positions at which a value occurs in a text.
func places(text, value string) []int {
	var found []int
	for at := nextPlace(text, value, 0); at >= 0 && len(found) < mostPlaces; {
		found = append(found, at)
		_, size := utf8.DecodeRuneInString(text[at:])
		at = nextPlace(text, value, at+max(size, 1))
	}
	return found
}

// wordSet is the words of a line, in lower case.
type wordSet map[string]struct{}

// contextKey names the contexts of an entity before a cut.
type contextKey struct {
	value     string
	firstKept int
}

// contextsOf returns the contexts of an entity in the messages before a cut, each once.
func (l *Log) contextsOf(value string, firstKept int) []wordSet {
	found := l.occurrencesOf(value)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := contextKey{value, firstKept}
	contexts, known := l.contexts[key]
	if known {
		return contexts
	}
	own, seen := lineWords(value), make(map[string]bool)
	add := func(text string) {
		for _, at := range places(text, value) {
			words := lineWords(contextAt(text, at, len(value)))
			for word := range own {
				delete(words, word)
			}
			if sorted := words.key(); len(words) >= contextWords && !seen[sorted] {
				seen[sorted] = true
				contexts = append(contexts, words)
			}
		}
	}
	for _, i := range between(found.visible, 0, firstKept) {
		add(l.visible[i])
	}
	for _, i := range between(found.thinking, 0, firstKept) {
		add(l.thinking[i])
	}
	l.contexts[key] = contexts
	return contexts
}

// key returns a text that is equal for equal sets.
func (s wordSet) key() string {
	words := make([]string, 0, len(s))
	for word := range s {
		words = append(words, word)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// contextAt returns the part of the line around a value that is near enough.
func contextAt(text string, at, length int) string {
	start := max(strings.LastIndexByte(text[:at], '\n')+1, charsBefore(text, at, contextChars))
	end := charsAfter(text, at+length, contextChars)
	if line := strings.IndexByte(text[at:], '\n'); line >= 0 {
		end = min(end, at+line)
	}
	return text[start:max(start, end)]
}

// charsBefore and charsAfter return the position n characters away, or the start or end of the text.
func charsBefore(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

func charsAfter(text string, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// lineWords returns the words of a text for the comparison of contexts. A path or a dotted name is one word, since two
// lines about the same folder need not be about the same thing.
func lineWords(text string) wordSet {
	words := make(wordSet)
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isWordChar(r) {
			at += size
			continue
		}
		end := runEnd(text, at, func(r rune) bool { return isWordChar(r) || r == '.' || r == '/' || r == '-' })
		word := strings.TrimRight(text[at:end], "./-")
		words[strings.ToLower(word)] = struct{}{}
		at += len(word)
	}
	return words
}

// inContext says whether one of the places in a view has one of the contexts.
func inContext(view, value string, places []int, contexts []wordSet) bool {
	for _, at := range places {
		window := lineWords(view[charsBefore(view, at, contextChars):charsAfter(view, at+len(value), contextChars)])
		for _, context := range contexts {
			common := 0
			for word := range context {
				if _, is := window[word]; is {
					common++
				}
			}
			if float64(common) >= contextShare*float64(len(context)) {
				return true
			}
		}
	}
	return false
}

// citation is a range of messages that a view cites.
type citation struct{ first, end int }

// CitationPattern matches how a view cites messages: `[#12]`, `[#12, #15]` and `[#12 to #20]` in summaries, `recall #12.0`
// and `recall index 12` in placeholders. Group 1 is the first message, and group 2 the last if there are several.
const CitationPattern = `(?:[\[,] ?#|recall #|recall index )(\d+)(?: to #(\d+))?`

var citationMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(CitationPattern)
})

// citations returns what a view cites before a cut.
func citations(view string, firstKept int) []citation {
	var cited []citation
	for _, m := range citationMark().FindAllStringSubmatch(view, -1) {
		first, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		last := first
		if m[2] != "" {
			if last, err = strconv.Atoi(m[2]); err != nil {
				continue
			}
		}
		if end := min(last+1, firstKept); first < end {
			cited = append(cited, citation{first, end})
		}
	}
	return cited
}
