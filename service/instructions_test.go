package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func developer(text string) *compactordv1.Message {
	m := system(text)
	m.Role = compactordv1.Role_ROLE_DEVELOPER
	return m
}

// instruct replaces the instructions of session s.
func (d *daemon) instruct(messages ...*compactordv1.Message) *compactordv1.ReplaceInstructionsResponse {
	d.t.Helper()
	answer, err := d.sessions.ReplaceInstructions(d.t.Context(), &compactordv1.ReplaceInstructionsRequest{
		SessionId: "s", Messages: messages,
	})
	require.NoError(d.t, err)
	return answer
}

// beginning returns the texts of the messages that a view begins with.
func beginning(view []*compactordv1.ViewMessage) (texts []string) {
	for _, vm := range view {
		switch vm.GetMessage().GetRole() {
		case compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER:
			texts = append(texts, textOf(vm.GetMessage()))
		default:
			return texts
		}
	}
	return texts
}

// New instructions are in views from their record on, in place of those of the log, which keeps them. Views of earlier
// points have the earlier ones.
func TestInstructionsAreReplacedInViews(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", system("Old rules."), developer("Old style."), user("Go."), assistant("Done."))
	before, old := d.session("s").GetSession().GetPoint(), d.view("s")
	answer := d.instruct(system("New rules."), developer("New style."), system("And more."))
	require.Equal(t, before+1, answer.GetSequence())
	require.Equal(t, answer.GetSequence(), answer.GetPoint())
	require.Equal(t, tokensOf(d.view("s")), answer.GetReport().GetTokens())

	change := d.lastRecord("s").GetInstructions()
	require.Equal(t, uint32(2), change.GetReplaced())
	require.Equal(t, proto.Uint32(0), change.GetViewChange().ChangedFrom, "views change from their beginning")
	view := d.view("s")
	require.Equal(t, []string{"New rules.", "New style.", "And more."}, beginning(view))
	for _, vm := range view[:3] {
		require.Equal(t, answer.GetSequence(), vm.GetInstructions())
	}
	requireSameView(t, old[2:], view[3:])
	requireSameView(t, old, d.asOf(before))
	require.Equal(t, "Old rules.", textOf(d.messages("s")[0].GetMessage()))

	again := d.instruct(system("New rules."), developer("New style."), system("And more."))
	require.Nil(t, again.Sequence, "they are so already")
	require.Equal(t, answer.GetPoint(), again.GetPoint())
	d.instruct()
	requireSameView(t, old[2:], d.view("s"))
	d.requireSound(t)
}

// SYSTEM and DEVELOPER messages that are appended before any other message stand after the new instructions; later ones
// are messages of the conversation.
func TestLeadingMessagesAfterNewInstructions(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", system("Old rules."))
	d.instruct(system("New rules."))
	d.append("s", developer("The project is in Go."), user("Go."), assistant("Done."), system("Time is up."))
	view := d.view("s")
	require.Equal(t, []string{"New rules.", "The project is in Go."}, beginning(view))
	require.Equal(t, uint32(4), view[len(view)-1].GetIndex())
	d.instruct(system("Newest rules."))
	require.Equal(t, []string{"Newest rules."}, beginning(d.view("s")), "they replace the later one too")
	d.requireSound(t)
}

// A delta after new instructions begins anew where they are messages of the list. Where they stand beside it, they come
// with every answer, and the list goes on.
func TestDeltaAfterNewInstructions(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", system("Old rules."), user("Go."), assistant("Done."))
	for _, kind := range append(allKinds(), compactordv1.Dialect_DIALECT_UNSPECIFIED) {
		req := viewRequest()
		req.Dialect = kind
		next := func() *compactordv1.GetLLMViewResponse {
			answer, err := d.compactions.GetLLMView(t.Context(), req)
			require.NoError(t, err)
			req.ViewToken = answer.GetViewToken()
			return answer
		}
		next()
		require.Positive(t, next().GetUnchangedPrefix(), kind)
		rules := "Rules for " + kind.String()
		d.instruct(system(rules))
		changed := next()
		if kind == anthropic || kind == gemini {
			require.Equal(t, uint32(2), changed.GetUnchangedPrefix(), kind)
			require.Contains(t, strings.Join(changed.GetSystemJson(), ""), rules)
		} else {
			require.Zero(t, changed.GetUnchangedPrefix(), kind)
			require.Contains(t, changed.String(), rules)
		}
		require.Positive(t, next().GetUnchangedPrefix(), kind)
	}
}

