package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// summarizersCommand is `compactord summarizers`.
type summarizersCommand struct {
	configFlag
	Addr string `env:"COMPACTORD_ADDR" help:"Ask this daemon, which has a configuration of its own." placeholder:"HOST:PORT|unix:PATH"`
	JSON bool   `help:"Print one JSON document: summarizers, as the API gives them." name:"json"`
}

// Help is printed below the flags.
func (c *summarizersCommand) Help() string {
	return `Without --addr no daemon is needed: what the file of --config names is read, and each of its keys must be there. No model
is asked for anything.`
}

// Run lists who can write summaries.
func (c *summarizersCommand) Run(ctx context.Context, a *app) (err error) {
	asked, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asked.close()) }()
	there, err := asked.compactions.ListStrategies(ctx, &compactordv1.ListStrategiesRequest{})
	if status.Code(err) == codes.Unavailable {
		return advise(err, "Start one: %s\nOr see what --config names: %s",
			hintServe(asked.address), again().but("addr"))
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(a.out, map[string]any{"summarizers": wholeAnswers(there.GetSummarizers())})
	}
	printSummarizers(a.out, there.GetSummarizers())
	fmt.Fprintf(a.out, "\nOne of them writes: %s\n", a.hinted(c.hintCompact(there.GetSummarizers())))
	return nil
}

func (c *summarizersCommand) open(ctx context.Context, a *app) (*client, error) {
	if c.Addr != "" {
		if err := c.refuse(a); err != nil {
			return nil, err
		}
		return dial(c.Addr)
	}
	//nolint:contextcheck // each request to a model brings a context of its own
	if err := c.allModels(a); err != nil {
		return nil, err
	}
	return a.embedInMemory(ctx)
}

// hintCompact has one of them write: a model, if there is one.
func (c *summarizersCommand) hintCompact(there []*compactordv1.SummarizerInfo) hint {
	name := builtinSummarizer
	if len(there) > 0 {
		name = there[len(there)-1].GetName()
	}
	if c.Addr != "" {
		return command("compact", "--session", "ID", "--summarizer", name)
	}
	return command("compact", "FILE", "--summarizer", name)
}

// printSummarizers writes who can write summaries, with what is known of each.
func printSummarizers(w io.Writer, there []*compactordv1.SummarizerInfo) {
	table := newTextTable(w, column{"SUMMARIZER", 0}, column{"KIND", 0}, column{"MODEL", 30}, column{"WINDOW", 0}, column{"OUTPUT", 0},
		column{"US DOLLARS PER MILLION TOKENS", 34})
	for _, s := range there {
		name := s.GetName()
		if s.GetIsDefault() {
			name += " (default)"
		}
		table.row(name, s.GetKind(), orDash(s.GetModel()), numberOrDash(s.GetContextWindow()),
			numberOrDash(s.GetMaxOutputTokens()), priceText(s.GetPrice()))
	}
	table.flush()
}

func numberOrDash(n uint32) string {
	if n == 0 {
		return "-"
	}
	return number(n)
}

func priceText(p *compactordv1.TokenPrice) string {
	if p == nil {
		return "-"
	}
	amount := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	text := amount(p.GetInput()) + " in, " + amount(p.GetOutput()) + " out"
	if p.GetCacheRead() > 0 || p.GetCacheWrite() > 0 {
		text += ", cache " + amount(p.GetCacheRead()) + " read, " + amount(p.GetCacheWrite()) + " written"
	}
	return text
}
