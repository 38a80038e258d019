package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// modelServer starts a provider, and returns it with a configuration file that names a model of it.
func modelServer(t *testing.T, kind string, protocol llmtest.Protocol, more string) (*llmtest.Server, string) {
	t.Helper()
	s := llmtest.New(t)
	t.Setenv("MODEL_KEY", notAKey)
	api := ""
	if protocol == llmtest.Responses {
		api = "api: responses, "
	}
	return s, file(t, "config.yaml", fmt.Sprintf("summarizers:\n  fast: {kind: %s, %smodel: the-model, base_url: %q, api_key_env: MODEL_KEY, "+
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
			temporaryFolder(t)
			s, config := modelServer(t, test.kind, test.protocol, "")
			s.Handle(func(*llmtest.Request) llmtest.Reply {
				return llmtest.Summary(llmtest.Written{Lines: []string{"The model was here."}})
			})
			r := ran(t, "compact", talkFile(t), "--summarizer", "fast", "--config", config, "--focus", "the-focus").ends(t, exitDone)
			contains(t, r.out, "  Summarizer  fast, ")
			contains(t, r.out, "  Spent       ")
			contains(t, r.out, " out, 0.0")
			contains(t, r.out, "- The model was here.")
			require.NotContains(t, r.out, "Fallback")
			require.NotContains(t, r.err, "The model was here.", "no terminal, no text as it is written")
			require.NotContains(t, r.out+r.err, notAKey)
			asked := s.Requests()
			require.NotEmpty(t, asked)
			require.Equal(t, "the-model", asked[0].Model)
			require.Contains(t, asked[0].Header.Get(test.header), notAKey)
			require.Contains(t, asked[0].Text(), "the-focus")
		})
	}
}

func TestCompactByAModelAsJSON(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{}) })
	a := &app{terminal: terminal{stdin: strings.NewReader(""), errTerminal: true}}
	r := runWith(t.Context(), a, "compact", talkFile(t), "--summarizer", "fast", "--config", config, "--json").ends(t, exitDone)
	doc := document(t, r.out)
	require.Equal(t, "fast", at(t, doc, "entry", "summarizer"))
	require.NotEmpty(t, at(t, doc, "entry", "model"))
	require.NotZero(t, at(t, doc, "entry", "cost_usd"))
}

// On a terminal the text is shown as it is written, once.
func TestTextAsItIsWritten(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "anthropic", llmtest.Messages, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply {
		return llmtest.Summary(llmtest.Written{Lines: []string{"The model was here."}})
	})
	command := []string{"compact", talkFile(t), "--summarizer", "fast", "--config", config}
	r := runWith(t.Context(), &app{terminal: terminal{stdin: strings.NewReader(""), errTerminal: true, outTerminal: true}}, command...).ends(t, exitDone)
	require.Equal(t, 2, strings.Count(r.err, "- The model was here."), "once in each of the two parts:\n%s", r.err)
	require.NotContains(t, r.out, "The model was here.", "it is on the screen")
	contains(t, r.out, "  Summarizer  fast, ")
	r = runWith(t.Context(), &app{terminal: terminal{stdin: strings.NewReader(""), errTerminal: true}}, command...).ends(t, exitDone)
	contains(t, r.err, "- The model was here.")
	contains(t, r.out, "- The model was here.")
	r = runWith(t.Context(), &app{terminal: terminal{stdin: strings.NewReader(""), errTerminal: true}}, append(command, "-q")...).ends(t, exitDone)
	require.Empty(t, r.err)
}

// A new attempt voids what is on the terminal, and says so; what the model steers the terminal by is not passed on.
func TestTextOfASecondAttempt(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out, true)
	p.delta(1, "not shown")
	require.Empty(t, out.String())
	p.showsText()
	p.stage("summarizing 9 tokens", "tokens", 9)
	out.Reset()
	p.delta(1, "first ")
	p.update(5)
	p.delta(1, "\x1b[2Jtry")
	p.delta(2, "second try\n")
	require.Equal(t, "\r\x1b[Kfirst \n\r\x1b[K"+strings.Repeat("█", 16)+strings.Repeat("░", 14)+"  55 %  summarizing 9 tokens\r\x1b[K\uFFFD[2Jtry\n\n[attempt 2: what stands above does not count]\n\nsecond try\n", out.String())
	require.True(t, p.told("second try\n"))
	require.False(t, p.told("first try"))
	p.closeText()
	require.True(t, strings.HasSuffix(out.String(), "second try\n"))
	var nobody *progress
	nobody.showsText()
	nobody.delta(1, "x")
	nobody.closeText()
	require.False(t, nobody.told("x"))
}

