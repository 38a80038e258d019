package secrets

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// matcher is the expression of a rule in the form in which it is matched.
type matcher struct {
	// group is the group that contains the secret, 0 for the first one that matched, or wholeMatch.
	group int
	// fixed are alternatives that have a keyword at a fixed place.
	fixed []fixedSequence
	// assigned are alternatives of what follows a name and an operator, with the secret in their first group.
	assigned []sequence
	// name is what a name has before the operator. It is nil if each keyword is such a name.
	name *regexp.Regexp
	// expression is for expressions that cannot be written as alternatives. It is matched near keywords.
	expression *regexp.Regexp
	// runs is one more than the highest number of the items with long runs.
	runs int
}

// fixedSequence is a sequence with the place of each keyword in it, -1 if it does not hold the keyword there.
type fixedSequence struct {
	sequence
	at []int
}

// These are the parts of most expressions of gitleaks: a name, an operator, quotes, the secret.
const (
	nameStart = `[\w.-]{0,50}?(?:`
	nameEnd   = `)(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	operators = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
	wordEnds  = `(?:[\x60'"\s;]|\\[nr]|$)`
	// moreWordEnds also accepts what ends a word in text that is not source code: key=TOKEN&v=3, (TOKEN), a Chinese
	// sentence.
	moreWordEnds = `(?:[\x60'"\s;&,()<>\[\]{}|!?#*@\x{80}-\x{10FFFF}]|\\[nr]|$)`
)

// newMatcher compiles the expression of a rule. It panics if the expression is invalid.
func newMatcher(r *Rule) *matcher {
	m := &matcher{runs: 1}
	expression := r.Regex
	if rank(r.ID) == 0 {
		expression = strings.ReplaceAll(expression, wordEnds, moreWordEnds)
	}
	if !m.assignment(r, expression) && !m.anchored(r, expression) {
		m.expression = regexp.MustCompile(r.Regex)
	}
	m.group = groupOf(r)
	if m.assigned != nil {
		m.group = 0
	}
	return m
}

// assignment reads an expression for a secret that is assigned to a name.
func (m *matcher) assignment(r *Rule, expression string) bool {
	head, rest, found := strings.Cut(expression, operators)
	if !found {
		return false
	}
	start, end := strings.LastIndex(head, nameStart), strings.Index(head, nameEnd)
	if start < 0 || end < start {
		return false
	}
	name := strings.ReplaceAll(head[start+len(nameStart):end], "(?-i:", "(?:")
	if strings.HasPrefix(expression, "(?i)") {
		rest = "(?i)" + rest
	}
	tree := parsed(rest)
	alternatives := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpAlternate {
		alternatives = tree.Sub
	}
	assigned, ok := sequencesOf(alternatives[0])
	if !ok {
		return false
	}
	for _, other := range alternatives[1:] {
		if more, ok := sequencesOf(other); !ok || !m.fix(r, more) {
			return false
		}
	}
	m.assigned = m.prepared(assigned)
	whole := regexp.MustCompile("(?i)^(?:" + name + ")$")
	for _, word := range r.Keywords {
		if !whole.MatchString(word) {
			m.name = regexp.MustCompile("(?i)(?:" + name + ")")
		}
	}
	return true
}

// anchored reads an expression all of whose alternatives have a keyword at a fixed place.
func (m *matcher) anchored(r *Rule, expression string) bool {
	all, ok := sequencesOf(parsed(expression))
	return ok && m.fix(r, all)
}

func (m *matcher) fix(r *Rule, all []sequence) bool {
	var fixed []fixedSequence
	for _, s := range all {
		f := fixedSequence{s, make([]int, len(r.Keywords))}
		holds := false
		for i, word := range r.Keywords {
			f.at[i] = s.at(word)
			holds = holds || f.at[i] >= 0
		}
		if !holds {
			return false
		}
		fixed = append(fixed, f)
	}
	for _, f := range fixed {
		m.prepared([]sequence{f.sequence})
	}
	m.fixed = append(m.fixed, fixed...)
	return true
}

func (m *matcher) prepared(all []sequence) []sequence {
	for _, s := range all {
		m.runs = s.prepare(m.runs)
	}
	return all
}

func parsed(expression string) *syntax.Regexp {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return tree
}

// wholeMatch says that the whole match is the secret.
const wholeMatch = -1

// groupOf returns the group of a rule's secret. A named group contains only the type of the secret, and a repeated
// group only its last part. Using them, as gitleaks does, would leave most of the secret.
func groupOf(r *Rule) int {
	if r.SecretGroup != 0 {
		return r.SecretGroup
	}
	tree := parsed(r.Regex)
	for _, name := range tree.CapNames() {
		if name != "" {
			return wholeMatch
		}
	}
	if holdsGroup(tree, false) {
		return wholeMatch
	}
	return 0
}

// holdsGroup says whether a group may match several times.
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
	for _, sub := range tree.Sub {
		if holdsGroup(sub, repeated) {
			return true
		}
	}
	return false
}
