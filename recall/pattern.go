package recall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxInstructions bounds a compiled expression.
const maxInstructions = 2000

// Pattern is an RE2 expression that matches within lines, never across their ends.
type Pattern struct {
	re *regexp.Regexp
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
	p := &Pattern{instructions: len(program.Inst)}
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

// find returns the first match in a line without its end. It takes at most one step for each byte and instruction, and
// returns the context's error.
func (p *Pattern) find(ctx context.Context, line string, work *Work) (at span, found bool, err error) {
	if len(line)*p.instructions <= stepsPerCheck {
		if err := work.spend(ctx, (len(line)+1)*p.instructions); err != nil {
			return span{}, false, err
		}
		return spanOf(p.re.FindStringIndex(line))
	}
	if p.prefix != "" {
		if err := work.spend(ctx, len(line)); err != nil || !strings.Contains(line, p.prefix) {
			return span{}, false, err
		}
	}
	// Matching a string cannot be stopped; matching from a reader can.
	r := &lineReader{line: line, read: func(bytes int) error { return work.spend(ctx, bytes*p.instructions) }}
	at, found, _ = spanOf(p.re.FindReaderIndex(r))
	return at, found && r.err == nil, r.err
}

func spanOf(at []int) (span, bool, error) {
	if at == nil {
		return span{}, false, nil
	}
	return span{at[0], at[1]}, true, nil
}

// lineReader reads a line for an expression. It ends early where read returns an error.
type lineReader struct {
	line string
	read func(bytes int) error
	err  error
}

// ReadRune implements io.RuneReader.
func (r *lineReader) ReadRune() (rune, int, error) {
	if r.line == "" {
		return 0, 0, io.EOF
	}
	c, width := utf8.DecodeRuneInString(r.line)
	if r.err = r.read(width); r.err != nil {
		r.line = ""
		return 0, 0, r.err
	}
	r.line = r.line[width:]
	return c, width, nil
}
