package transcripts_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// modelServer starts a provider. It returns the provider and a configuration file with a model of it.
func modelServer(t *testing.T, kind string, protocol llmtest.Protocol, more string) (*llmtest.Server, string) {
	t.Helper()
	s := llmtest.New(t)
	t.Setenv("MODEL_KEY", sample.NotAKey)
	api := ""
	if protocol == llmtest.Responses {
		api = "api: responses, "
	}
	return s, sample.File(t, "config.yaml", fmt.Sprintf("summarizers:\n  fast: {kind: %s, %smodel: the-model, base_url: %q, api_key_env: MODEL_KEY, "+
		"context_window: 200000, max_output_tokens: 8000, price: {input: 1, output: 5}, tries: 1%s}\n", kind, api, s.BaseURL(protocol), more))
}

func TestCompactByAModel(t *testing.T) {
	for name, test := range map[string]struct {
		kind     string
		protocol llmtest.Protocol
		header   string
	}{
		"chat":      {"openai", llmtest.Chat, "Authorization"},
		"responses": {"openai", llmtest.Responses, "Authorization"},
		"anthropic": {"anthropic", llmtest.Messages, "X-Api-Key"},
		"gemini":    {"gemini", llmtest.Gemini, "X-Goog-Api-Key"},
	} {
		t.Run(name, func(t *testing.T) {
			sample.TemporaryFolder(t)
			s, config := modelServer(t, test.kind, test.protocol, "")
			s.Handle(func(*llmtest.Request) llmtest.Reply {
				return llmtest.Summary(llmtest.Written{Lines: []string{"The model was here."}})
			})
			r := programtest.Ran(t, "compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config, "--focus", "the-focus").Ends(t, terminal.ExitDone)
			sample.Contains(t, r.Out, "  Summarizer  fast, ")
			sample.Contains(t, r.Out, "  Spent       ")
			sample.Contains(t, r.Out, " out, 0.0")
			sample.Contains(t, r.Out, "- The model was here.")
			require.NotContains(t, r.Out, "Fallback")
			require.NotContains(t, r.Err, "The model was here.", "no terminal, no text as it is written")
			require.NotContains(t, r.Out+r.Err, sample.NotAKey)
			asked := s.Requests()
			require.NotEmpty(t, asked)
			require.Equal(t, "the-model", asked[0].Model)
			require.Contains(t, asked[0].Header.Get(test.header), sample.NotAKey)
			require.Contains(t, asked[0].Text(), "the-focus")
		})
	}
}

func TestCompactByAModelAsJSON(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{}) })
	a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), ErrTerminal: true}}
	r := programtest.RunWith(t.Context(), a, "compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config, "--json").Ends(t, terminal.ExitDone)
	doc := sample.Document(t, r.Out)
	require.Equal(t, "fast", sample.At(t, doc, "entry", "provenance", "summarizer"))
	require.NotEmpty(t, sample.At(t, doc, "entry", "provenance", "model"))
	require.NotZero(t, sample.At(t, doc, "entry", "provenance", "cost_usd"))
}

// A terminal shows the text while it is written, and then once as it is stored, with its quotes.
func TestTextAsItIsWritten(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "anthropic", llmtest.Messages, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply {
		return llmtest.Summary(llmtest.Written{Lines: []string{"The model was here."}})
	})
	command := []string{"compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config}
	r := programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), ErrTerminal: true, OutTerminal: true}}, command...).Ends(t, terminal.ExitDone)
	written, stored, _ := strings.Cut(r.Err, "[attempt 3 replaces the text above]")
	require.Contains(t, written, "- The model was here.")
	require.Equal(t, 1, strings.Count(stored, "- The model was here."), "one text covers the short part of the split turn:\n%s", r.Err)
	require.Contains(t, stored, "\n\n## Critical Context\n> [#")
	require.NotContains(t, r.Out, "The model was here.", "it is on the screen")
	sample.Contains(t, r.Out, "  Summarizer  fast, ")
	r = programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), ErrTerminal: true}}, command...).Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Err, "- The model was here.")
	sample.Contains(t, r.Out, "- The model was here.")
	r = programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), ErrTerminal: true}}, append(command, "-q")...).Ends(t, terminal.ExitDone)
	require.Empty(t, r.Err)
}

