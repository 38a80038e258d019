package secrets

import (
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
)

// Rule finds one kind of secret. What gitleaks says of files, their names and commits is not in it: texts have none.
type Rule struct {
	// ID names the rule, also in placeholders.
	ID string
	// Regex is what finds it.
	Regex string
	// SecretGroup is the group of the expression that holds the secret; 0: the first one that matched.
	SecretGroup int
	// Entropy is what a secret has more of, in bits a character.
	Entropy float64
	// Keywords are in small letters. A text that has none of them has no such secret.
	Keywords []string
	// Allowlists are what is no secret.
	Allowlists []Allowlist
}

// Allowlist says that something is no secret: by one of its expressions or words, or with All by one of each.
type Allowlist struct {
	All bool
	// Target is what the expressions are for; empty: the secret. The words are always for the secret.
	Target Target
	// Regexes are joined as they stand, so a flag of one holds for those behind it, too.
	Regexes []string
	// StopWords are in small letters.
	StopWords []string
}

// Target is what an Allowlist looks at beside the secret.
type Target string

// The targets: all that a rule's expression matches, and the lines that it is in.
const (
	Match Target = "match"
	Line  Target = "line"
)

// rule is a Rule at work. Most texts have words of few rules: the others are never compiled.
type rule struct {
	*Rule
	// expression is what finds it, once a text has one of the rule's words.
	expression func() *expression
	// allow is what is no secret, once the expression has found something.
	allow func() []*CompiledAllowlist
	// rank orders the rules that find the same secret: the lowest names it.
	rank int
	// wide says that a match may be longer than a block.
	wide bool
}

// expression is the expression of a rule.
type expression struct {
	*regexp.Regexp
	// group is the group that holds the secret; 0: the first that matched, or wholeMatch.
	group int
}

// ruleset are the rules, with the words without which none of them matches.
type ruleset struct {
	rules []rule
	// allow is what is no secret, whatever the rule.
	allow func() []*CompiledAllowlist
	words *wordSet
	// of are the rules of each word.
	of [][]int
	// ids are the names of the rules, which placeholders hold.
	ids map[string]bool
}

// loaded prepares the rules at the first use.
var loaded = sync.OnceValue(func() *ruleset { return load(slices.Concat(Gitleaks, Own), Everywhere) })

// load takes rules, and compiles none. Of two with one name, the later one counts, in the place of the first.
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

// lazyRule is a rule whose parts are compiled when they are needed.
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

// wholeMatch says that all that an expression matches is the secret.
const wholeMatch = -1

// groupOf returns the group of a rule's secret. Groups with names tell what sort of thing it is, and those that repeat hold
// only the last piece of it: taken for the secret, as gitleaks does, they would leave most of it.
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

// privateKey is the one rule whose matches are longer than lines are.
const privateKey = "private-key"

// worstRank is the last of the ranks.
const worstRank = 3

// rank puts the rules that know a secret by its own shape before those that know it by what stands around it.
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
