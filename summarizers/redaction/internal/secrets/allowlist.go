package secrets

import (
	"regexp"
	"strings"
)

// CompiledAllowlist is an Allowlist with its expressions compiled.
type CompiledAllowlist struct {
	*Allowlist
	// expression is nil if the list has no expressions, and words is nil if it has no words. parts is the same
	// expression in a faster form, if there is one.
	expression *regexp.Regexp
	parts      *contains
	words      *wordSet
}

// Compile compiles the list. It panics if an expression is invalid.
func (a *Allowlist) Compile() *CompiledAllowlist {
	c := &CompiledAllowlist{Allowlist: a}
	if len(a.Regexes) > 0 {
		joined := strings.Join(a.Regexes, "|")
		c.expression, c.parts = regexp.MustCompile("(?:"+joined+")"), containsOf(joined)
	}
	if len(a.StopWords) > 0 {
		c.words = newWordSet(a.StopWords)
	}
	return c
}

func compileAll(lists []Allowlist) []*CompiledAllowlist {
	compiled := make([]*CompiledAllowlist, len(lists))
	for i := range lists {
		compiled[i] = lists[i].Compile()
	}
	return compiled
}

// maybeAllowed says whether one of the lists of Everywhere may say that a secret is none. It is much faster than they
// are.
func maybeAllowed(secret string) bool {
	if len(secret) == 0 || beginsUsual.has(secret[0]) {
		return true
	}
	same := true
	for i := range len(secret) {
		same = same && secret[i]|0x20 == secret[0]|0x20
	}
	return same || allowedWords.any(secret)
}

// allowedWords are in all that the lists of Everywhere say to be no secret, but for what maybeAllowed knows by its signs.
var allowedWords = newWordSet([]string{"true", "false", "null", "014df517-", "abcdefghijklmnop"})

// holdsFold says whether a text holds a word, in upper case or lower case.
func holdsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0]|0x20 && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// Allows says whether the list says that a secret is none. match is the rule's match, and line the lines around it.
func (c *CompiledAllowlist) Allows(secret, match, line string) bool {
	target := secret
	switch c.Target {
	case Match:
		target = match
	case Line:
		target = line
	}
	if c.Target == Line && !exceptedLine(line) {
		// Lines are long, and this is what the expressions for lines begin with.
		target = ""
	}
	// Words are found many times faster than expressions match.
	word := c.words != nil && c.words.any(secret)
	if c.All && c.words != nil && !word || !c.All && word {
		return word
	}
	expected := c.expression != nil && target != "" && c.expects(target)
	return expected || c.All && c.expression == nil
}

// always says whether the list, which says that a secret is none, says so whatever the match and its line are.
func (c *CompiledAllowlist) always(secret string) bool {
	return c.Target == "" || !c.All && c.words != nil && c.words.any(secret)
}

// exceptedLine says whether a text has the beginning of an expression for lines.
func exceptedLine(text string) bool {
	return strings.Contains(text, "--mount=") || strings.Contains(text, "import")
}

func (c *CompiledAllowlist) expects(target string) bool {
	if c.parts != nil {
		return c.parts.match(target)
	}
	return c.expression.MatchString(target)
}