// The same holds for a fold by a model with a small window.
func TestTextOfALargeConversation(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{}) })
	small, err := os.ReadFile(config)
	require.NoError(t, err)
	config = sample.File(t, "small.yaml", strings.Replace(string(small), "context_window: 200000, max_output_tokens: 8000", "context_window: 16000", 1))
	r := programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), ErrTerminal: true}},
		"compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config).Ends(t, terminal.ExitDone)
	require.Greater(t, len(s.Requests()), 3)
	sample.Contains(t, r.Err, "[part 2 of ")
	require.NotContains(t, r.Err, "does not count")
}

func TestDryRunByAModel(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	r := programtest.Ran(t, "compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config, "--dry-run").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "  Requests    ")
	sample.Contains(t, r.Out, " to the model, with ")
	sample.Contains(t, r.Out, "  Summary     the policy allows ")
	sample.Contains(t, r.Out, "  Cost        about 0.")
	require.Empty(t, s.Requests(), "a dry run asks nobody")
}

// The output names the fallback and its cause.
func TestFallbackIsSeenInTheOutput(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Text("The work went on.") })
	for _, flag := range []string{"--quiet", "--view"} {
		r := programtest.Ran(t, "compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config, flag).Ends(t, terminal.ExitDone)
		require.Regexp(t, `(?m)^  Fallback    no summary by fast passed the checks: The summary has none of its sections, such as "[A-Za-z ]+"; `+
			`extractive wrote instead$`, r.Out)
	}
}

// A summary with tags instead of headings is accepted.
func TestTagsOfAModelAreTaken(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply {
		return llmtest.Text("<important_context>\n- The model was here.\n</important_context>\n<current_focus>Go on</current_focus>")
	})
	r := programtest.Ran(t, "compact", sample.TalkFile(t), "--preset", "kimi", "--context-window", "20000", "--summarizer", "fast", "--config", config).Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Out, "Fallback")
	sample.Contains(t, r.Out, "## Current Focus\nGo on\n\n## Important Context\n")
	sample.Contains(t, r.Out, "## Important Context\n- The model was here.\n")
	require.Len(t, s.Requests(), 1)
}

func TestModelsThatRefuse(t *testing.T) {
	for status, says := range map[int]string{
		401: "Check the key that the profile names", 404: "Check model and base_url", 400: "Check model, max_output_tokens",
		503: "Nothing was changed. Try again later.",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			sample.TemporaryFolder(t)
			s, config := modelServer(t, "openai", llmtest.Chat, "")
			s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Status(status) })
			r := programtest.Ran(t, "compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config).Ends(t, terminal.ExitDone)
			sample.Contains(t, r.Out, "  Summarizer  extractive, ")
			require.Regexp(t, fmt.Sprintf(`(?m)^  Fallback    summarizer fast .*%d.*; extractive wrote instead$`, status), r.Out)

			// The policy of this session has no fallback.
			d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--config", config)
			programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
			withoutFallback(t, d.Addr, "s")
			r = programtest.Ran(t, "compact", "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitFailed)
			r.Says(t, fmt.Sprint(status)).Says(t, says)
			require.NotContains(t, r.Err, llmtest.Quoted)
			require.Equal(t, terminal.ExitDone, d.Stop())
			require.NotContains(t, d.Log.String(), llmtest.Quoted)
			require.NotContains(t, d.Log.String(), sample.NotAKey)
			require.Contains(t, d.Log.String(), "name=fast kind=openai model=the-model")
		})
	}
}

// withoutFallback sets the model as a session's summarizer, without a fallback.
func withoutFallback(t *testing.T, addr, session string) {
	t.Helper()
	c, err := (&api.App{}).Dial(addr, api.Security{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	_, err = c.Sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: session, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}}, Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{
			Summarizer: proto.String("fast"), Fallback: compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL.Enum(),
		}},
	})
	require.NoError(t, err)
}

func TestCtrlCWhileAModelWrites(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Hang() })
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		s.Await(0)
		cancel(terminal.ErrInterrupted)
	}()
	r := programtest.RunWith(ctx, &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader("")}}, "compact", sample.TalkFile(t), "--summarizer", "fast", "--config", config).Ends(t, terminal.ExitFailed)
	r.Says(t, "interrupted").Says(t, "The file is unchanged.")
	<-s.Requests()[0].Closed()
}