// A conversation that is read part by part: each text takes in the one before, only what is written twice voids it, and
// between them the bar comes back.
func TestTextOfParts(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out, true)
	p.showsText()
	p.expects(3)
	tell := func(done uint32) {
		tellProgress(p, &compactordv1.CompactionProgress{
			Stage: compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, Done: done, Total: 100,
		})
	}
	bar := func(full, percent int) string {
		return fmt.Sprintf("\r\x1b[K%s%s %3d %%  summarizing 100 tokens", strings.Repeat("█", full), strings.Repeat("░", 30-full), percent)
	}
	tell(0)
	p.delta(1, "one")
	tell(40)
	p.delta(2, "bad")
	p.delta(3, "two")
	tell(80)
	p.delta(4, "three")
	p.delta(5, "three!")
	require.Equal(t, bar(0, 0)+"\r\x1b[Kone\n"+bar(12, 40)+
		"\r\x1b[K\n[part 2 of 3, which takes in what stands above]\n\nbad\n"+
		"\n[attempt 3: what stands above does not count]\n\ntwo\n"+bar(24, 80)+
		"\r\x1b[K\n[part 3 of 3, which takes in what stands above]\n\nthree\n"+
		"\n[attempt 5: what stands above does not count]\n\nthree!", out.String())
	require.True(t, p.told("three!"))
}

// It is so with a model whose window is small, through all of the program.
func TestTextOfALargeConversation(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{}) })
	small, err := os.ReadFile(config)
	require.NoError(t, err)
	config = file(t, "small.yaml", strings.Replace(string(small), "context_window: 200000, max_output_tokens: 8000", "context_window: 16000", 1))
	r := runWith(t.Context(), &app{terminal: terminal{stdin: strings.NewReader(""), errTerminal: true}},
		"compact", talkFile(t), "--summarizer", "fast", "--config", config).ends(t, exitDone)
	require.Greater(t, len(s.Requests()), 3)
	contains(t, r.err, "[part 2 of ")
	require.NotContains(t, r.err, "does not count")
}

func TestDryRunByAModel(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	r := ran(t, "compact", talkFile(t), "--summarizer", "fast", "--config", config, "--dry-run").ends(t, exitDone)
	contains(t, r.out, "  Requests    ")
	contains(t, r.out, " to the model, with ")
	contains(t, r.out, "  Summary     the policy allows ")
	contains(t, r.out, "  Cost        about 0.")
	require.Empty(t, s.Requests(), "a dry run asks nobody")
}

// Who reads the output sees that another wrote than was asked for, and why.
func TestFallbackIsSeenInTheOutput(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Text("The work went on.") })
	for _, flag := range []string{"--quiet", "--view"} {
		r := ran(t, "compact", talkFile(t), "--summarizer", "fast", "--config", config, flag).ends(t, exitDone)
		require.Regexp(t, `(?m)^  Fallback    no summary by fast passed the checks: The summary has none of its sections, such as "[A-Za-z ]+"; `+
			`extractive wrote instead$`, r.out)
	}
}

// A model that writes tags in place of headings is taken at its word.
func TestTagsOfAModelAreTaken(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply {
		return llmtest.Text("<important_context>\n- The model was here.\n</important_context>\n<current_focus>Go on</current_focus>")
	})
	r := ran(t, "compact", talkFile(t), "--preset", "kimi", "--context-window", "20000", "--summarizer", "fast", "--config", config).ends(t, exitDone)
	require.NotContains(t, r.out, "Fallback")
	contains(t, r.out, "## Current Focus\nGo on\n\n## Environment\n(none)\n")
	contains(t, r.out, "## Important Context\n- The model was here.\n")
	require.Len(t, s.Requests(), 1)
}

