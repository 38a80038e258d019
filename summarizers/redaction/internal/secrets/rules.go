package secrets

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

//go:embed rules.toml
var ownRules string

// rule is one of gitleaks' rules, or ours. Most texts have words of few rules: the others are never compiled.
type rule struct {
	id string
	// expression is what finds it, once a text has one of the rule's words.
	expression func() *expression
	entropy    float64
	// allow is what is no secret, once the expression has found something.
	allow func() []*config.Allowlist
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
	allow func() []*config.Allowlist
	words *ahocorasick.Trie
	// of are the rules of each word.
	of [][]int
	// ids are the names of the rules, which placeholders hold.
	ids map[string]bool
}

// loaded reads the rules at the first use. They are part of the program: that they cannot be read is a bug of it, and
// going on without them would let secrets pass.
var loaded = sync.OnceValue(func() *ruleset { return must(load(config.DefaultConfig + "\n" + ownRules)) })

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("redaction: the built-in rules: %v", err))
	}
	return v
}

// load reads rules, and compiles none. Of two with one name, the later one counts.
func load(toml string) (*ruleset, error) {
	reader := viper.New()
	reader.SetConfigType("toml")
	if err := reader.ReadConfig(strings.NewReader(toml)); err != nil {
		return nil, err
	}
	var raw config.ViperConfig
	if err := reader.Unmarshal(&raw); err != nil {
		return nil, err
	}
	for _, a := range raw.Allowlists {
		if len(a.TargetRules) > 0 {
			return nil, errors.New("an allowlist for some rules must stand with these")
		}
	}
	set := &ruleset{
		allow: sync.OnceValue(func() []*config.Allowlist {
			lists := raw
			lists.Rules = nil
			return must(lists.Translate()).Allowlists
		}),
		ids: make(map[string]bool),
	}
	last := make(map[string]int)
	for i, r := range raw.Rules {
		if r.ID == "" || r.Regex == "" && r.Path == "" {
			return nil, fmt.Errorf("rule %d, %q: has no name, or nothing to find", i, r.ID)
		}
		last[r.ID] = i
	}
	byWord := make(map[string][]int)
	for _, r := range raw.Rules {
		i := last[r.ID]
		// A rule without an expression is about a file's name.
		if raw.Rules[i].Regex == "" || set.ids[r.ID] {
			continue
		}
		set.ids[r.ID] = true
		for _, word := range raw.Rules[i].Keywords {
			byWord[strings.ToLower(word)] = append(byWord[strings.ToLower(word)], len(set.rules))
		}
		set.rules = append(set.rules, lazyRule(&raw, i))
	}
	words := slices.Sorted(maps.Keys(byWord))
	for _, word := range words {
		set.of = append(set.of, byWord[word])
	}
	set.words = ahocorasick.NewTrieBuilder().AddStrings(words).Build()
	return set, nil
}

// lazyRule is a rule whose parts gitleaks' own code reads when they are needed.
func lazyRule(raw *config.ViperConfig, i int) rule {
	id := raw.Rules[i].ID
	translated := func(withLists bool) config.Rule {
		alone := slices.Clone(raw.Rules[i : i+1])
		// It would write into the list of words, which is shared.
		alone[0].Keywords, alone[0].Required = nil, nil
		if !withLists {
			alone[0].AllowList, alone[0].Allowlists = nil, nil
		}
		return must((&config.ViperConfig{Rules: alone}).Translate()).Rules[id]
	}
	return rule{
		id: id, entropy: raw.Rules[i].Entropy, rank: rank(id), wide: id == privateKey,
		expression: sync.OnceValue(func() *expression {
			r := translated(false)
			return &expression{Regexp: r.Regex, group: groupOf(&r)}
		}),
		allow: sync.OnceValue(func() []*config.Allowlist { return translated(true).Allowlists }),
	}
}

// wholeMatch says that all that an expression matches is the secret.
const wholeMatch = -1

// groupOf returns the group of a rule's secret. Groups with names tell what sort of thing it is, and those that repeat hold
// only the last piece of it: taken for the secret, as gitleaks does, they would leave most of it.
func groupOf(r *config.Rule) int {
	if r.SecretGroup == 0 && (slices.ContainsFunc(r.Regex.SubexpNames(), func(name string) bool { return name != "" }) ||
		repeatsGroup(r.Regex.String())) {
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

// allows says whether lists have it that a match is no secret.
func allows(lists []*config.Allowlist, secret, match, line string) bool {
	return slices.ContainsFunc(lists, func(a *config.Allowlist) bool {
		target := secret
		switch a.RegexTarget {
		case "match":
			target = match
		case "line":
			target = line
		}
		expected := a.RegexAllowed(target)
		word, _ := a.ContainsStopWord(secret)
		if a.MatchCondition != config.AllowlistMatchAnd {
			return expected || word
		}
		// What a list says of files and commits, no text fulfils.
		return len(a.Commits) == 0 && len(a.Paths) == 0 &&
			(len(a.Regexes) == 0 || expected) && (len(a.StopWords) == 0 || word)
	})
}
