// Package rules holds the commands that apply the rules of the providers to message lists and to errors.
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
	Dialect string `help:"Their dialect: ${dialects}." placeholder:"NAME" required:""`
	History bool   `help:"More messages will follow: skip the rules about the last message."`
	terminal.Output
}

// Help is printed below the flags.
func (c *Validate) Help() string {
	return `Each line on stdout is a broken rule and its place: FILE: message N, part N (from 0). 'compactord help dialects' lists the
rules. The exit code is 1 if any is broken. The JSON document holds dialect, messages (their number) and violations.`
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

// read reads and splits the whole input.
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

// splitFile splits one JSON document, or JSON Lines with one message a line. The system prompt may have the first line
// for itself.
func splitFile(d dialect.Dialect, raw []byte) (*dialect.List, error) {
	values, err := valuesIn(raw)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return d.Split(values[0])
	}
	list := &dialect.List{}
	// convert and export write the system prompt on a line of its own.
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

// valuesIn reads the JSON values of an input. It requires at least one.
func valuesIn(raw []byte) ([]json.RawMessage, error) {
	// Windows editors write a byte order mark, which is not part of JSON.
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
