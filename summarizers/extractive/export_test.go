package extractive

import "strings"

// WithProbe returns a summarizer that reports its steps to p. A panic in p counts as a panic of the step.
func WithProbe(p func(stage string, index uint32, done bool)) *Summarizer {
	return &Summarizer{probe: p}
}

// Statements returns how many statements a text has, and how many bytes there are in them.
func Statements(text string) (n, bytes int) {
	announces := func(string) bool { return true }
	for range 2 {
		eachStatement(text, announces, func(st statement) {
			n++
			bytes += len(st.text)
		})
		announces = never
	}
	return n, bytes
}

// Shorten and Clip cut the middle out of a text.
var (
	Shorten = shorten
	Clip    = clip
)

// Sentences returns the sentences of a paragraph.
func Sentences(paragraph string) []string {
	var sentences []string
	eachSentence(paragraph, func(sentence string, _ bool) { sentences = append(sentences, sentence) })
	return sentences
}

// Unquote decodes a JSON string of a tool call's arguments.
func Unquote(quoted string) (text string, ok bool) { return unquote(quoted) }

// Condense returns the parts of a request that fit.
func Condense(text string, limit int) string {
	var c condensed
	return c.within(oneLine(text), nil, limit)
}

// ForbidsThings says whether a sentence names only what must not be somewhere.
func ForbidsThings(text string) bool {
	var cues cueReader
	return forbidsThings(text, cues.read(text))
}

// MentionedCommits returns the commits, each with its hash and its title, that a text is found to mention.
func MentionedCommits(text string, commits [][2]string) (found [][2]string) {
	l := newLedger(0)
	for _, c := range commits {
		it := &item{}
		it.hears("", c[1], "")
		l.commits = append(l.commits, c[0])
		l.commands[commitKey(c[0])] = it
	}
	newCommitMentions(l).any(text, func(made commitMade) bool {
		if c := [2]string{made.hash, made.title}; strings.Contains(text, c[0]) || strings.Contains(text, c[1]) {
			found = append(found, c)
		}
		return false
	})
	return found
}

var (
	// ContentUpTo counts the words of a text that are not nod words, up to about so many.
	ContentUpTo = contentUpTo
	// NodAt returns the length of the nod at the beginning of a text.
	NodAt = nodAt
	// IsCJK says whether a character is one of a script without spaces.
	IsCJK = isCJK
)