// In every dialect the request begins with the new instructions, is valid, and has nothing of the old ones.
func TestNewInstructionsInEveryDialect(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.create("s", small(1000))
			d.append("s", append([]*compactordv1.Message{system("Old rules."), developer("Old style.")}, working(3, 900)[1:]...)...)
			d.append("s", user("And?"))
			for name, instructions := range map[string][]*compactordv1.Message{
				"new":  {system("New rules."), developer("New style.")},
				"none": {},
			} {
				d.instruct(instructions...)
				answer := d.render("s", kind)
				require.Empty(t, brokenRules(kind, answer, dialect.Request))
				all := strings.Join(append(answer.GetSystemJson(), answer.GetMessagesJson()...), "\n")
				require.NotContains(t, all, "Old")
				require.Equal(t, name == "new", strings.Contains(all, "New rules.") && strings.Contains(all, "New style."))
				require.Contains(t, all, "Request 1")
				if name == "new" {
					require.Less(t, strings.Index(all, "New style."), strings.Index(all, "Request 0"))
				}
			}
		})
	}
}

// Thinking is signed with all that comes before it. New instructions make it invalid: it is left out, also that of a tool
// loop that runs, and the client is told. Thinking that the model wrote after them stays.
func TestNewInstructionsMakeThinkingInvalid(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	loop := func(n string) string {
		return `{"role":"assistant","content":[{"type":"thinking","thinking":"t` + n + `","signature":"c2ln` + n + `=="},
			{"type":"tool_use","id":"toolu_` + n + `","name":"read","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_` + n + `","content":"ok"}]}`
	}
	d.append("s", system("Old rules."))
	d.appendJSON("s", anthropic, `[{"role":"user","content":"Measure."},`+loop("1")+`]`)
	require.Contains(t, strings.Join(d.render("s", anthropic).GetMessagesJson(), ""), "c2ln1==")
	d.instruct(system("New rules."))
	changed := d.render("s", anthropic)
	require.NotContains(t, strings.Join(changed.GetMessagesJson(), ""), "c2ln1==")
	require.True(t, changed.GetViewReport().GetDisableThinking())

	d.appendJSON("s", anthropic, `[{"role":"user","content":"Again."},`+loop("2")+`]`)
	later := d.render("s", anthropic)
	all := strings.Join(later.GetMessagesJson(), "")
	require.NotContains(t, all, "c2ln1==")
	require.Contains(t, all, "c2ln2==")
	require.False(t, later.GetViewReport().GetDisableThinking())

	// An answer that was made from a view with other instructions comes without its thinking.
	token := later.GetViewToken()
	d.instruct(system("Newest rules."))
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", ViewToken: token, ProviderJson: &compactordv1.ProviderJson{Dialect: anthropic, Json: "[" + loop("3") + "]"},
	})
	require.NoError(t, err)
	require.NotContains(t, strings.Join(d.render("s", anthropic).GetMessagesJson(), ""), "signature")
	d.appendJSON("s", anthropic, `[{"role":"user","content":"Once more."},`+loop("4")+`]`)

	// The same instructions again change nothing.
	require.Nil(t, d.instruct(system("Newest rules.")).Sequence)
	require.Contains(t, strings.Join(d.render("s", anthropic).GetMessagesJson(), ""), "c2ln4==")
}

