// Package rules holds the commands that judge by the rules of the providers: whether a message list may be sent, and what an
// error means.
package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/dialect"
)

// Validate is `compactord validate`.
type Validate struct {
	File    string `arg:"" help:"Messages to check: JSON Lines, an array, or a request or response body; - is standard input."`
	Dialect string `help:"What they are for: ${dialects}." placeholder:"NAME" required:""`
	History bool   `help:"More is going to follow: waive the rules on the last message."`
	terminal.Output
}

// Help is printed below the flags.
func (c *Validate) Help() string {
	return `Each line on stdout is a rule that is broken, and where: FILE: message N, part N (from 0). 'compactord help
dialects' lists the rules. The exit code is 1 if any is broken. The JSON document holds dialect, messages (how many) and violations.`
}

// violationJSON is one violation of `validate --json`.
type violationJSON struct {
	Rule    string `json:"rule"`
	Message int    `json:"message"`
	Part    int    `json:"part"`
	Detail  string `json:"detail"`
}

// validateJSON is the document of `validate --json`.
type validateJSON struct {
	Dialect    string          `json:"dialect"`
	Messages   int             `json:"messages"`
	Violations []violationJSON `json:"violations"`
}

// Run checks a message list.
func (c *Validate) Run(ctx context.Context, a *api.App) error {
	d, err := conversation.DialectNamed("--dialect", c.Dialect)
	if err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	name, list, err := c.read(ctx, a, d, p)
	if err != nil {
		return err
	}
	mode := dialect.Request
	if c.History {
		mode = dialect.History
	}
	found := d.Validate(list, mode)
	p.Clear()
	if err := c.report(a, d, name, list, found); err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%s breaks the rules of %s in %s", name, d.Name(), terminal.Count(len(found), "place"))
	}
	return nil
}

func (c *Validate) report(
	a *api.App, d dialect.Dialect, name string, list *dialect.List, found []dialect.Violation,
) error {
	if c.JSON {
		document := validateJSON{Dialect: d.Name(), Messages: len(list.Messages), Violations: []violationJSON{}}
		for _, v := range found {
			document.Violations = append(document.Violations, violationJSON(v))
		}
		return terminal.PrintJSON(a.Out, document)
	}
	for _, v := range found {
		fmt.Fprintf(a.Out, "%s: %s\n", terminal.Printable(name), v)
	}
	if len(found) == 0 {
		fmt.Fprintf(a.Out, "%s: %s, no rule of %s broken\n", terminal.Printable(name), terminal.Count(len(list.Messages), "message"), d.Name())
	}
	return nil
}

// read reads the whole input and takes it apart.
func (c *Validate) read(
	ctx context.Context, a *api.App, d dialect.Dialect, p *terminal.Progress,
) (string, *dialect.List, error) {
	name, in, size, err := conversation.OpenTranscript(a, c.File)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = in.Close() }()
	p.Stage("reading "+name, "bytes", size)
	raw, err := io.ReadAll(terminal.NewInput(ctx, in, p))
	if errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
		return "", nil, terminal.ErrInterrupted
	}
	if err != nil {
		return "", nil, conversation.Misread(name, err)
	}
	list, err := splitFile(d, raw)
	if err != nil {
		return "", nil, conversation.Misread(name, err)
	}
	return name, list, nil
}

// splitFile takes one document apart, or JSON Lines: one message a line, behind the system prompt where that stands apart.
func splitFile(d dialect.Dialect, raw []byte) (*dialect.List, error) {
	values, err := valuesIn(raw)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return d.Split(values[0])
	}
	list := &dialect.List{}
	// As convert and export write it.
	if first, err := d.Split(values[0]); err == nil && len(first.System) > 0 && len(first.Messages) == 0 {
		list, values = first, values[1:]
	}
	lines, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	rest, err := d.Split(lines)
	if err != nil {
		return nil, err
	}
	list.Messages = rest.Messages
	return list, nil
}

// valuesIn reads the values of an input; one at least.
func valuesIn(raw []byte) ([]json.RawMessage, error) {
	// A byte order mark is no part of JSON, but Windows editors write it.
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	var values []json.RawMessage
	for {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			// The decoder's own error quotes the input.
			return nil, fmt.Errorf("value %d is not valid JSON", len(values)+1)
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return nil, errors.New("it is empty")
	}
	return values, nil
}