func TestModelsThatRefuse(t *testing.T) {
	for status, says := range map[int]string{
		401: "Check the key that the profile names", 404: "Check model and base_url", 400: "Check model, max_output_tokens",
		503: "Nothing was changed. Try again later.",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			temporaryFolder(t)
			s, config := modelServer(t, "openai", llmtest.Chat, "")
			s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Status(status) })
			r := ran(t, "compact", talkFile(t), "--summarizer", "fast", "--config", config).ends(t, exitDone)
			contains(t, r.out, "  Summarizer  extractive, ")
			require.Regexp(t, fmt.Sprintf(`(?m)^  Fallback    summarizer fast .*%d.*; extractive wrote instead$`, status), r.out)

			// A session whose policy wants no fallback.
			d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t), "--config", config)
			ran(t, "import", talkFile(t), "--session", "s", "--addr", d.addr).ends(t, exitDone)
			withoutFallback(t, d.addr, "s")
			r = ran(t, "compact", "--session", "s", "--addr", d.addr).ends(t, exitFailed)
			r.says(t, fmt.Sprint(status)).says(t, says)
			require.NotContains(t, r.err, llmtest.Quoted)
			require.Equal(t, exitDone, d.stop())
			require.NotContains(t, d.log.String(), llmtest.Quoted)
			require.NotContains(t, d.log.String(), notAKey)
			require.Contains(t, d.log.String(), "name=fast kind=openai model=the-model")
		})
	}
}

// withoutFallback has a session's summaries written by the model or nobody.
func withoutFallback(t *testing.T, addr, session string) {
	t.Helper()
	c, err := dial(addr)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.close()) }()
	_, err = c.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: session, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}}, Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{
			Summarizer: proto.String("fast"), Fallback: compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL.Enum(),
		}},
	})
	require.NoError(t, err)
}

func TestCtrlCWhileAModelWrites(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Hang() })
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		s.Await(0)
		cancel(errInterrupted)
	}()
	r := runWith(ctx, &app{terminal: terminal{stdin: strings.NewReader("")}}, "compact", talkFile(t), "--summarizer", "fast", "--config", config).ends(t, exitFailed)
	r.says(t, "interrupted").says(t, "The file is as it was.")
	<-s.Requests()[0].Closed()
}

func TestUnknownSummarizer(t *testing.T) {
	_, config := modelServer(t, "openai", llmtest.Chat, "")
	r := ran(t, "compact", talkFile(t), "--summarizer", "slow", "--config", config).ends(t, exitUsage)
	r.says(t, `there is no summarizer "slow"; there are extractive, fast. Models are named under "summarizers" in the configuration file`)
	r = ran(t, "compact", talkFile(t), "--summarizer", "slow").ends(t, exitUsage)
	r.says(t, `there is no summarizer "slow"; there are extractive.`).says(t, "--config or COMPACTORD_CONFIG")
	ran(t, "compact", talkFile(t), "--summarizer", "extractive").ends(t, exitDone)

	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t), "--config", config, "--default-summarizer", "fast")
	ran(t, "import", talkFile(t), "--session", "s", "--addr", d.addr).ends(t, exitDone)
	r = ran(t, "compact", "--session", "s", "--addr", d.addr, "--summarizer", "slow").ends(t, exitUsage)
	r.says(t, "extractive").says(t, "fast").says(t, "compactord summarizers --addr "+d.addr)
	ran(t, "compact", "--session", "s", "--addr", d.addr, "--config", config).ends(t, exitUsage).says(t, "--config goes without a daemon")

	// The daemon's models and its default.
	out := ran(t, "summarizers", "--addr", d.addr).ends(t, exitDone).out
	require.Less(t, strings.Index(out, "\nextractive "), strings.Index(out, "\nfast "))
	contains(t, out, "the-model")
	contains(t, out, "1 in, 5 out")
	listed := document(t, ran(t, "summarizers", "--addr", d.addr, "--json").ends(t, exitDone).out)
	require.Len(t, at(t, listed, "summarizers"), 2)
	out = ran(t, "summarizers", "--config", config).ends(t, exitDone).out
	contains(t, out, "the-model")
	require.Equal(t, exitDone, d.stop())
}

// The daemon's default writes for sessions that name nobody.
func TestDefaultSummarizer(t *testing.T) {
	s, config := modelServer(t, "openai", llmtest.Responses, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{}) })
	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t), "--config", config, "--default-summarizer", "fast")
	ran(t, "import", talkFile(t), "--session", "s", "--addr", d.addr).ends(t, exitDone)
	r := ran(t, "compact", "--session", "s", "--addr", d.addr).ends(t, exitDone)
	contains(t, r.out, "  Summarizer  fast, ")
	require.Equal(t, exitDone, d.stop())
	require.Contains(t, d.log.String(), "name=fast kind=openai model=the-model default=true")
	require.NotContains(t, d.log.String(), notAKey)
}

