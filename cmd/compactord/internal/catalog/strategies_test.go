package catalog_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// choice is the catalogue of a daemon with a custom strategy.
func choice() *compactordv1.ListStrategiesResponse {
	return &compactordv1.ListStrategiesResponse{
		Strategies: []*compactordv1.StrategyInfo{
			{
				Name:            "summarize",
				Description:     "Cuts, and replaces the older part by a summary. " + strings.Repeat("It says so at length. ", 5),
				NeedsSummarizer: true, Cuts: true, Presets: []string{"default", "pi"},
				Parameters: []*compactordv1.ParameterInfo{
					{
						Name: "recent_tokens", Type: "uint32", Description: "Tokens to keep.", DefaultValue: "20000",
						Minimum: proto.Float64(0), Maximum: proto.Float64(10_000_000),
					},
					{Name: "budget", Type: "enum", Description: "The rule.", DefaultValue: "AT_LEAST", Values: []string{"AT_LEAST", "AT_MOST"}},
					{Name: "at_ratio", Type: "double", Description: "A share.", Minimum: proto.Float64(0.05), Maximum: proto.Float64(1)},
					{Name: "placeholder", Type: "string", Description: "A text.", Maximum: proto.Float64(2000)},
					{Name: "tools", Type: "strings", Description: "Names.", Maximum: proto.Float64(100)},
					{Name: "clear", Type: "bool", Description: "Whether.", DefaultValue: "false"},
				},
			},
			{Name: "offload", Description: "Puts away.", OnAppend: true},
			{Name: "ladder", Description: "In order.", Nests: true},
			{Name: "mine", Description: "Ours alone.", Custom: true},
		},
		Presets: []*compactordv1.PresetInfo{
			{Name: "default", Description: "What we do."},
			{
				Name: "pi", Description: "What Pi does.", Reproduces: "the coding agent Pi",
				Deviations: []string{"It loses nothing.", "It is patient."},
				Policy: &compactordv1.Policy{
					Preset: proto.String("pi"), ContextWindow: proto.Uint32(1000),
					Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
						Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(20000)},
					}},
				},
			},
		},
	}
}

// choosing is a service that only answers ListStrategies, with choice.
type choosing struct {
	compactordv1.UnimplementedCompactionServiceServer
	asked *compactordv1.ListStrategiesRequest
}

func (c *choosing) ListStrategies(
	_ context.Context, req *compactordv1.ListStrategiesRequest,
) (*compactordv1.ListStrategiesResponse, error) {
	c.asked = req
	return choice(), nil
}

// choosingDaemon serves it and returns the daemon's address.
func choosingDaemon(t *testing.T) (daemon *choosing, address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	daemon, server := &choosing{}, grpc.NewServer()
	compactordv1.RegisterCompactionServiceServer(server, daemon)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-ended)
	})
	return daemon, listener.Addr().String()
}

func TestStrategiesOfADaemon(t *testing.T) {
	daemon, addr := choosingDaemon(t)
	r := programtest.Ran(t, "strategies", "--addr", addr, "--window", "200000", "--max-output", "8000", "--max-input", "190000").
		Ends(t, terminal.ExitDone)
	require.True(t, proto.Equal(&compactordv1.ListStrategiesRequest{
		ContextWindow: proto.Uint32(200_000), MaxOutputTokens: proto.Uint32(8000), MaxInputTokens: proto.Uint32(190_000),
	}, daemon.asked))
	require.Regexp(t, `(?m)^STRATEGY +WHAT IT DOES +SUMMARIZER +USED BY$`, r.Out)
	require.Regexp(t, `(?m)^summarize +Cuts, .* needed +default, pi$`, r.Out)
	require.Regexp(t, `(?m)^offload +Puts away. +-$`, r.Out)
	require.Regexp(t, `(?m)^ladder +In order. +if nested$`, r.Out)
	require.Regexp(t, `(?m)^pi +What Pi does. +the coding agent Pi$`, r.Out)
	require.NotContains(t, r.Out, "recent_tokens")
	sample.Narrow(t, r.Out)
}

