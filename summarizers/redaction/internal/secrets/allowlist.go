package secrets

import (
	"regexp"
	"slices"
	"strings"
)

// CompiledAllowlist is an Allowlist with its expressions compiled.
type CompiledAllowlist struct {
	*Allowlist
	// expression is nil if the list has no expressions, and words is nil if it has no words.
	expression *regexp.Regexp
	words      *wordSet
}

// Compile compiles the list. It panics if an expression is invalid.
func (a *Allowlist) Compile() *CompiledAllowlist {
	c := &CompiledAllowlist{Allowlist: a}
	if len(a.Regexes) > 0 {
		c.expression = regexp.MustCompile("(?:" + strings.Join(a.Regexes, "|") + ")")
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

// allows says whether one of the lists says that a match is not a secret.
func allows(lists []*CompiledAllowlist, secret, match, line string) bool {
	return slices.ContainsFunc(lists, func(c *CompiledAllowlist) bool { return c.Allows(secret, match, line) })
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
	expected := c.expression != nil && target != "" && c.expression.MatchString(target)
	word := c.words != nil && c.words.any(strings.ToLower(secret))
	if c.All {
		return (c.expression == nil || expected) && (c.words == nil || word)
	}
	return expected || word
}
