// Package catalog holds the commands that list strategies, presets and summarizers.
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
	"github.com/compactord/compactord/session/misspelt"
)

// Strategies is `compactord strategies`.
type Strategies struct {
	Name    string `arg:"" help:"Show everything about this strategy or preset." name:"name" optional:""`
	Presets bool   `help:"Show only the presets, each with its whole policy."`
	conversation.LimitFlags
	Addr string `env:"COMPACTORD_ADDR" help:"Ask this daemon, which may have its own strategies." placeholder:"HOST:PORT|unix:PATH"`
	api.Security
	JSON bool `help:"Print one JSON document: strategies and presets, as the API returns them." name:"json"`
	terminal.QuietFlag
}

// Help is printed below the flags.
func (c *Strategies) Help() string {
	return `A strategy is a way to make a view smaller. A preset is a policy with a name. Its numbers depend on the limits of the
model, which --context-window, --max-output-tokens and --max-input-tokens set. Without --addr no daemon is needed.`
}

// Run lists strategies and presets.
func (c *Strategies) Run(ctx context.Context, a *api.App) (err error) {
	if c.Name != "" && c.Presets {
		return terminal.Usagef("give either a name or --presets")
	}
	answer, err := c.ask(ctx, a)
	if err != nil {
		return err
	}
	if err := c.choose(answer); err != nil {
		return err
	}
	switch {
	case c.JSON:
		return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
	case c.Name == "" && !c.Presets:
		printCatalogue(a, answer)
		return nil
	default:
		return c.details(a.Out, answer)
	}
}

// ask asks the daemon that the flags name or, without one, the service in this process.
func (c *Strategies) ask(ctx context.Context, a *api.App) (answer *compactordv1.ListStrategiesResponse, err error) {
	asked, err := c.open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, asked.Close()) }()
	answer, err = asked.Compactions.ListStrategies(ctx, &compactordv1.ListStrategiesRequest{
		ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens, MaxInputTokens: c.MaxInputTokens,
	})
	if status.Code(err) == codes.Unavailable {
		return nil, terminal.Advise(err, "Start one: %s\nOr list those of this program: %s",
			api.HintServe(asked.Address), terminal.Again().But("addr"))
	}
	return answer, api.RefusedFlags(err)
}

func (c *Strategies) open(ctx context.Context, a *api.App) (*api.Client, error) {
	if c.Addr != "" {
		return a.Dial(c.Addr, c.Security)
	}
	return a.EmbedInMemory(ctx)
}

// choose removes what the flags do not ask for.
func (c *Strategies) choose(answer *compactordv1.ListStrategiesResponse) error {
	if c.Presets {
		answer.Strategies = nil
	}
	if c.Name == "" {
		return nil
	}
	var names []string
	for _, s := range answer.GetStrategies() {
		names = append(names, s.GetName())
	}
	for _, p := range answer.GetPresets() {
		names = append(names, p.GetName())
	}
	if !slices.Contains(names, c.Name) {
		return terminal.Usagef("there is no strategy or preset %q%s; there are %s", c.Name, misspelt.Of(c.Name, names), strings.Join(names, ", "))
	}
	answer.Strategies = slices.DeleteFunc(answer.GetStrategies(), func(s *compactordv1.StrategyInfo) bool {
		return s.GetName() != c.Name
	})
	answer.Presets = slices.DeleteFunc(answer.GetPresets(), func(p *compactordv1.PresetInfo) bool {
		return p.GetName() != c.Name
	})
	return nil
}
