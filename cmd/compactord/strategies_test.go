package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// choice is what a daemon has to choose from that was built by somebody else.
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

// choosing is a daemon that answers choice and nothing else.
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

// choosingDaemon serves it, and returns its address.
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
	r := ran(t, "strategies", "--addr", addr, "--window", "200000", "--max-output", "8000", "--max-input", "190000").
		ends(t, exitDone)
	require.True(t, proto.Equal(&compactordv1.ListStrategiesRequest{
		ContextWindow: proto.Uint32(200_000), MaxOutputTokens: proto.Uint32(8000), MaxInputTokens: proto.Uint32(190_000),
	}, daemon.asked))
	require.Regexp(t, `(?m)^STRATEGY +WHAT IT DOES +SUMMARIZER +USED BY$`, r.out)
	require.Regexp(t, `(?m)^summarize +Cuts, .* needed +default, pi$`, r.out)
	require.Regexp(t, `(?m)^offload +Puts away. +-$`, r.out)
	require.Regexp(t, `(?m)^ladder +In order. +if nested$`, r.out)
	require.Regexp(t, `(?m)^pi +What Pi does. +the coding agent Pi$`, r.out)
	require.NotContains(t, r.out, "recent_tokens")
	narrow(t, r.out)
}

// narrow demands that a text fits into 100 columns, but for commands to paste, which are in one line.
func narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  compactord ") {
			continue
		}
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 100, line)
	}
}

func TestOneStrategy(t *testing.T) {
	_, addr := choosingDaemon(t)
	r := ran(t, "strategies", "summarize", "--addr", addr).ends(t, exitDone)
	for _, line := range []string{
		"Strategy summarize",
		"  Taken by    Compact",
		"  Summarizer  needed",
		"  Presets     default, pi",
		`PARAMETER +TYPE +DEFAULT +RANGE +WHAT IT SAYS`,
		`recent_tokens +uint32 +20000 +0 to 10,000,000 +Tokens to keep.`,
		`budget +enum +AT_LEAST +- +The rule. One of AT_LEAST, AT_MOST.`,
		`at_ratio +double +- +0.05 to 1 +A share.`,
		`placeholder +string +- +to 2,000 bytes +A text.`,
		`tools +strings +- +to 100 of them +Names.`,
		`clear +bool +false +- +Whether.`,
	} {
		require.Regexp(t, `(?m)^`+line+`$`, r.out)
	}
	require.NotContains(t, r.out, "Preset pi")
	narrow(t, r.out)
	contains(t, ran(t, "strategies", "offload", "--addr", addr).ends(t, exitDone).out,
		"  Taken by    Compact, Prune, on_user_message, on_append\n")
	r = ran(t, "strategies", "mine", "--addr", addr).ends(t, exitDone)
	contains(t, r.out, "a policy selects it by `custom`")
	narrow(t, r.out)
}

func TestOnePreset(t *testing.T) {
	_, addr := choosingDaemon(t)
	r := ran(t, "strategies", "pi", "--addr", addr, "--context-window", "1000").ends(t, exitDone)
	require.Equal(t, `Preset pi
---------

What Pi does.

Reproduces: the coding agent Pi

Deviates on purpose:
  - It loses nothing.
  - It is patient.

Its policy for a window of 1,000 tokens:

  preset: pi
  context_window: 1000
  strategy:
    summarize:
      recent_tokens: 20000
`, r.out)
	r = ran(t, "strategies", "--presets", "--addr", addr).ends(t, exitDone)
	require.Equal(t, 2, strings.Count(r.out, "Its policy for a window that is not known (--context-window N"))
	require.NotContains(t, r.out, "Strategy ")
}

func TestStrategiesAsJSON(t *testing.T) {
	_, addr := choosingDaemon(t)
	for name, want := range map[string][2]int{"": {4, 2}, "summarize": {1, 0}, "pi": {0, 1}, "--presets": {0, 2}} {
		args := []string{"strategies", "--json", "--addr", addr}
		if name != "" {
			args = append(args, name)
		}
		answer := &compactordv1.ListStrategiesResponse{}
		require.NoError(t, protojson.Unmarshal([]byte(ran(t, args...).ends(t, exitDone).out), answer))
		require.Len(t, answer.GetStrategies(), want[0], name)
		require.Len(t, answer.GetPresets(), want[1], name)
	}
}

// Without a daemon the program says what it has itself, and all of it fits on a screen.
func TestStrategiesWithoutADaemon(t *testing.T) {
	temporaryFolder(t)
	r := ran(t, "strategies").ends(t, exitDone)
	for _, name := range append(strategies.PresetNames(), "summarize", "ladder") {
		require.Regexp(t, "(?m)^"+name+" +[A-Z]", r.out)
		narrow(t, ran(t, "strategies", name).ends(t, exitDone).out)
	}
	narrow(t, r.out)
	r = ran(t, "strategies", "pi", "--window", "200000").ends(t, exitDone)
	contains(t, r.out, "\nIts policy for a window of 200,000 tokens:\n\n  preset: pi\n  context_window: 200000\n")
	contains(t, r.out, "\n      recent_tokens: 20000\n")
	ran(t, "strategies", "--window", "0").ends(t, exitUsage).says(t, "context_window")
}

func TestStrategiesRefuse(t *testing.T) {
	_, addr := choosingDaemon(t)
	ran(t, "strategies", "nope", "--addr", addr).ends(t, exitUsage).says(t,
		`there is no strategy or preset "nope"; there are summarize, offload, ladder, mine, default, pi`)
	ran(t, "strategies", "pi", "--presets", "--addr", addr).ends(t, exitUsage).says(t, "not both")
	ran(t, "strategies", "--addr", "nowhere").ends(t, exitUsage).says(t, "write HOST:PORT or unix:PATH")
	ran(t, "strategies", "--addr", "unix:"+t.TempDir()+"/none.sock").ends(t, exitFailed).says(t, "no daemon answers at").
		says(t, "\nOr see what this program itself has: compactord strategies\n")
}

func TestWrappedTables(t *testing.T) {
	require.Equal(t, []string{"one two", "three"}, wrapped("one two three", 8))
	require.Equal(t, []string{"enormously", "a"}, wrapped("enormously a", 4), "a long word has a line of its own")
	require.Equal(t, []string{"a  b"}, wrapped("a  b", 0))
	var out strings.Builder
	table := newTextTable(&out, column{"A", 0}, column{"B", 7}, column{"C", 0})
	table.row("é", "one two\nthree", "x")
	table.row("bb", "", "")
	table.flush()
	require.Equal(t, "A   B        C\né   one two  x\n    three\nbb\n", out.String())
}
