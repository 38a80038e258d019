package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/compactord/compactord/e2e/corpus"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// history describes, in lines to read, what was done to a session while it grew.
type history struct {
	strings.Builder
	*corpus.Replay
}

// historyOf replays messages under a policy and returns the history.
func historyOf(t *testing.T, policy *compactordv1.Policy, messages []*compactordv1.Message) string {
	t.Helper()
	c := &history{Replay: corpus.NewReplay(t, policy)}
	c.begin(messages)
	for _, m := range messages {
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && c.Due(t) {
			c.due(t)
		}
		c.arrived(c.Append(t, m))
	}
	c.end()
	return c.String()
}

func (c *history) line(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

func (c *history) begin(messages []*compactordv1.Message) {
	trigger, _ := session.TriggerTokens(c.Policy)
	c.line("%d messages in a window of %d tokens; compaction is due at %d", len(messages), c.Policy.GetContextWindow(), trigger)
	if groups := c.Policy.GetTrigger().GetTriggerToolGroups(); groups > 0 {
		c.line("or at %d tool groups", groups)
	}
	c.line("")
}

// due compacts, and describes the plan and its effect.
func (c *history) due(t *testing.T) {
	t.Helper()
	before, at := c.Writer.Head.GetViewTokens(), len(c.Writer.Messages)
	plan := c.Run(t, threshold, c.Policy.GetStrategy())
	if reason := plan.GetSkipReason(); reason != 0 {
		c.line("before message %d: %d tokens, skipped: %s", at, before, short(reason, "SKIP_REASON_"))
		return
	}
	c.line("before message %d: %d tokens, then %d", at, before, c.Writer.Head.GetViewTokens())
	c.plan(plan)
}

func (c *history) plan(plan *compactordv1.CompactionPlan) {
	if cut := plan.GetCut(); cut != nil {
		split := ""
		if cut.SplitTurnStart != nil {
			split = fmt.Sprintf(", within the turn of %d", cut.GetSplitTurnStart())
		}
		c.line("  cut at %d%s: %d to %d are summarized, %d tokens in at most %d", cut.GetFirstKeptIndex(), split,
			cut.GetSummarized().GetStart(), cut.GetSummarized().GetEnd()-1, plan.GetSummarizerInputTokens(),
			cut.GetMaxSummaryTokens())
	}
	byKind := make(map[compactordv1.EditKind][]string)
	var kinds []compactordv1.EditKind
	for _, e := range plan.GetEdits() {
		if byKind[e.GetKind()] == nil {
			kinds = append(kinds, e.GetKind())
		}
		byKind[e.GetKind()] = append(byKind[e.GetKind()], fmt.Sprintf("%d.%d -%d", e.GetIndex(), e.GetPart(), e.GetTokensFreed()))
	}
	for _, kind := range kinds {
		c.line("  %s: %s", short(kind, "EDIT_KIND_"), strings.Join(byKind[kind], ", "))
	}
}

// arrived describes the arrival edits of a message, and what on_user_message did.
func (c *history) arrived(l *compactordv1.LoggedMessage) {
	for _, e := range l.GetArrivalEdits() {
		c.line("message %d: %s of %d tokens, -%d", l.GetIndex(), short(e.GetKind(), "EDIT_KIND_"), l.GetTokens(),
			e.GetTokensFreed())
	}
	if n := len(c.OnUserMessage); n > 0 && c.OnUserMessage[n-1].Length == len(c.Writer.Messages) {
		c.line("with message %d: %d tokens, then %d", l.GetIndex(), c.OnUserMessage[n-1].Before, c.OnUserMessage[n-1].After)
		c.plan(c.OnUserMessage[n-1].Plan)
	}
}

// end describes the view at the end, with a line for each message.
func (c *history) end() {
	view := c.Writer.State().View(session.ViewOptions{})
	c.line("")
	c.line("the view at the end: %d tokens", view.Tokens)
	for _, vm := range view.Messages {
		c.line("  %s", viewLine(vm))
	}
}

// viewLine describes a message of a view in one line.
func viewLine(vm *compactordv1.ViewMessage) string {
	var from string
	switch origin := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		from = fmt.Sprint(origin.Index)
	case *compactordv1.ViewMessage_SummaryOf:
		from = "summary"
	case *compactordv1.ViewMessage_Folded:
		from = fmt.Sprintf("fold of %d to %d", origin.Folded.GetStart(), origin.Folded.GetEnd()-1)
	case *compactordv1.ViewMessage_LogRepair:
		from = fmt.Sprintf("%s %d.%d", short(origin.LogRepair.GetKind(), "LOG_REPAIR_KIND_"), origin.LogRepair.GetIndex(), origin.LogRepair.GetPart())
	}
	m := vm.GetMessage()
	words := []string{from, short(m.GetRole(), "ROLE_"), fmt.Sprint(vm.GetTokens())}
	for _, kind := range vm.GetEdits() {
		words = append(words, short(kind, "EDIT_KIND_"))
	}
	for _, p := range m.GetParts() {
		words = append(words, partText(p))
	}
	return strings.Join(words, " | ")
}

func partText(p *compactordv1.Part) string {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return shortened(k.Text.GetText())
	case *compactordv1.Part_Thinking:
		return "thinks: " + shortened(k.Thinking.GetText())
	case *compactordv1.Part_ToolCall:
		return k.ToolCall.GetName() + shortened(k.ToolCall.GetArguments())
	case *compactordv1.Part_Media:
		return k.Media.GetName()
	case *compactordv1.Part_ToolResult:
		return resultText(k.ToolResult)
	default:
		return "?"
	}
}

func resultText(r *compactordv1.ToolResult) string {
	var words []string
	if r.GetIsError() {
		words = append(words, "error:")
	}
	for _, p := range r.GetParts() {
		switch k := p.GetKind().(type) {
		case *compactordv1.ResultPart_Text:
			words = append(words, shortened(k.Text.GetText()))
		case *compactordv1.ResultPart_Media:
			words = append(words, k.Media.GetName())
		}
	}
	return strings.Join(words, " ")
}

// shortened returns the beginning of a text as one line.
func shortened(text string) string {
	const most = 60
	text = strings.ReplaceAll(text, "\n", "/")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// short returns the name of an enum's value without the prefix of all its names.
func short(value fmt.Stringer, prefix string) string {
	return strings.TrimPrefix(value.String(), prefix)
}

// planLine describes a plan in one line, without a word of the conversation.
func planLine(plan *compactordv1.CompactionPlan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d>%s>%d", plan.GetTokensBefore(), plan.GetSkipReason(), plan.GetSummarizerInputTokens())
	if cut := plan.GetCut(); cut != nil {
		fmt.Fprintf(&b, " cut %d %d-%d %d", cut.GetFirstKeptIndex(), cut.GetSummarized().GetStart(),
			cut.GetSummarized().GetEnd(), cut.GetMaxSummaryTokens())
		if cut.SplitTurnStart != nil {
			fmt.Fprintf(&b, " split %d", cut.GetSplitTurnStart())
		}
	}
	for _, e := range plan.GetEdits() {
		fmt.Fprintf(&b, " %s %d.%d-%d", e.GetKind(), e.GetIndex(), e.GetPart(), e.GetTokensFreed())
	}
	return b.String()
}