// A revert to before the new instructions brings the old ones back, one to after them keeps them, and so do forks. Undo
// takes back a compaction, and with it the instructions that came after it, but passes over a change of instructions.
func TestInstructionsAtOtherPoints(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", append([]*compactordv1.Message{system("Old rules.")}, working(6, 2000)[1:]...)...)
	old := d.session("s").GetSession().GetPoint()
	d.instruct(system("New rules."))
	replaced := d.session("s").GetSession().GetPoint()
	d.requireUnchanged(t, func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), undo())
		requireReason(t, err, codes.FailedPrecondition, "NOTHING_TO_REVERT")
	})
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	compacted := d.view("s")
	require.Equal(t, []string{"New rules."}, beginning(compacted))
	require.NotEmpty(t, compacted[1].GetSummaryOf())
	require.NotContains(t, textOf(compacted[1].GetMessage()), "rules.", "a summary does not repeat instructions")
	d.append("s", user("Go on."))
	d.instruct(system("Newest rules."))
	latest := d.session("s").GetSession().GetPoint()
	for point, want := range map[uint32]string{old: "Old rules.", replaced: "New rules.", latest: "Newest rules."} {
		require.Equal(t, []string{want}, beginning(d.asOf(point)), point)
		fork := d.fork(&compactordv1.ForkSessionRequest{
			SessionId: "s", At: &compactordv1.ForkSessionRequest_Point{Point: point},
		}).GetSession().GetSessionId()
		requireSameView(t, d.asOf(point), d.view(fork))
	}

	d.revert(undo())
	require.Equal(t, []string{"New rules."}, beginning(d.view("s")), "those of before the compaction")
	requireSameView(t, d.asOf(replaced), d.view("s"))
	d.revert(toPoint(old))
	require.Equal(t, []string{"Old rules."}, beginning(d.view("s")))
	d.revert(toPoint(latest))
	require.Equal(t, []string{"Newest rules."}, beginning(d.view("s")))
	_, err = d.sessions.ClearSession(t.Context(), &compactordv1.ClearSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.Equal(t, []string{"Newest rules."}, beginning(d.view("s")), "they stay as they are now")
	require.Len(t, d.view("s"), 1)
	d.requireSound(t)
}

// A usage report counts the old instructions. After they were replaced, it says only how much is not in the log.
func TestUsageFromBeforeNewInstructions(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	answered := assistant("Done.")
	answered.Usage = &compactordv1.Usage{InputTokens: 7000, OutputTokens: 10}
	d.append("s", system("Old rules."), user("Go."))
	overhead := answered.GetUsage().GetInputTokens() - tokensOf(d.view("s"))
	d.append("s", answered)
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, d.session("s").GetReport().GetSource())
	report := d.instruct(system("New rules.")).GetReport()
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, report.GetSource())
	require.Equal(t, tokensOf(d.view("s"))+overhead, report.GetTokens())
}

// Instructions are SYSTEM and DEVELOPER messages of the client, of 1 MiB together.
func TestInstructionsThatAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", system("Old rules."))
	marker := system("x")
	marker.Origin = compactordv1.Origin_ORIGIN_MARKER
	calling := assistant("", call("a", "b", "{}"))
	calling.Role = compactordv1.Role_ROLE_SYSTEM
	for name, test := range map[string]struct {
		messages []*compactordv1.Message
		code     codes.Code
		reason   string
	}{
		"a user":      {[]*compactordv1.Message{system("x"), user("y")}, codes.InvalidArgument, "INVALID_FIELD"},
		"an origin":   {[]*compactordv1.Message{marker}, codes.InvalidArgument, "INVALID_FIELD"},
		"a tool call": {[]*compactordv1.Message{calling}, codes.InvalidArgument, "INVALID_FIELD"},
		"too many":    {make([]*compactordv1.Message, 65), codes.InvalidArgument, "INVALID_FIELD"},
		"too large":   {[]*compactordv1.Message{system(strings.Repeat("x", 1<<20))}, codes.ResourceExhausted, "LIMIT_EXCEEDED"},
	} {
		for i, m := range test.messages {
			if m == nil {
				test.messages[i] = system("x")
			}
		}
		d.requireUnchanged(t, func() {
			_, err := d.sessions.ReplaceInstructions(t.Context(), &compactordv1.ReplaceInstructionsRequest{
				SessionId: "s", Messages: test.messages,
			})
			require.Error(t, err, name)
			requireReason(t, err, test.code, test.reason)
		})
	}
}
