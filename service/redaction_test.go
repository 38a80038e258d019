package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
	"github.com/compactord/compactord/summarizers/openai"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// lockedBuffer receives logs of several goroutines.
type lockedBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// planted is a daemon with a session that has credentials in every place of a conversation, and a provider that records
// its requests.
type planted struct {
	*daemon
	provider    *llmtest.Server
	credentials []redactiontest.Credential
	messages    []*compactordv1.Message
	log         *lockedBuffer
	metrics     *prometheus.Registry
}

// plant starts one. The model's texts have credentials, too: those of leaks.
func plant(t *testing.T, policy *compactordv1.Policy, leaks []redactiontest.Credential, options ...option) *planted {
	t.Helper()
	p := &planted{
		provider: llmtest.New(t), credentials: redactiontest.Credentials(21, 200), log: &lockedBuffer{}, metrics: prometheus.NewRegistry(),
	}
	provider, err := openai.New(openai.Options{Model: "m", BaseURL: p.provider.BaseURL(llmtest.Chat), HTTPClient: p.provider.Client()})
	require.NoError(t, err)
	registry, err := summarizers.NewRegistry(extractive.New(), llm.New(llm.Profile{
		Name: "fast", Kind: "openai", Model: "m", Window: 400_000, MaxOutput: 16_000,
	}, provider))
	require.NoError(t, err)
	var lines []string
	for _, c := range leaks {
		lines = append(lines, "The model says "+strings.Join(strings.Fields(c.Text), " "))
	}
	p.provider.Handle(func(*llmtest.Request) llmtest.Reply {
		return llmtest.Summary(llmtest.Written{Lines: lines, Echo: regexp.MustCompile(`\[REDACTED:[a-z-]+:[0-9a-f]{4}\]`)})
	})
	p.daemon = start(t, append(options, func(o *service.ServerOptions) {
		o.Summarizers, o.Metrics = registry, p.metrics
		o.Logger = slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})...)
	p.create("s", policy)
	p.messages = []*compactordv1.Message{system("Be careful.")}
	for i := 0; i+4 <= len(p.credentials); i += 4 {
		inUser, inCall, inResult, inThinking := p.credentials[i], p.credentials[i+1], p.credentials[i+2], p.credentials[i+3]
		arguments, err := json.Marshal(map[string]string{"command": inCall.Text})
		require.NoError(t, err)
		id := fmt.Sprintf("call-%d", i)
		thinking := assistant("I will see.", call(id, "bash", string(arguments)))
		thinking.Parts = append([]*compactordv1.Part{{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{
			Text: "He said: " + inThinking.Text,
		}}}}, thinking.GetParts()...)
		p.messages = append(p.messages, user("Use this.\n"+inUser.Text+"\nPlease."), thinking,
			toolResult(id, "Output:\n"+inResult.Text+strings.Repeat("\nA line of no interest.", 60)), assistant("Done."))
	}
	p.append("s", p.messages...)
	p.append("s", user("And now the rest."), assistant("Done."))
	return p
}

// sent returns everything that the provider was sent, as bytes and as text.
func (p *planted) sent() string {
	var all strings.Builder
	for _, r := range p.provider.Requests() {
		all.Write(r.Body)
		all.WriteString("\n" + r.Text() + "\n")
	}
	return all.String()
}

// leaked returns the kinds of the credentials that have a line in a text.
func leaked(text string, credentials []redactiontest.Credential) (kinds []string) {
	for _, c := range credentials {
		for line := range strings.FieldsSeq(strings.ReplaceAll(c.Secret, `\n`, "\n")) {
			if len(line) > 10 && !strings.HasPrefix(line, "-----") && strings.Contains(text, line) {
				kinds = append(kinds, c.Kind)
				break
			}
		}
	}
	return kinds
}

func summarizedBy(name string, redact *bool) *compactordv1.Policy {
	policy := small(10)
	policy.ContextWindow = proto.Uint32(400_000)
	policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String(name), Fallback: noFallback.Enum(), Redact: redact}
	return policy
}

// compacted compacts the session with a credential in the focus, and returns everything that is reported of it.
func (p *planted) compacted(t *testing.T, focus string) (*compactordv1.CompactionCompleted, string) {
	t.Helper()
	request := compactRequest("s", nil)
	request.Focus = focus
	events, err := p.compact(request)
	require.NoError(t, err)
	completed := last(t, events).GetCompleted()
	require.NotNil(t, completed)
	var told strings.Builder
	for _, e := range events {
		told.WriteString(protojson.Format(e) + "\n")
		told.WriteString(e.GetSummaryDelta().GetText())
	}
	records, err := p.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s"})
	require.NoError(t, err)
	for _, r := range records.GetRecords() {
		told.WriteString(protojson.Format(r) + "\n")
	}
	told.WriteString(completed.GetCompaction().GetSummary())
	return completed, told.String()
}

