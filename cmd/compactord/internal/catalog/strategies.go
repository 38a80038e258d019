// Package catalog holds the commands that list what there is to choose from: strategies, presets and summarizers.
package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Strategies is `compactord strategies`.
type Strategies struct {
	Name    string `arg:"" help:"Show all there is to say of this strategy or preset." name:"name" optional:""`
	Presets bool   `help:"Only the presets, each with its whole policy."`
	conversation.LimitFlags
	Addr string `env:"COMPACTORD_ADDR" help:"Ask this daemon, which may have strategies of its own." placeholder:"HOST:PORT|unix:PATH"`
	JSON bool   `help:"Print one JSON document: strategies and presets, as the API gives them." name:"json"`
}

// Help is printed below the flags.
func (c *Strategies) Help() string {
	return `A strategy says what is taken out of the view; a preset is a whole policy under one name. A preset's numbers depend on the
model: --context-window, --max-output-tokens and --max-input-tokens tell its limits. Without --addr no daemon is needed.`
}

// Run lists what there is to choose from.
func (c *Strategies) Run(ctx context.Context, a *api.App) (err error) {
	if c.Name != "" && c.Presets {
		return terminal.Usagef("name a strategy or preset, or give --presets, not both")
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
		return terminal.PrintJSON(a.Out, terminal.WholeAnswer(there))
	case c.Name == "" && !c.Presets:
		printCatalogue(a, there)
		return nil
	default:
		return c.details(a.Out, there)
	}
}

// ask asks the daemon that the flags name, or else the service in this process.
func (c *Strategies) ask(ctx context.Context, a *api.App) (there *compactordv1.ListStrategiesResponse, err error) {
	asked, err := c.open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, asked.Close()) }()
	there, err = asked.Compactions.ListStrategies(ctx, &compactordv1.ListStrategiesRequest{
		ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens, MaxInputTokens: c.MaxInputTokens,
	})
	if status.Code(err) == codes.Unavailable {
		return nil, terminal.Advise(err, "Start one: %s\nOr see what this program itself has: %s",
			api.HintServe(asked.Address), terminal.Again().But("addr"))
	}
	return there, api.RefusedFlags(err)
}

func (c *Strategies) open(ctx context.Context, a *api.App) (*api.Client, error) {
	if c.Addr != "" {
		return api.Dial(c.Addr)
	}
	return a.EmbedInMemory(ctx)
}

// choose leaves what the flags ask for.
func (c *Strategies) choose(there *compactordv1.ListStrategiesResponse) error {
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
		return terminal.Usagef("there is no strategy or preset %q; there are %s", c.Name, strings.Join(names, ", "))
	}
	there.Strategies = slices.DeleteFunc(there.GetStrategies(), func(s *compactordv1.StrategyInfo) bool {
		return s.GetName() != c.Name
	})
	there.Presets = slices.DeleteFunc(there.GetPresets(), func(p *compactordv1.PresetInfo) bool {
		return p.GetName() != c.Name
	})
	return nil
}
