package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// In every dialect, the agent's own prompt for a summarizer is what the agent sends, up to the cut. All but the last
// message, which may be merged with what follows, are the same bytes.
func TestAgentsPromptIsAPrefixOfTheView(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		_, err := w.service.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: checkedSession, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}},
			Policy: &compactordv1.Policy{
				ContextWindow: proto.Uint32(8000),
				Summary: &compactordv1.SummaryPolicy{
					Summarizer: proto.String("recorder"), CachedPrefix: proto.Bool(true), Redact: proto.Bool(false),
				},
			},
		})
		require.NoError(t, err)
		w.recorder.do = func(
			ctx context.Context, req *summarizers.Request, p summarizers.Progress,
		) (*summarizers.Summary, error) {
			require.Equal(t, summarizers.History, req.Kind, "there is one summary of all that the cut covers")
			w.requirePrefix(ctx, req)
			return faithful(ctx, req, p)
		}
		for range between(t, 5, 40, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 60:
				w.message(t)
			case n < 80:
				w.compact(func() {})
			case n < 86:
				w.pin()
			case n < 92:
				w.planOnAgentsPrompt()
			default:
				w.prune()
			}
		}
		problems, err := sessionlog.Check(t.Context(), w.store, "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
	t.Log(describe(counts))
	if !fullRun() {
		return
	}
	for _, d := range dialects.All() {
		require.Greater(t, counts["prompt in "+d.Name()], 10)
	}
	require.Greater(t, counts["prompt equal to its last message"], 50)
	require.Greater(t, counts["prompt that an earlier summary is in"], 10)
	require.Greater(t, counts["plan on the agent's prompt"], 10)
}

// upTo returns the messages of a view before the first kept one.
func upTo(view []*compactordv1.ViewMessage, firstKept uint32) []*compactordv1.ViewMessage {
	kept := slices.IndexFunc(view, func(vm *compactordv1.ViewMessage) bool {
		index := vm.GetIndex()
		if repair := vm.GetLogRepair(); repair != nil {
			index = repair.GetIndex()
		}
		return vm.GetSummaryOf() == "" && !vm.GetOutOfPlace() && index >= firstKept
	})
	if kept < 0 {
		return view
	}
	return view[:kept]
}

// planOnAgentsPrompt plans a compaction by the client, whose prompt must follow all of the view up to the cut.
func (w *checkedService) planOnAgentsPrompt() {
	plan, err := w.service.PlanCompaction(w.t.Context(), &compactordv1.PlanCompactionRequest{
		SessionId: checkedSession, Policy: w.compactPolicy(),
	})
	require.NoError(w.t, err)
	for _, prompt := range plan.GetPrompts() {
		if prompt.ViewMessages != nil {
			w.counts["plan on the agent's prompt"]++
			require.Len(w.t, upTo(w.view(), plan.GetPlan().GetCut().GetFirstKeptIndex()), int(prompt.GetViewMessages()))
		}
	}
}

// requirePrefix compares the agent's own prompt of a request with the agent's view.
func (w *checkedService) requirePrefix(ctx context.Context, req *summarizers.Request) {
	firstKept := req.Messages[len(req.Messages)-1].GetIndex() + 1
	covered := upTo(w.view(), firstKept)
	var shown []*compactordv1.Message
	for _, vm := range covered {
		shown = append(shown, vm.GetMessage())
	}
	if slices.ContainsFunc(covered, func(vm *compactordv1.ViewMessage) bool { return vm.GetSummaryOf() != "" }) {
		w.counts["prompt that an earlier summary is in"]++
	}
	for _, d := range dialects.All() {
		agents := &follower{}
		if _, err := w.follow(d, agents, 64<<20); err != nil {
			w.counts["calls are open"]++
			continue
		}
		prompt, err := req.View(ctx, d.Kind())
		require.NoError(w.t, err, d.Name())
		require.Equal(w.t, agents.system, listed(prompt.System), d.Name())
		messages := listed(prompt.Messages)
		whole, err := d.Render(shown, dialect.RenderOptions{
			Adaptive: session.ThinksAdaptively(w.row().GetResolvedPolicy(), session.ViewOptions{}),
		})
		require.NoError(w.t, err)
		require.Equal(w.t, listed(whole.Messages), messages, "all up to the cut, and nothing else")
		require.LessOrEqual(w.t, len(messages), len(agents.messages))
		if len(messages) == 0 {
			continue
		}
		last := len(messages) - 1
		require.Equal(w.t, agents.messages[:last], messages[:last], d.Name())
		w.counts["prompt in "+d.Name()]++
		if agents.messages[last] == messages[last] {
			w.counts["prompt equal to its last message"]++
		}
	}
}