func TestOneStrategy(t *testing.T) {
	_, addr := choosingDaemon(t)
	r := programtest.Ran(t, "strategies", "summarize", "--addr", addr).Ends(t, terminal.ExitDone)
	for _, line := range []string{
		"Strategy summarize",
		"  Allowed in  Compact",
		"  Summarizer  needed",
		"  Presets     default, pi",
		`PARAMETER +TYPE +DEFAULT +RANGE +MEANING`,
		`recent_tokens +uint32 +20000 +0 to 10,000,000 +Tokens to keep.`,
		`budget +enum +AT_LEAST +- +The rule. One of AT_LEAST, AT_MOST.`,
		`at_ratio +double +- +0.05 to 1 +A share.`,
		`placeholder +string +- +to 2,000 bytes +A text.`,
		`tools +strings +- +to 100 of them +Names.`,
		`clear +bool +false +- +Whether.`,
	} {
		require.Regexp(t, `(?m)^`+line+`$`, r.Out)
	}
	require.NotContains(t, r.Out, "Preset pi")
	sample.Narrow(t, r.Out)
	sample.Contains(t, programtest.Ran(t, "strategies", "offload", "--addr", addr).Ends(t, terminal.ExitDone).Out,
		"  Allowed in  Compact, Prune, on_user_message, on_append\n")
	r = programtest.Ran(t, "strategies", "mine", "--addr", addr).Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "A policy selects it with `custom`")
	sample.Narrow(t, r.Out)
}

func TestOnePreset(t *testing.T) {
	_, addr := choosingDaemon(t)
	r := programtest.Ran(t, "strategies", "pi", "--addr", addr, "--context-window", "1000").Ends(t, terminal.ExitDone)
	require.Equal(t, `Preset pi
---------

What Pi does.

Reproduces: the coding agent Pi

Differs on purpose:
  - It loses nothing.
  - It is patient.

Its policy for a window of 1,000 tokens:

  preset: pi
  context_window: 1000
  strategy:
    summarize:
      recent_tokens: 20000
`, r.Out)
	r = programtest.Ran(t, "strategies", "--presets", "--addr", addr).Ends(t, terminal.ExitDone)
	require.Equal(t, 2, strings.Count(r.Out, "Its policy for an unknown window (--context-window N"))
	require.NotContains(t, r.Out, "Strategy ")
}

func TestStrategiesAsJSON(t *testing.T) {
	_, addr := choosingDaemon(t)
	for name, want := range map[string][2]int{"": {4, 2}, "summarize": {1, 0}, "pi": {0, 1}, "--presets": {0, 2}} {
		args := []string{"strategies", "--json", "--addr", addr}
		if name != "" {
			args = append(args, name)
		}
		answer := &compactordv1.ListStrategiesResponse{}
		require.NoError(t, protojson.Unmarshal([]byte(programtest.Ran(t, args...).Ends(t, terminal.ExitDone).Out), answer))
		require.Len(t, answer.GetStrategies(), want[0], name)
		require.Len(t, answer.GetPresets(), want[1], name)
	}
}

// Without a daemon the program lists its own strategies. The list fits on a screen.
func TestStrategiesWithoutADaemon(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.Ran(t, "strategies").Ends(t, terminal.ExitDone)
	for _, name := range append(strategies.PresetNames(), "summarize", "ladder") {
		require.Regexp(t, "(?m)^"+name+" +[A-Z]", r.Out)
		sample.Narrow(t, programtest.Ran(t, "strategies", name).Ends(t, terminal.ExitDone).Out)
	}
	sample.Narrow(t, r.Out)
	r = programtest.Ran(t, "strategies", "pi", "--window", "200000").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "\nIts policy for a window of 200,000 tokens:\n\n  preset: pi\n  context_window: 200000\n")
	sample.Contains(t, r.Out, "\n      recent_tokens: 20000\n")
	programtest.Ran(t, "strategies", "--window", "0").Ends(t, terminal.ExitUsage).Says(t, "--context-window")
}

func TestStrategiesRefuse(t *testing.T) {
	_, addr := choosingDaemon(t)
	programtest.Ran(t, "strategies", "nope", "--addr", addr).Ends(t, terminal.ExitUsage).Says(t,
		`there is no strategy or preset "nope"; there are summarize, offload, ladder, mine, default, pi`)
	programtest.Ran(t, "strategies", "pi", "--presets", "--addr", addr).Ends(t, terminal.ExitUsage).Says(t, "give either a name or --presets")
	programtest.Ran(t, "strategies", "--addr", "nowhere").Ends(t, terminal.ExitUsage).Says(t, "write HOST:PORT or unix:PATH")
	programtest.Ran(t, "strategies", "--addr", "unix:"+t.TempDir()+"/none.sock").Ends(t, terminal.ExitFailed).Says(t, "no daemon answers at").
		Says(t, "\nOr list those of this program: compactord strategies\n")
}
