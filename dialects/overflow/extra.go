package overflow

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The bounds of a configuration's rules.
const (
	// MaxEntries is the most entries of a list.
	MaxEntries = 100
	// MaxPatternBytes is the longest expression.
	MaxPatternBytes = 1000
)

// Extra holds the rules of a configuration.
type Extra struct {
	// Patterns find overflows. Their class is CONTEXT_OVERFLOW, also if UNSPECIFIED, or REQUEST_TOO_LARGE.
	Patterns []Pattern
	// Exclusions come before all rules that find overflows. Their class is RATE_LIMIT, also if UNSPECIFIED, or OTHER.
	Exclusions []Pattern
}

// Pattern is a wording in a configuration.
type Pattern struct {
	// ID is the rule's id in answers: 1 to 64 of a to z, 0 to 9, - and _, beginning with a letter. No other rule has it.
	ID string
	// Expression is an RE2 expression. It ignores upper and lower case, and must not match the empty text. Groups with the
	// names `requested` and `limit` hold these figures, in digits that commas or underscores can separate.
	Expression string
	// Class is the class of errors with this wording.
	Class compactordv1.ErrorClass
}

// EntryError names an entry of an Extra that is not valid.
type EntryError struct {
	// List is `patterns` or `exclusions`.
	List string
	// Index is the entry's position in the list, from 0.
	Index int
	// What says what is wrong.
	What string
}

func (e *EntryError) Error() string { return fmt.Sprintf("%s[%d]: %s", e.List, e.Index, e.What) }

var idPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
})

func (x Extra) compile() (patterns, exclude []compiled, err error) {
	usedIDs := make(map[string]bool)
	for _, r := range Rules() {
		usedIDs[r.ID] = true
	}
	patterns, err = entries("patterns", x.Patterns, usedIDs, contextOverflow, tooLarge)
	exclude, wrong := entries("exclusions", x.Exclusions, usedIDs, rateLimit, other)
	if err = errors.Join(err, wrong); err != nil {
		return nil, nil, err
	}
	return patterns, exclude, nil
}

// entries makes rules from a list, or returns every problem with it. The first of the classes is the default.
func entries(
	list string, all []Pattern, usedIDs map[string]bool, classes ...compactordv1.ErrorClass,
) ([]compiled, error) {
	if len(all) > MaxEntries {
		return nil, &EntryError{list, MaxEntries, fmt.Sprintf("there may be %d at most", MaxEntries)}
	}
	rules := make([]compiled, 0, len(all))
	var problems []error
	for i, p := range all {
		if p.Class == compactordv1.ErrorClass_ERROR_CLASS_UNSPECIFIED {
			p.Class = classes[0]
		}
		expression, what := p.check(usedIDs, classes)
		if what != "" {
			problems = append(problems, &EntryError{list, i, what})
			continue
		}
		usedIDs[p.ID] = true
		rules = append(rules, compiled{expression: expression, Rule: Rule{
			ID: p.ID, Class: p.Class, Pattern: p.Expression, Source: "configuration",
			Sentence: "The text matches an expression of the daemon's configuration.",
		}})
	}
	return rules, errors.Join(problems...)
}

// check returns the expression, or what is wrong with the entry.
func (p Pattern) check(usedIDs map[string]bool, classes []compactordv1.ErrorClass) (*regexp.Regexp, string) {
	switch {
	case !idPattern().MatchString(p.ID):
		return nil, fmt.Sprintf("id %q must be 1 to 64 of a-z, 0-9, - and _, beginning with a letter", p.ID)
	case usedIDs[p.ID]:
		return nil, fmt.Sprintf("id %q is in use", p.ID)
	case !slices.Contains(classes, p.Class):
		return nil, fmt.Sprintf("id %q: this list has no class %s", p.ID, p.Class)
	case p.Expression == "" || len(p.Expression) > MaxPatternBytes:
		return nil, fmt.Sprintf("id %q: pattern must have 1 to %d bytes", p.ID, MaxPatternBytes)
	}
	expression, err := regexp.Compile("(?i)" + p.Expression)
	if err != nil {
		return nil, fmt.Sprintf("id %q: pattern is no RE2 expression: %v", p.ID, err)
	}
	if expression.MatchString("") {
		return nil, fmt.Sprintf("id %q: pattern matches the empty text, and so every error", p.ID)
	}
	for _, group := range expression.SubexpNames() {
		if group != "" && group != requestedGroup && group != limitGroup {
			return nil, fmt.Sprintf("id %q: pattern has a group %q: only %s and %s may be names of groups",
				p.ID, group, requestedGroup, limitGroup)
		}
	}
	return expression, ""
}