func listed[T ~[]byte](raw []T) []string {
	var all []string
	for _, one := range raw {
		all = append(all, string(one))
	}
	return slices.Clip(all)
}

// With secrets replaced, the prompt is the agent's own up to the first secret. After that it has no thinking, since
// that is bound to the original text.
func TestAgentsPromptIsRedacted(t *testing.T) {
	t.Parallel()
	secret := redactiontest.Credentials(1, 1)[0]
	thought := func(text string) *compactordv1.Message {
		m := assistant("I see.")
		m.Parts = append([]*compactordv1.Part{{
			Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}},
			Attachments: []*compactordv1.Attachment{
				{Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Key: "signature", Json: `"c2ln"`},
			},
		}}, m.GetParts()...)
		return m
	}
	var views []*summarizers.View
	model := persisting(func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		for _, kind := range []compactordv1.Dialect{
			compactordv1.Dialect_DIALECT_ANTHROPIC, compactordv1.Dialect_DIALECT_OPENAI_CHAT,
		} {
			view, err := req.View(ctx, kind)
			if err != nil {
				return nil, err
			}
			views = append(views, view)
		}
		return faithful(ctx, req, p)
	})
	d := start(t, withSummarizer(model))
	policy := by("model", noFallback, small(100))
	policy.Summary.CachedPrefix = proto.Bool(true)
	d.create("s", policy)
	d.append("s", system("Be brief."), user("Please look. "+long(2000)), thought("First."), user("Go on."),
		assistant("Calling.", call("c", "bash", `{"command":"deploy"}`)), toolResult("c", "used "+secret.Text),
		thought("Second."), user("Then?"), thought("Third."), user(long(4000)), assistant("Done."))
	before, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC,
	})
	require.NoError(t, err)
	_, err = d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	prompt := listed(views[0].Messages)
	require.Len(t, prompt, 8, "all up to the cut, the system prompt apart")
	require.Equal(t, before.GetMessagesJson()[:4], prompt[:4])
	require.Contains(t, prompt[1], "c2ln")
	joined := strings.Join(prompt, "\n")
	require.NotContains(t, joined, secret.Secret)
	require.Contains(t, joined, "[REDACTED:")
	require.NotContains(t, joined, "Second.")
	require.NotContains(t, joined, "Third.")
	require.NotContains(t, strings.Join(listed(views[1].Messages), "\n"), secret.Secret)
}

// An opaque item with a secret is not sent, since it cannot be changed.
func TestAgentsPromptWithASecretInAnItem(t *testing.T) {
	t.Parallel()
	secret := redactiontest.Credentials(1, 1)[0]
	item, err := json.Marshal(map[string]string{"type": "server_tool_use", "id": "x", "name": "n", "input": secret.Text})
	require.NoError(t, err)
	drawn := errors.New("never drawn")
	model := persisting(func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		_, drawn = req.View(ctx, compactordv1.Dialect_DIALECT_OPENAI_CHAT)
		return faithful(ctx, req, p)
	})
	d := start(t, withSummarizer(model))
	policy := by("model", noFallback, small(100))
	policy.Summary.CachedPrefix = proto.Bool(true)
	d.create("s", policy)
	opaque := &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: &compactordv1.OpaquePart{
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Type: "server_tool_use", Json: string(item),
	}}}
	withItem := assistant("I do.")
	withItem.Parts = append(withItem.Parts, opaque)
	d.append("s", user("Please look. "+long(2000)), withItem, user(long(4000)), assistant("Done."))
	_, err = d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.ErrorContains(t, drawn, "item holds a secret")
}