// observed returns the logs and metrics.
func (p *planted) observed(t *testing.T) string {
	t.Helper()
	families, err := p.metrics.Gather()
	require.NoError(t, err)
	return p.log.String() + fmt.Sprint(families)
}

// requireRecalled asserts that the messages are as they were appended, byte for byte.
func (p *planted) requireRecalled(t *testing.T) {
	t.Helper()
	for i, m := range p.messages {
		for j, part := range m.GetParts() {
			request := recallOf(uint32(i))
			request.Part = proto.Uint32(uint32(j))
			want := part.GetText().GetText() + part.GetThinking().GetText() + part.GetToolCall().GetArguments()
			for _, piece := range part.GetToolResult().GetParts() {
				want += piece.GetText().GetText()
			}
			require.Equal(t, want, p.recall(request).GetText(), "message %d, part %d", i, j)
		}
	}
}

// None of 200 credentials leaves the daemon or is stored in what it writes, wherever in the conversation they are. The
// log keeps them.
func TestTwoHundredCredentialsStayInTheLog(t *testing.T) {
	t.Parallel()
	leaks := redactiontest.Credentials(22, 10)
	focus := redactiontest.Credentials(23, 7)[6]
	p := plant(t, summarizedBy("fast", nil), leaks)
	completed, told := p.compacted(t, "Mind "+focus.Text)
	require.Equal(t, "fast", completed.GetCompaction().GetProvenance().GetSummarizer())
	require.NotEmpty(t, p.provider.Requests())
	everything := append(append([]redactiontest.Credential{focus}, leaks...), p.credentials...)
	require.Empty(t, leaked(p.sent(), everything))
	require.Empty(t, leaked(told, everything))
	require.Empty(t, leaked(p.observed(t), everything))
	require.Contains(t, completed.GetCompaction().GetSummary(), "[REDACTED:")
	require.GreaterOrEqual(t, completed.GetCompaction().GetProvenance().GetRedactions(), uint32(200))
	p.requireRecalled(t)
}

// toolsWith returns tool definitions with credentials in descriptions, defaults and names.
func toolsWith(t *testing.T, credentials []redactiontest.Credential) string {
	t.Helper()
	var tools []map[string]any
	for i, c := range credentials {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": fmt.Sprintf("tool_%d", i), "description": "Used so:\n" + c.Text,
			"parameters": map[string]any{"type": "object", "properties": map[string]any{
				"command": map[string]any{"type": "string", "default": c.Text},
				"nested":  map[string]any{"type": "string", "examples": []string{`{"run": ` + string(asJSON(t, c.Text)) + `}`}},
			}},
		}})
	}
	return string(asJSON(t, tools))
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

// Credentials in the agent's tools do not leave the daemon either, where the tools are sent with the agent's own
// prompt.
func TestTwoHundredCredentialsInTools(t *testing.T) {
	t.Parallel()
	inTools := redactiontest.Credentials(24, 200)
	for name, redact := range map[string]*bool{"redacted": nil, "as they are": proto.Bool(false)} {
		t.Run(name, func(t *testing.T) {
			policy := summarizedBy("fast", redact)
			policy.Summary.CachedPrefix = proto.Bool(true)
			policy.Summary.ToolsJson = proto.String(toolsWith(t, inTools))
			p := plant(t, policy, nil)
			completed, told := p.compacted(t, "")
			require.True(t, completed.GetCompaction().GetProvenance().GetCachedPrefix())
			require.Contains(t, p.sent(), "tool_199")
			if redact != nil {
				require.Greater(t, len(leaked(p.sent(), inTools)), 190)
				return
			}
			everything := slices.Concat(inTools, p.credentials)
			require.Empty(t, leaked(p.sent(), everything))
			require.Empty(t, leaked(told, p.credentials), "the policy is told as it was given")
			require.Empty(t, leaked(protojson.Format(completed.GetCompaction()), everything))
			require.Empty(t, leaked(p.observed(t), everything))
		})
	}
}

