package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// strategiesCommand is `compactord strategies`.
type strategiesCommand struct {
	Name    string `arg:"" help:"Show all there is to say of this strategy or preset." name:"name" optional:""`
	Presets bool   `help:"Only the presets, each with its whole policy."`
	limitFlags
	Addr string `env:"COMPACTORD_ADDR" help:"Ask this daemon, which may have strategies of its own." placeholder:"HOST:PORT|unix:PATH"`
	JSON bool   `help:"Print one JSON document: strategies and presets, as the API gives them." name:"json"`
}

// Help is printed below the flags.
func (c *strategiesCommand) Help() string {
	return `A strategy says what is taken out of the view; a preset is a whole policy under one name. A preset's numbers depend on the
model: --context-window, --max-output-tokens and --max-input-tokens tell its limits. Without --addr no daemon is needed.`
}

// Run lists what there is to choose from.
func (c *strategiesCommand) Run(ctx context.Context, a *app) (err error) {
	if c.Name != "" && c.Presets {
		return usagef("name a strategy or preset, or give --presets, not both")
	}
	there, err := c.ask(ctx, a)
	if err != nil {
		return err
	}
	if err := c.choose(there); err != nil {
		return err
	}
	switch {
	case c.JSON:
		return printJSON(a.out, wholeAnswer(there))
	case c.Name == "" && !c.Presets:
		printCatalogue(a, there)
		return nil
	default:
		return c.details(a.out, there)
	}
}

// ask asks the daemon that the flags name, or else the service in this process.
func (c *strategiesCommand) ask(ctx context.Context, a *app) (there *compactordv1.ListStrategiesResponse, err error) {
	asked, err := c.open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, asked.close()) }()
	there, err = asked.compactions.ListStrategies(ctx, &compactordv1.ListStrategiesRequest{
		ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens, MaxInputTokens: c.MaxInputTokens,
	})
	if status.Code(err) == codes.Unavailable {
		return nil, advise(err, "Start one: %s\nOr see what this program itself has: %s",
			hintServe(asked.address), again().but("addr"))
	}
	return there, refusedFlags(err)
}

func (c *strategiesCommand) open(ctx context.Context, a *app) (*client, error) {
	if c.Addr != "" {
		return dial(c.Addr)
	}
	return a.embedInMemory(ctx)
}

// choose leaves what the flags ask for.
func (c *strategiesCommand) choose(there *compactordv1.ListStrategiesResponse) error {
	if c.Presets {
		there.Strategies = nil
	}
	if c.Name == "" {
		return nil
	}
	var names []string
	for _, s := range there.GetStrategies() {
		names = append(names, s.GetName())
	}
	for _, p := range there.GetPresets() {
		names = append(names, p.GetName())
	}
	if !slices.Contains(names, c.Name) {
		return usagef("there is no strategy or preset %q; there are %s", c.Name, strings.Join(names, ", "))
	}
	there.Strategies = slices.DeleteFunc(there.GetStrategies(), func(s *compactordv1.StrategyInfo) bool {
		return s.GetName() != c.Name
	})
	there.Presets = slices.DeleteFunc(there.GetPresets(), func(p *compactordv1.PresetInfo) bool {
		return p.GetName() != c.Name
	})
	return nil
}
