package extractive

import (
	"slices"
	"strings"
)

// commitMade is a commit as its line shows it.
type commitMade struct{ hash, title string }

// commitMentions finds the commits whose hash or title stands in a text, without looking for each of them.
type commitMentions struct {
	// byHash has the commits by the beginning of the hash, and byWord by one of the words within the title. A title of one
	// or two words has none within it: its first or last word can be a part of another word.
	byHash, byWord map[string][]commitMade
	short          []commitMade
}

// leastHash is how many digits the hash of a commit has at least.
const leastHash = 7

func newCommitMentions(l *ledger) *commitMentions {
	m := &commitMentions{byHash: map[string][]commitMade{}, byWord: map[string][]commitMade{}}
	for _, hash := range l.commits {
		made := l.commands[commitKey(hash)]
		if made == nil || made.heard == nil {
			continue
		}
		c := commitMade{hash: hash, title: made.heard.words}
		m.byHash[hash[:leastHash]] = append(m.byHash[hash[:leastHash]], c)
		if word := wordWithin(c.title); word != "" {
			m.byWord[word] = append(m.byWord[word], c)
		} else {
			m.short = append(m.short, c)
		}
	}
	return m
}

// wordWithin returns the longest word of a title that others stand around, or "" if there is none.
func wordWithin(title string) (longest string) {
	words := strings.Split(title, " ")
	for _, word := range words[min(1, len(words)):max(1, len(words)-1)] {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

// any says whether is returns true for one of the commits that a text may mention.
func (m *commitMentions) any(text string, is func(commitMade) bool) bool {
	if slices.ContainsFunc(m.short, is) {
		return true
	}
	for word := range strings.SplitSeq(text, " ") {
		if slices.ContainsFunc(m.byWord[word], is) {
			return true
		}
	}
	digits := 0
	for i := range len(text) {
		if !isHashDigit(text[i]) {
			digits = 0
			continue
		}
		if digits++; digits >= leastHash && slices.ContainsFunc(m.byHash[text[i+1-leastHash:i+1]], is) {
			return true
		}
	}
	return false
}

func isHashDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