// Tools without secrets are sent byte for byte. Of others, only the strings with secrets change. Where redaction leaves
// no valid list of tools, the conversation is sent as text.
func TestToolsWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	secret := redactiontest.Credentials(1, 1)[0].Secret
	for name, c := range map[string]struct{ given, want string }{
		"none":    {`[ {"name":"re\u0061d", "n": 1.0e2, "d":"<&> \" \/"} ]`, `[ {"name":"re\u0061d", "n": 1.0e2, "d":"<&> \" \/"} ]`},
		"one":     {`[ {"d":"<b> \" ` + secret + `", "n": 1.0e2, "e":"\u0061"} ]`, `[ {"d":"<b> \" REDACTED", "n": 1.0e2, "e":"\u0061"} ]`},
		"escaped": {`[{"d":"\u` + fmt.Sprintf("%04x", secret[0]) + secret[1:] + `"}]`, `[{"d":"REDACTED"}]`},
		"named":   {`[{"password":"kT9xq2LmV7wRz4Bn"}]`, `[{"password":"REDACTED"}]`},
		"broken":  {`[{"d":["-----BEGIN RSA PRIVATE KEY-----",4096174309122837465091]}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var sent string
			model := persisting(func(
				ctx context.Context, req *summarizers.Request, p summarizers.Progress,
			) (*summarizers.Summary, error) {
				if view, err := req.View(ctx, compactordv1.Dialect_DIALECT_OPENAI_CHAT); err == nil {
					sent = string(view.Tools)
				}
				return faithful(ctx, req, p)
			})
			d := start(t, withSummarizer(model))
			policy := by("model", noFallback, small(1000))
			policy.Summary.CachedPrefix, policy.Summary.ToolsJson = proto.Bool(true), proto.String(c.given)
			d.create("s", policy)
			d.append("s", working(10, 2000)...)
			_, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.Equal(t, c.want, regexp.MustCompile(`\[REDACTED:[a-z-]+:[0-9a-f]{4}\]`).ReplaceAllString(sent, "REDACTED"))
		})
	}
}

// Without redaction they are sent as they are.
func TestWithoutRedactionAllIsSent(t *testing.T) {
	t.Parallel()
	p := plant(t, summarizedBy("fast", proto.Bool(false)), nil)
	completed, _ := p.compacted(t, "")
	require.Zero(t, completed.GetCompaction().GetProvenance().GetRedactions())
	require.Greater(t, len(leaked(p.sent(), p.credentials)), 190)
}

// Texts that are stored without a model are redacted, too.
func TestExtractiveSummariesAreRedacted(t *testing.T) {
	t.Parallel()
	p := plant(t, summarizedBy("extractive", nil), nil)
	_, told := p.compacted(t, "")
	require.Empty(t, p.provider.Requests())
	require.Empty(t, leaked(told, p.credentials))
	require.Empty(t, leaked(p.observed(t), p.credentials))
}

// Shorter tool results of a model are redacted.
func TestShorterResultsAreRedacted(t *testing.T) {
	t.Parallel()
	leaks := redactiontest.Credentials(22, 10)
	policy := summarizedBy("fast", nil)
	policy.Strategy = &compactordv1.Strategy{Kind: &compactordv1.Strategy_Custom{Custom: &compactordv1.CustomStrategy{Name: "shortener"}}}
	var results []uint32
	for i := range uint32(12) {
		results = append(results, 3+4*i)
	}
	p := plant(t, policy, leaks[:1], withStrategy(&shortener{results: results}))
	completed, told := p.compacted(t, "")
	require.NotNil(t, completed.GetPrune())
	require.NotEmpty(t, p.provider.Requests())
	everything := append(append([]redactiontest.Credential{}, leaks...), p.credentials...)
	require.Empty(t, leaked(p.sent(), everything))
	require.Empty(t, leaked(told, everything))
	require.Empty(t, leaked(p.observed(t), everything))
	p.requireRecalled(t)
}

// The replacement of a short secret is longer: a text that just fitted was over its budget, and nothing was compacted.
func TestManyShortSecretsAreCompacted(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	messages := working(20, 500)
	for i := range 200 {
		messages = append(messages, assistant("Good."),
			user(fmt.Sprintf("Always connect with postgres://u%d:pw%04dxQ@db%d/x and password=hunter%04dZ", i, 37*i, i, 91*i+17)))
	}
	d.append("s", messages...)
	events, err := d.compactFor(manual, nil)
	require.NoError(t, err)
	require.Nil(t, last(t, events).GetSkipped())
	entry := last(t, events).GetCompleted().GetCompaction()
	require.Positive(t, entry.GetProvenance().GetRedactions())
	require.NotContains(t, entry.GetSummary(), "hunter")
}
