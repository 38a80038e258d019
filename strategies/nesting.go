package strategies

import (
	"fmt"
	"iter"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxNesting is how deep strategies may nest, including the outermost.
const maxNesting = 4

// NestedStrategy is a strategy with its path within another.
type NestedStrategy struct {
	// Path is empty for the outermost strategy, otherwise such as `ladder.rungs[0].strategy`.
	Path string
	// Depth is 1 for the outermost.
	Depth    int
	Strategy *compactordv1.Strategy
}

// All yields a strategy and all that it nests, in the order of Nested, without their paths: each append asks for them.
func All(s *compactordv1.Strategy) iter.Seq[*compactordv1.Strategy] {
	return func(yield func(*compactordv1.Strategy) bool) { all(s, yield) }
}

func all(s *compactordv1.Strategy, yield func(*compactordv1.Strategy) bool) bool {
	if !yield(s) {
		return false
	}
	for _, inner := range s.GetFirstEffective().GetStrategies() {
		if !all(inner, yield) {
			return false
		}
	}
	for _, rung := range s.GetLadder().GetRungs() {
		if !all(rung.GetStrategy(), yield) {
			return false
		}
	}
	return true
}

// Nested yields a strategy and all that it nests, with their paths. A strategy comes before those within it.
func Nested(s *compactordv1.Strategy) iter.Seq[NestedStrategy] {
	return func(yield func(NestedStrategy) bool) {
		nested("", 1, s, yield)
	}
}

func nested(path string, depth int, s *compactordv1.Strategy, yield func(NestedStrategy) bool) bool {
	if !yield(NestedStrategy{Path: path, Depth: depth, Strategy: s}) {
		return false
	}
	if path != "" {
		path += "."
	}
	for i, inner := range s.GetFirstEffective().GetStrategies() {
		if !nested(fmt.Sprintf("%sfirst_effective.strategies[%d]", path, i), depth+1, inner, yield) {
			return false
		}
	}
	for i, rung := range s.GetLadder().GetRungs() {
		if !nested(fmt.Sprintf("%sladder.rungs[%d].strategy", path, i), depth+1, rung.GetStrategy(), yield) {
			return false
		}
	}
	return true
}

// Nests says whether a strategy's kind only runs other strategies.
func Nests(s *compactordv1.Strategy) bool {
	switch s.GetKind().(type) {
	case *compactordv1.Strategy_FirstEffective, *compactordv1.Strategy_Ladder:
		return true
	default:
		return false
	}
}

// checkNesting returns a PolicyError if strategies of a policy nest too deep.
func checkNesting(p *compactordv1.Policy) error {
	check := func(field string, s *compactordv1.Strategy) error {
		for n := range Nested(s) {
			if n.Depth > maxNesting {
				return &PolicyError{
					Field: field + "." + n.Path,
					What:  fmt.Sprintf("strategies nest %d deep at most, and this is the %dth", maxNesting, n.Depth),
				}
			}
		}
		return nil
	}
	if err := check("policy.strategy", p.GetStrategy()); err != nil {
		return err
	}
	if err := check("policy.prune_strategy", p.GetPruneStrategy()); err != nil {
		return err
	}
	for i, s := range p.GetOnAppend().GetStrategies() {
		if err := check(fmt.Sprintf("policy.on_append.strategies[%d]", i), s); err != nil {
			return err
		}
	}
	for i, s := range p.GetOnUserMessage().GetStrategies() {
		if err := check(fmt.Sprintf("policy.on_user_message.strategies[%d]", i), s); err != nil {
			return err
		}
	}
	return nil
}
