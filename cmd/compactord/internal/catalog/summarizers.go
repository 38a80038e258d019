package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Summarizers is `compactord summarizers`.
type Summarizers struct {
	config.FileFlag
	Addr string `env:"COMPACTORD_ADDR" help:"Ask this daemon, which has its own configuration." placeholder:"HOST:PORT|unix:PATH"`
	api.Security
	JSON bool `help:"Print one JSON document: summarizers, as the API returns them." name:"json"`
	terminal.QuietFlag
}

// Help is printed below the flags.
func (c *Summarizers) Help() string {
	return `Without --addr no daemon is needed: the models of the file of --config are listed, and each of their keys must exist. No
model gets a request.`
}

// Run lists the summarizers.
func (c *Summarizers) Run(ctx context.Context, a *api.App) (err error) {
	asked, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asked.Close()) }()
	answer, err := asked.Compactions.ListStrategies(ctx, &compactordv1.ListStrategiesRequest{})
	if status.Code(err) == codes.Unavailable {
		return terminal.Advise(err, "Start one: %s\nOr list those of the file of --config: %s",
			api.HintServe(asked.Address), terminal.Again().But("addr"))
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(a.Out, map[string]any{"summarizers": terminal.WholeAnswers(answer.GetSummarizers())})
	}
	printSummarizers(a.Out, answer.GetSummarizers())
	fmt.Fprintf(a.Out, "\nTo let one of them write: %s\n", a.Hinted(c.hintCompact(answer.GetSummarizers())))
	fmt.Fprintf(a.Out, "To add a model, name it in a file for --config: %s\n", a.Hinted(terminal.Command("help", "configuration")))
	return nil
}

func (c *Summarizers) open(ctx context.Context, a *api.App) (*api.Client, error) {
	if c.Addr != "" {
		if err := c.Refuse(a); err != nil {
			return nil, err
		}
		return a.Dial(c.Addr, c.Security)
	}
	if err := c.AllModels(a); err != nil {
		return nil, err
	}
	return a.EmbedInMemory(ctx)
}

// hintCompact is a compaction by one of the summarizers: by a model, if there is one.
func (c *Summarizers) hintCompact(summarizers []*compactordv1.SummarizerInfo) terminal.Hint {
	name := config.BuiltinSummarizer
	if len(summarizers) > 0 {
		name = summarizers[len(summarizers)-1].GetName()
	}
	if c.Addr != "" {
		return terminal.Command("compact", "--session", "ID", "--summarizer", name)
	}
	return terminal.Command("compact", "FILE", "--summarizer", name)
}

// printSummarizers writes a table of the summarizers.
func printSummarizers(w io.Writer, summarizers []*compactordv1.SummarizerInfo) {
	table := terminal.NewTextTable(w, terminal.Column{Heading: "SUMMARIZER", Width: 0}, terminal.Column{Heading: "KIND", Width: 0}, terminal.Column{Heading: "MODEL", Width: 30}, terminal.Column{Heading: "WINDOW", Width: 0}, terminal.Column{Heading: "OUTPUT", Width: 0},
		terminal.Column{Heading: "US DOLLARS PER MILLION TOKENS", Width: 34})
	for _, s := range summarizers {
		name := s.GetName()
		if s.GetIsDefault() {
			name += " (default)"
		}
		table.Row(name, s.GetKind(), terminal.OrDash(s.GetModel()), numberOrDash(s.GetContextWindow()),
			numberOrDash(s.GetMaxOutputTokens()), priceText(s.GetPrice()))
	}
	table.Flush()
}

func numberOrDash(n uint32) string {
	if n == 0 {
		return "-"
	}
	return terminal.Number(n)
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
