package grounding

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// Checker looks for the names of a summary in its source.
type Checker struct {
	text  string
	names []lookup
	// words are the words of names, pairs those that stand next to each other, and hashes the beginnings of hexadecimal
	// numbers. Their values are positions in found.
	words  map[string]int32
	pairs  map[[2]int32]int32
	hashes map[string]int32
	found  []bool
}

// lookup is a name with what the source must have of it.
type lookup struct {
	mention
	// needs are what must be found. Of the positions in each, one is enough.
	needs [][]int32
}

// New returns a checker of a summary. Marks in it do not count.
func New(summary string) *Checker {
	c := &Checker{
		text:  withoutMarks(summary),
		words: map[string]int32{}, pairs: map[[2]int32]int32{}, hashes: map[string]int32{},
	}
	for _, m := range mentions(c.text) {
		c.names = append(c.names, lookup{m, c.needs(m.name)})
	}
	return c
}

// needs returns what the source must have of a name.
func (c *Checker) needs(n evidence.Name) (needs [][]int32) {
	for _, group := range groups(n) {
		if len(group) == 1 {
			needs = append(needs, c.alternatives(n.Kind, group[0]))
			continue
		}
		for i := 1; i < len(group); i++ {
			pair := [2]int32{position(c, c.words, group[i-1]), position(c, c.words, group[i])}
			needs = append(needs, []int32{position(c, c.pairs, pair)})
		}
	}
	return needs
}

// alternatives returns the positions of the forms of a word. Of a hash that is shortened, the beginning is enough.
func (c *Checker) alternatives(kind evidence.Kind, word string) []int32 {
	if kind == evidence.ID && len(word) >= hashBeginning {
		return []int32{position(c, c.hashes, word[:hashBeginning])}
	}
	forms := []int32{position(c, c.words, word), position(c, c.words, word+"s")}
	if singular := strings.TrimSuffix(word, "s"); singular != word && singular != "" {
		forms = append(forms, position(c, c.words, singular))
	}
	return forms
}

// hashBeginning is how many digits the shortest hash has.
const hashBeginning = 7

// position returns the position of a key in c.found.
func position[K comparable](c *Checker, of map[K]int32, key K) int32 {
	at, ok := of[key]
	if !ok {
		at = int32(len(c.found))
		of[key] = at
		c.found = append(c.found, false)
	}
	return at
}

// nowhere is the position of a word that no name has.
const nowhere = -1

// Read reads a text of the source.
func (c *Checker) Read(source string) {
	if len(c.names) == 0 {
		return
	}
	before := int32(nowhere)
	eachWord(source, func(word []byte, escaped bool) {
		at := c.find(word)
		if escaped && at == nowhere && opensEscape(word) {
			at = c.find(word[1:])
		}
		if before != nowhere && at != nowhere {
			if pair, ok := c.pairs[[2]int32{before, at}]; ok {
				c.found[pair] = true
			}
		}
		before = at
	})
}

// find notes that the source has a word, and returns the word's position.
func (c *Checker) find(word []byte) int32 {
	if len(word) >= hashBeginning {
		if at, ok := c.hashes[string(word[:hashBeginning])]; ok {
			c.found[at] = true
		}
	}
	at, ok := c.words[string(word)]
	if !ok {
		return nowhere
	}
	c.found[at] = true
	return at
}

// Unsupported returns how many names the source does not have. What stands within such a quotation is not counted.
func (c *Checker) Unsupported() int { return len(c.unsupported()) }

func (c *Checker) unsupported() []lookup {
	var all []lookup
	end := 0
	for _, n := range c.names {
		if n.start >= end && !c.supported(n) {
			all, end = append(all, n), n.end
		}
	}
	return all
}

// supported says whether the source has a name. Of a quotation half is enough: models mend the spelling of what they
// quote, and a word that differs is in two of its pairs.
func (c *Checker) supported(n lookup) bool {
	missing := 0
	for _, need := range n.needs {
		if !slices.ContainsFunc(need, func(at int32) bool { return c.found[at] }) {
			missing++
		}
	}
	if n.name.Kind == evidence.Quotation {
		return 2*missing <= len(n.needs)
	}
	return missing == 0
}