func TestUnknownSummarizer(t *testing.T) {
	_, config := modelServer(t, "openai", llmtest.Chat, "")
	r := programtest.Ran(t, "compact", sample.TalkFile(t), "--summarizer", "slow", "--config", config).Ends(t, terminal.ExitUsage)
	r.Says(t, `there is no summarizer "slow"; there are extractive, fast. Models are named under "summarizers" in the configuration file`)
	r = programtest.Ran(t, "compact", sample.TalkFile(t), "--summarizer", "slow").Ends(t, terminal.ExitUsage)
	r.Says(t, `there is no summarizer "slow"; there is only extractive.`).Says(t, "--config or COMPACTORD_CONFIG")
	programtest.Ran(t, "compact", sample.TalkFile(t), "--summarizer", "extractive").Ends(t, terminal.ExitDone)

	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--config", config, "--default-summarizer", "fast")
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	r = programtest.Ran(t, "compact", "--session", "s", "--addr", d.Addr, "--summarizer", "slow").Ends(t, terminal.ExitUsage)
	r.Says(t, "extractive").Says(t, "fast").Says(t, "compactord summarizers --addr "+d.Addr)
	programtest.Ran(t, "compact", "--session", "s", "--addr", d.Addr, "--config", config).Ends(t, terminal.ExitUsage).Says(t, "--config is for work without a daemon")

	// The daemon's models, with its default.
	out := programtest.Ran(t, "summarizers", "--addr", d.Addr).Ends(t, terminal.ExitDone).Out
	require.Less(t, strings.Index(out, "\nextractive "), strings.Index(out, "\nfast "))
	sample.Contains(t, out, "the-model")
	sample.Contains(t, out, "1 in, 5 out")
	listed := sample.Document(t, programtest.Ran(t, "summarizers", "--addr", d.Addr, "--json").Ends(t, terminal.ExitDone).Out)
	require.Len(t, sample.At(t, listed, "summarizers"), 2)
	out = programtest.Ran(t, "summarizers", "--config", config).Ends(t, terminal.ExitDone).Out
	sample.Contains(t, out, "the-model")
	require.Equal(t, terminal.ExitDone, d.Stop())
}

// The default summarizer writes for sessions whose policy names none.
func TestDefaultSummarizer(t *testing.T) {
	s, config := modelServer(t, "openai", llmtest.Responses, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{}) })
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--config", config, "--default-summarizer", "fast")
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	r := programtest.Ran(t, "compact", "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "  Summarizer  fast, ")
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.Contains(t, d.Log.String(), "name=fast kind=openai model=the-model default=true")
	require.NotContains(t, d.Log.String(), sample.NotAKey)
}

// The default summarizer is also used without a daemon, and is marked in the list of summarizers.
func TestDefaultSummarizerWithoutADaemon(t *testing.T) {
	sample.TemporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply {
		return llmtest.Summary(llmtest.Written{Lines: []string{"The model was here."}})
	})
	models, err := os.ReadFile(config)
	require.NoError(t, err)
	byDefault := sample.File(t, "default.yaml", string(models)+"default_summarizer: fast\n")
	r := programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), ErrTerminal: true}}, "compact", sample.TalkFile(t), "--config", byDefault).
		Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "  Summarizer  fast, ")
	sample.Contains(t, r.Err, "The model was here.")
	store := anystore.Place(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	r = programtest.Ran(t, "compact", "--session", "s", "--store", store, "--config", byDefault).Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "  Summarizer  fast, ")
	r = programtest.Ran(t, "compact", sample.TalkFile(t), "--config", byDefault, "--summarizer", "extractive").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "  Summarizer  extractive, ")
	require.Regexp(t, `(?m)^extractive \(default\) `, programtest.Ran(t, "summarizers", "--config", config).Ends(t, terminal.ExitDone).Out)
	require.Regexp(t, `(?m)^fast \(default\) `, programtest.Ran(t, "summarizers", "--config", byDefault).Ends(t, terminal.ExitDone).Out)

	t.Setenv("COMPACTORD_DEFAULT_SUMMARIZER", "fast")
	sample.Contains(t, programtest.Ran(t, "compact", sample.TalkFile(t), "--config", config).Ends(t, terminal.ExitDone).Out, "  Summarizer  fast, ")
	programtest.Ran(t, "compact", sample.TalkFile(t)).Ends(t, terminal.ExitUsage).Says(t, "COMPACTORD_DEFAULT_SUMMARIZER: there is no summarizer").Says(t, "--config")
	t.Setenv("COMPACTORD_DEFAULT_SUMMARIZER", "extractive")
	sample.Contains(t, programtest.Ran(t, "compact", sample.TalkFile(t), "--config", byDefault).Ends(t, terminal.ExitDone).Out, "  Summarizer  extractive, ")
}
