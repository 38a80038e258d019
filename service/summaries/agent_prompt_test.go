package summaries_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// showing returns a task whose prompt follows the agent's own one, which has these messages.
func showing(messages ...*compactordv1.Message) *summaries.Task {
	task := conversation()
	view := &session.View{Report: &compactordv1.ViewReport{}}
	for i, m := range messages {
		view.Messages = append(view.Messages, &compactordv1.ViewMessage{
			Message: m, Origin: &compactordv1.ViewMessage_Index{Index: uint32(i)},
		})
	}
	task.AgentView = agentViewOf(view)
	return task
}

// agentViewOf returns this view as the agent's own prompt in each dialect.
func agentViewOf(view *session.View) *summaries.AgentView {
	return &summaries.AgentView{
		Outline: view,
		Read:    func(context.Context, compactordv1.Dialect) (*session.View, error) { return view, nil },
	}
}

func said(role compactordv1.Role, parts ...*compactordv1.Part) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: parts}
}

func thought(text string) *compactordv1.Part {
	return &compactordv1.Part{
		Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}},
		Attachments: []*compactordv1.Attachment{{Dialect: anthropic, Key: "signature", Json: `"c2ln"`}},
	}
}

const (
	asUser      = compactordv1.Role_ROLE_USER
	asAssistant = compactordv1.Role_ROLE_ASSISTANT
	anthropic   = compactordv1.Dialect_DIALECT_ANTHROPIC
)

// The prompt is what the agent sends, up to the first secret. After that it has no thinking, since the provider bound
// that to the original. Messages that had only thinking are left out.
func TestAgentsPromptUpToTheFirstSecret(t *testing.T) {
	leak := redactiontest.Credentials(1, 1)[0]
	noted := session.TextPart("See there.")
	noted.Attachments = []*compactordv1.Attachment{{Dialect: anthropic, Key: "context", Json: `"a note"`}}
	view := []*compactordv1.Message{
		said(asUser, session.TextPart("Mend the parser.")),
		said(asAssistant, thought("I think."), session.TextPart("I see.")),
		said(asUser, session.TextPart(leak.Text), noted),
		said(asAssistant, thought("More.")),
		said(asAssistant, thought("Still."), session.TextPart("Done.")),
	}
	for name, c := range map[string]struct {
		tools string
		kept  bool
	}{
		"a secret in a message": {`[{"name":"read"}]`, true},
		"a secret in the tools": {`[{"name":"read","token":"` + leak.Secret + `"}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t, says(""), redacting, func(op *summaries.Operation) {
				op.Policy.Summary.ToolsJson = proto.String(c.tools)
			})
			prompt, err := w.WriteRequests(showing(view...))[0].View(t.Context(), anthropic)
			require.NoError(t, err)
			all := string(prompt.Tools)
			for _, m := range prompt.Messages {
				all += string(m)
			}
			require.NotContains(t, all, leak.Secret)
			require.Contains(t, all, "Done.")
			require.Equal(t, c.kept, string(prompt.Tools) == c.tools)
			require.Equal(t, c.kept, strings.Contains(all, "I think."))
			require.NotContains(t, all, "a note", "it was bound to what stood there")
			require.NotContains(t, all, "More.")
			require.NotContains(t, all, "Still.")
		})
	}
}

// A prompt that cannot be the agent's own is not rendered.
func TestAgentsPromptThatCannotBeRendered(t *testing.T) {
	leak := redactiontest.Credentials(1, 1)[0]
	calling := said(asAssistant, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
		Id: leak.Secret, Name: "read", Arguments: "{}",
	}}})
	for name, c := range map[string]struct {
		kind    compactordv1.Dialect
		message *compactordv1.Message
		tools   string
		says    string
	}{
		"in no dialect":                 {compactordv1.Dialect_DIALECT_UNSPECIFIED, said(asUser, session.TextPart("x")), "", "no dialect"},
		"with a secret in a call's id":  {anthropic, calling, "", "the name or the id of a call"},
		"whose tools hold nothing else": {anthropic, said(asUser, session.TextPart("x")), `["` + leak.Secret + `"]`, "the agent's tools hold a secret"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t, says(""), redacting, func(op *summaries.Operation) {
				op.Policy.Summary.ToolsJson = proto.String(c.tools)
			})
			_, err := w.WriteRequests(showing(c.message))[0].View(t.Context(), c.kind)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), leak.Secret)
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(apierror.ErrCancelled)
	w := newWriter(t, says(""), redacting)
	_, err := w.WriteRequests(showing(said(asUser, session.TextPart("x"))))[0].View(ctx, anthropic)
	require.ErrorIs(t, err, apierror.ErrCancelled)
}

// A summary whose prompt follows the agent's own one says so. The part of a turn has a separate prompt.
func TestSummaryOnTheAgentsPrompt(t *testing.T) {
	model := says(goal("Mend it."))
	told := model.do
	model.do = func(ctx context.Context, req *summarizers.Request, p summarizers.Progress) (*summarizers.Summary, error) {
		s, err := told(ctx, req, p)
		s.CachedPrefix = true
		return s, err
	}
	w := newWriter(t, model)
	written, err := w.Write(t.Context(), showing(said(asUser, session.TextPart("Mend the parser."))))
	require.NoError(t, err)
	require.True(t, written.CachedPrefix)
}

func TestToolsAreAListOfObjects(t *testing.T) {
	for tools, problem := range map[string]string{
		"": "", `[]`: "", `[{"name":"read"}]`: "", `{}`: "no JSON array", `null`: "no JSON array", `[1]`: "element 0 is none",
		`[{},"x"]`: "element 1 is none", `[{}`: "no JSON array",
	} {
		err := summaries.CheckTools(&compactordv1.SummaryPolicy{ToolsJson: &tools})
		if problem == "" {
			require.NoError(t, err, tools)
		} else {
			require.ErrorContains(t, err, problem, tools)
		}
	}
}