// It also writes what is compacted without a daemon, and is marked where summarizers are listed.
func TestDefaultSummarizerWithoutADaemon(t *testing.T) {
	temporaryFolder(t)
	s, config := modelServer(t, "openai", llmtest.Chat, "")
	s.Handle(func(*llmtest.Request) llmtest.Reply {
		return llmtest.Summary(llmtest.Written{Lines: []string{"The model was here."}})
	})
	models, err := os.ReadFile(config)
	require.NoError(t, err)
	byDefault := file(t, "default.yaml", string(models)+"default_summarizer: fast\n")
	r := runWith(t.Context(), &app{terminal: terminal{stdin: strings.NewReader(""), errTerminal: true}}, "compact", talkFile(t), "--config", byDefault).
		ends(t, exitDone)
	contains(t, r.out, "  Summarizer  fast, ")
	contains(t, r.err, "The model was here.")
	store := storePath(t)
	ran(t, "import", talkFile(t), "--session", "s", "--store", store).ends(t, exitDone)
	r = ran(t, "compact", "--session", "s", "--store", store, "--config", byDefault).ends(t, exitDone)
	contains(t, r.out, "  Summarizer  fast, ")
	r = ran(t, "compact", talkFile(t), "--config", byDefault, "--summarizer", "extractive").ends(t, exitDone)
	contains(t, r.out, "  Summarizer  extractive, ")
	require.Regexp(t, `(?m)^extractive \(default\) `, ran(t, "summarizers", "--config", config).ends(t, exitDone).out)
	require.Regexp(t, `(?m)^fast \(default\) `, ran(t, "summarizers", "--config", byDefault).ends(t, exitDone).out)

	t.Setenv("COMPACTORD_DEFAULT_SUMMARIZER", "fast")
	contains(t, ran(t, "compact", talkFile(t), "--config", config).ends(t, exitDone).out, "  Summarizer  fast, ")
	ran(t, "compact", talkFile(t)).ends(t, exitUsage).says(t, "COMPACTORD_DEFAULT_SUMMARIZER: there is no summarizer").says(t, "--config")
	t.Setenv("COMPACTORD_DEFAULT_SUMMARIZER", "extractive")
	contains(t, ran(t, "compact", talkFile(t), "--config", byDefault).ends(t, exitDone).out, "  Summarizer  extractive, ")
}

func TestWhoWrote(t *testing.T) {
	fallback := compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE
	for name, test := range map[string]struct {
		entry *compactordv1.CompactionEntry
		want  string
	}{
		"extractive": {&compactordv1.CompactionEntry{Summarizer: "extractive"}, "  Summarizer  extractive, 0s\n"},
		"a model": {
			&compactordv1.CompactionEntry{
				Summarizer: "fast", Model: "m-real", SummarizerCalls: 2, Usage: &compactordv1.Usage{InputTokens: 10, OutputTokens: 5},
			},
			"  Summarizer  fast, m-real, 0s\n  Spent       2 requests, 10 tokens in, 5 out\n",
		},
		"a server that counts nothing": {
			&compactordv1.CompactionEntry{Summarizer: "fast", Model: "m-real", SummarizerCalls: 4},
			"  Summarizer  fast, m-real, 0s\n  Spent       4 requests, tokens unknown\n",
		},
		"both": {
			&compactordv1.CompactionEntry{
				Summarizer: "extractive", Model: "m-real", SummarizerCalls: 1, Fallback: fallback, FallbackCause: "why",
			},
			"  Summarizer  m-real, in part extractive, 0s\n  Fallback    why; extractive wrote instead\n  Spent       1 request, tokens unknown\n",
		},
		"the fallback": {
			&compactordv1.CompactionEntry{Summarizer: "extractive", Fallback: fallback, FallbackCause: "why"},
			"  Summarizer  extractive, 0s\n  Fallback    why; extractive wrote instead\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			printWriter(&out, test.entry)
			require.Equal(t, test.want, out.String())
		})
	}
}
