package secrets

import (
	"maps"
	"regexp"
	"regexp/syntax"
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
}

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
	// expression compiles the expression when a text first contains one of the rule's keywords.
	expression func() *expression
	// allow compiles the allowlists when the expression first matches.
	allow func() []*CompiledAllowlist
	// rank orders rules that find the same secret: the lowest rank gives the name.
	rank int
	// wide says that a match may be longer than a block.
	wide bool
}

// expression is a rule's compiled expression.
type expression struct {
	*regexp.Regexp
	// group is the group that contains the secret, 0 for the first one that matched, or wholeMatch.
	group int
}

// ruleset holds all rules and their keywords.
type ruleset struct {
	rules []rule
	// allow compiles the allowlists that apply to all rules.
	allow func() []*CompiledAllowlist
	words *wordSet
	// of holds the rules of each keyword.
	of [][]int
	// ids are the IDs of the rules, which placeholders contain.
	ids map[string]bool
}

// loaded prepares the rules at the first use.
var loaded = sync.OnceValue(func() *ruleset { return load(slices.Concat(Gitleaks, Own), Everywhere) })

// load prepares rules without compiling them. A rule replaces an earlier one with the same ID.
func load(rules []Rule, everywhere []Allowlist) *ruleset {
	set := &ruleset{
		allow: sync.OnceValue(func() []*CompiledAllowlist { return compileAll(everywhere) }),
		ids:   make(map[string]bool, len(rules)),
	}
	last := make(map[string]*Rule, len(rules))
	for i := range rules {
		last[rules[i].ID] = &rules[i]
	}
	byWord := make(map[string][]int)
	for i := range rules {
		id := rules[i].ID
		if set.ids[id] {
			continue
		}
		set.ids[id] = true
		for _, word := range last[id].Keywords {
			byWord[word] = append(byWord[word], len(set.rules))
		}
		set.rules = append(set.rules, lazyRule(last[id]))
	}
	words := slices.Sorted(maps.Keys(byWord))
	for _, word := range words {
		set.of = append(set.of, byWord[word])
	}
	set.words = newWordSet(words)
	return set
}

// lazyRule returns a rule whose parts are compiled when they are needed.
func lazyRule(r *Rule) rule {
	return rule{
		Rule: r, rank: rank(r.ID), wide: r.ID == privateKey,
		expression: sync.OnceValue(func() *expression {
			e := regexp.MustCompile(r.Regex)
			return &expression{Regexp: e, group: groupOf(r, e)}
		}),
		allow: sync.OnceValue(func() []*CompiledAllowlist { return compileAll(r.Allowlists) }),
	}
}

// wholeMatch says that the whole match is the secret.
const wholeMatch = -1

// groupOf returns the group of a rule's secret. A named group contains only the type of the secret, and a repeated
// group only its last part. Using them, as gitleaks does, would leave most of the secret.
func groupOf(r *Rule, e *regexp.Regexp) int {
	if r.SecretGroup == 0 && (slices.ContainsFunc(e.SubexpNames(), func(name string) bool { return name != "" }) ||
		repeatsGroup(r.Regex)) {
		return wholeMatch
	}
	return r.SecretGroup
}

// repeatsGroup says whether a group of an expression may match several times.
func repeatsGroup(expression string) bool {
	tree, err := syntax.Parse(expression, syntax.Perl)
	return err == nil && holdsGroup(tree, false)
}

func holdsGroup(tree *syntax.Regexp, repeated bool) bool {
	switch tree.Op {
	case syntax.OpCapture:
		if repeated {
			return true
		}
	case syntax.OpStar, syntax.OpPlus:
		repeated = true
	case syntax.OpRepeat:
		repeated = repeated || tree.Max != 1
	default:
	}
	return slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return holdsGroup(sub, repeated) })
}

// privateKey is the only rule with matches that may span many lines.
const privateKey = "private-key"

// worstRank is the highest rank.
const worstRank = 3

// rank ranks rules that recognize a secret by its own form before those that recognize it by its context.
func rank(id string) int {
	switch id {
	case "generic-api-key":
		return worstRank
	case "curl-auth-header", "curl-auth-user", "hashicorp-tf-password", "kubernetes-secret-yaml":
		return 2
	case "authorization-header", "bearer-token", "url-password", "url-parameter", "password", "password-variable", "password-told":
		return 1
	default:
		return 0
	}
}
