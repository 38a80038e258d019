package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/compactord/compactord/dialects/dialect"
)

// validateCommand is `compactord validate`.
type validateCommand struct {
	File    string `arg:"" help:"Messages to check: JSON Lines, an array, or a request or response body; - is standard input."`
	Dialect string `help:"What they are for: ${dialects}." placeholder:"NAME" required:""`
	History bool   `help:"More is going to follow: waive the rules on the last message."`
	output
}

// Help is printed below the flags.
func (c *validateCommand) Help() string {
	return `Each line on stdout is a rule that is broken, and where: FILE: message N, part N (from 0). docs/dialects.md lists the
rules. The exit code is 1 if any is broken. The JSON document holds dialect, messages (how many) and violations.`
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
func (c *validateCommand) Run(ctx context.Context, a *app) error {
	d, err := dialectNamed("--dialect", c.Dialect)
	if err != nil {
		return err
	}
	p := a.progress(c.Quiet)
	defer p.clear()
	name, list, err := c.read(ctx, a, d, p)
	if err != nil {
		return err
	}
	mode := dialect.Request
	if c.History {
		mode = dialect.History
	}
	found := d.Validate(list, mode)
	p.clear()
	if err := c.report(a, d, name, list, found); err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%s breaks %s of %s", name, count(len(found), "rule"), d.Name())
	}
	return nil
}

func (c *validateCommand) report(
	a *app, d dialect.Dialect, name string, list *dialect.List, found []dialect.Violation,
) error {
	if c.JSON {
		document := validateJSON{Dialect: d.Name(), Messages: len(list.Messages), Violations: []violationJSON{}}
		for _, v := range found {
			document.Violations = append(document.Violations, violationJSON(v))
		}
		return printJSON(a.out, document)
	}
	for _, v := range found {
		fmt.Fprintf(a.out, "%s: %s\n", printable(name), v)
	}
	if len(found) == 0 {
		fmt.Fprintf(a.out, "%s: %s, no rule of %s broken\n", printable(name), count(len(list.Messages), "message"), d.Name())
	}
	return nil
}

// read reads the whole input and takes it apart.
func (c *validateCommand) read(
	ctx context.Context, a *app, d dialect.Dialect, p *progress,
) (string, *dialect.List, error) {
	name, in, size, err := a.openTranscript(c.File)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = in.Close() }()
	p.stage("reading "+name, "bytes", size)
	raw, err := io.ReadAll(&watched{ctx: ctx, in: in, progress: p})
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return "", nil, errInterrupted
	}
	if err != nil {
		return "", nil, unreadable(name, err)
	}
	whole, err := asDocument(raw)
	if err != nil {
		return "", nil, unreadable(name, err)
	}
	list, err := d.Split(whole)
	if err != nil {
		return "", nil, unreadable(name, err)
	}
	return name, list, nil
}

// asDocument makes an array of JSON Lines; what is one document stays as it is.
func asDocument(raw []byte) (json.RawMessage, error) {
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
	switch len(values) {
	case 0:
		return nil, errors.New("it is empty")
	case 1:
		return values[0], nil
	default:
		return json.Marshal(values)
	}
}
