package recall

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxInstructions bounds a compiled expression.
const maxInstructions = 2000

// Pattern is an RE2 expression that matches within lines, never across their ends.
type Pattern struct {
	re      *regexp.Regexp
	program *syntax.Prog
	// prefix is the beginning of each match.
	prefix string
	// instructions is the size of the expression with its repetitions written out: the most steps for one byte.
	instructions int
}

// CompilePattern compiles an expression, which may ignore case. Its errors say what is wrong with the expression, or
// that it has more than 2,000 instructions.
func CompilePattern(expression string, ignoreCase bool) (*Pattern, error) {
	flags := syntax.Perl
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(expression, flags)
	if err != nil {
		return nil, withoutExpression(err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	p := &Pattern{program: program, instructions: len(program.Inst)}
	if p.instructions > maxInstructions {
		return nil, fmt.Errorf(
			"the expression has %d steps once its repetitions are written out, over %d", p.instructions, maxInstructions)
	}
	if ignoreCase {
		expression = "(?i)" + expression
	}
	if p.re, err = regexp.Compile(expression); err != nil {
		return nil, withoutExpression(err)
	}
	p.prefix, _ = p.re.LiteralPrefix()
	return p, nil
}

// withoutExpression leaves the expression out of an error: errors are logged, and an expression may quote a
// conversation.
func withoutExpression(err error) error {
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		return fmt.Errorf("the expression is not valid: %s", wrong.Code)
	}
	return errors.New("the expression is not valid")
}

// find returns the first match in a line without its end, from a place on; from is nil at the beginning. It takes at
// most one step for each byte and instruction. It returns the context's error, or errOver and where to go on.
func (p *Pattern) find(
	ctx context.Context, line string, from *paused, work *Work,
) (at span, found bool, stopped *paused, err error) {
	if from == nil && len(line)*p.instructions <= stepsPerCheck {
		if err := work.spendTimed(ctx, (len(line)+1)*p.instructions); err != nil {
			return span{}, false, nil, err
		}
		at, found = spanOf(p.re.FindStringIndex(line))
		return at, found, nil, nil
	}
	return newMachine(p, line, work).run(ctx, from)
}

func spanOf(at []int) (span, bool) {
	if at == nil {
		return span{}, false
	}
	return span{at[0], at[1]}, true
}
