package secrets

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Rule finds one kind of secret. It has no conditions on files and commits, as rules of gitleaks do, since texts have
// none.
type Rule struct {
	// ID names the rule, also in placeholders.
	ID string
	// Regex finds the secret.
	Regex string
	// SecretGroup is the group of the expression that contains the secret. 0 means the first one that matched.
	SecretGroup int
	// Entropy is the entropy that a secret must exceed, in bits per character.
	Entropy float64
	// Keywords are in lower case. A text without any of them cannot match.
	Keywords []string
	// Allowlists say what is not a secret.
	Allowlists []Allowlist
	// find looks for secrets around a keyword, in place of Regex.
	find finder
}

// finder looks for secrets around a keyword at a place of the text, and adds them to what the reading found. It must
// not read more than some hundred bytes around the keyword, unless it remembers how far it has read.
type finder func(s *reading, rule, start, end int)

// Allowlist says that something is not a secret: because one of its expressions or words matches, or with All set, one
// of each.
type Allowlist struct {
	All bool
	// Target is what the expressions are matched with. Empty means the secret. Words are always matched with the
	// secret.
	Target Target
	// Regexes are joined unchanged, so a flag in one also applies to those after it.
	Regexes []string
	// StopWords are in lower case.
	StopWords []string
}

// Target is what an Allowlist matches in place of the secret.
type Target string

// The targets: the match of the rule's expression, and the lines around it.
const (
	Match Target = "match"
	Line  Target = "line"
)

// rule is a Rule with its compiled parts. Most texts contain keywords of few rules, so the others are never compiled.
type rule struct {
	*Rule
	// matcher compiles the expression when a text first contains one of the rule's keywords.
	matcher func() *matcher
	// allow compiles the allowlists when the expression first matches.
	allow func() []*CompiledAllowlist
	// rank orders rules that find the same secret: the lowest rank gives the name.
	rank int
	// wide says that what is beside a placeholder in a match is still secret.
	wide bool
}

// keyword is a keyword of a rule.
type keyword struct {
	rule int
	// word is the keyword's index in the rule.
	word int
}

// ruleset holds all rules and their keywords.
type ruleset struct {
	rules []rule
	// allow compiles the allowlists that apply to all rules.
	allow func() []*CompiledAllowlist
	words *wordSet
	// of holds the rules of each keyword.
	of [][]keyword
	// ids are the IDs of the rules, which placeholders contain, and index says which rule each is of.
	ids   map[string]bool
	index map[string]int
	// told is the rule for what sentences say.
	told int
}

// loaded prepares the rules at the first use.
var loaded = sync.OnceValue(func() *ruleset { return load(slices.Concat(Gitleaks, Own), Everywhere) })

// load prepares rules without compiling them. A rule replaces an earlier one with the same ID.
func load(rules []Rule, everywhere []Allowlist) *ruleset {
	set := &ruleset{
		allow: sync.OnceValue(func() []*CompiledAllowlist { return compileAll(everywhere) }),
		ids:   make(map[string]bool, len(rules)),
		index: make(map[string]int, len(rules)),
	}
	last := make(map[string]*Rule, len(rules))
	for i := range rules {
		last[rules[i].ID] = &rules[i]
	}
	byWord := make(map[string][]keyword)
	for i := range rules {
		id := rules[i].ID
		if set.ids[id] {
			continue
		}
		set.ids[id], set.index[id] = true, len(set.rules)
		for n, word := range last[id].Keywords {
			byWord[word] = append(byWord[word], keyword{len(set.rules), n})
		}
		set.rules = append(set.rules, lazyRule(last[id]))
	}
	set.told = set.index["password-told"]
	words := slices.Sorted(maps.Keys(byWord))
	for _, word := range words {
		// What has a name of its own is found before what only looks drawn.
		slices.SortStableFunc(byWord[word], func(a, b keyword) int { return cmp.Compare(set.rules[a.rule].late(), set.rules[b.rule].late()) })
		set.of = append(set.of, byWord[word])
	}
	set.words = newWordSet(words)
	return set
}

// late says whether a rule comes last: 1 or 0.
func (r *rule) late() int {
	if r.ID == generic {
		return 1
	}
	return 0
}

// lazyRule returns a rule whose parts are compiled when they are needed.
func lazyRule(r *Rule) rule {
	return rule{
		Rule: r, rank: rank(r.ID), wide: r.ID == privateKey,
		matcher: sync.OnceValue(func() *matcher { return newMatcher(r) }),
		allow:   sync.OnceValue(func() []*CompiledAllowlist { return compileAll(r.Allowlists) }),
	}
}

// privateKey is the rule whose secrets have several lines.
const privateKey = "private-key"

// rank ranks rules that recognize a secret by its own form before those that recognize it by its context.
func rank(id string) int {
	switch id {
	case "generic-api-key":
		return 3
	case "curl-auth-header", "curl-auth-user", "hashicorp-tf-password", "kubernetes-secret-yaml":
		return 2
	default:
		for i := range Own {
			if Own[i].ID == id && Own[i].find != nil && id != privateKey {
				return 1
			}
		}
		return 0
	}
}
