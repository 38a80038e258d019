// Package replay repeats a recorded conversation under a policy, as an agent would have had it: it appends the messages,
// compacts when a report asks for it, and fetches the view before each answer of the model. The recorded answers stay the
// same, whatever the views lack.
package replay

import (
	"context"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Figures are the figures of a replay, with the field names of the JSON document.
type Figures struct {
	// Requests is the number of requests to the model.
	Requests uint32 `json:"requests"`
	// TriggerTokens and TriggerToolGroups are the preset's triggers; nil where it has none. A trigger by the conversation
	// is beside the leading messages, so TriggerTokens is that of the last request.
	TriggerTokens     *uint32 `json:"trigger_tokens,omitempty"`
	TriggerToolGroups *uint32 `json:"trigger_tool_groups,omitempty"`
	// Disabled says that compaction is never due: the preset's numbers leave nothing of the window.
	Disabled bool `json:"disabled,omitempty"`
	// Rewrites is how often the view was rewritten, and Compactions how often with a summary. Skipped is how many
	// compactions were due and did nothing.
	Rewrites    uint32 `json:"rewrites"`
	Compactions uint32 `json:"compactions"`
	Skipped     uint32 `json:"skipped"`
	// PeakTokens is the size of the largest request.
	PeakTokens uint32 `json:"peak_tokens"`
	// RequestsDue is how many requests were sent although compaction was due. RequestsOverWindow is how many a provider
	// would refuse.
	RequestsDue        uint32 `json:"requests_due"`
	RequestsOverWindow uint32 `json:"requests_over_window"`
	// RequestsUnreachable is how many were above the trigger because of what no compaction can remove, and FixedTokens is
	// the most that it could not remove there.
	RequestsUnreachable uint32 `json:"requests_unreachable"`
	FixedTokens         uint32 `json:"fixed_tokens,omitempty"`
	// SentTokens is the sum of all requests. ReusedTokens is the part with which the request before began too.
	SentTokens   uint64 `json:"sent_tokens"`
	ReusedTokens uint64 `json:"reused_tokens"`
	// LastTokens and LastMessages are the size of the last request.
	LastTokens   uint32 `json:"last_tokens"`
	LastMessages uint32 `json:"last_messages"`

	// Spent is not in the document of the comparison, in which no model writes.
	Spent Spent `json:"-"`
}

// Spent is what models spent on the summaries of a replay. It is zero where no model wrote.
type Spent struct {
	InputTokens, OutputTokens uint64
	// Dollars is the cost of those whose price is configured.
	Dollars float64
}

// Request is a request to the model.
type Request struct {
	// Logged is the number of messages in the log: the index of the answer.
	Logged int
	View   []*compactordv1.ViewMessage
	// Tokens is its size, as the report counts it.
	Tokens uint32
}

// agent is the replayed agent.
type agent struct {
	*conversation.Conversation
	Figures
	policy *compactordv1.Policy
	// sent is called with each request; it may be nil.
	sent func(Request)

	// report is the report of the last append.
	report *compactordv1.ContextReport
	// view is the last view, and token its view token.
	view  []*compactordv1.ViewMessage
	token string
	// logged is the number of messages in the log.
	logged int
}

// Run replays the messages under a policy in a new session, which is deleted at the end. It calls sent, which may be nil,
// with each request to the model.
func Run(
	ctx context.Context, c *conversation.Conversation, messages []*compactordv1.Message, policy *compactordv1.Policy, sent func(Request),
) (*Figures, error) {
	resolved, err := c.Create(ctx, policy)
	if err != nil {
		return nil, err
	}
	a := &agent{Conversation: c, policy: resolved, sent: sent}
	a.Disabled = !resolved.GetTrigger().GetEnabled()
	if resolved.GetTrigger().GetEnabled() {
		a.TriggerToolGroups = resolved.GetTrigger().TriggerToolGroups
		if tokens, due := session.TriggerTokens(resolved); due {
			a.TriggerTokens = proto.Uint32(tokens)
		}
	}
	for start := 0; start < len(messages); {
		end := start
		for end < len(messages) && messages[end].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
			end++
		}
		if err := a.appendAll(ctx, messages[start:end]); err != nil {
			return nil, err
		}
		if end < len(messages) {
			if err := a.request(ctx); err != nil {
				return nil, err
			}
			if err := a.append(ctx, messages[end:end+1], a.token); err != nil {
				return nil, err
			}
			end++
		}
		start = end
	}
	if err := a.countRewrites(ctx); err != nil {
		return nil, err
	}
	return &a.Figures, c.Delete(ctx)
}

// appendAll appends the messages between two answers of the model.
func (a *agent) appendAll(ctx context.Context, messages []*compactordv1.Message) error {
	for len(messages) > 0 {
		batch := conversation.NextBatch(messages, conversation.BatchMessages)
		if err := a.append(ctx, batch, ""); err != nil {
			return err
		}
		messages = messages[len(batch):]
	}
	return nil
}

func (a *agent) append(ctx context.Context, messages []*compactordv1.Message, token string) error {
	answer, err := a.Sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: a.Session, Messages: messages, ViewToken: token,
	})
	a.report = answer.GetReport()
	a.logged += len(messages)
	return err
}

// request makes one request to the model: it compacts if that is due, and fetches the view.
func (a *agent) request(ctx context.Context) error {
	if a.report.GetShouldCompact() {
		request := conversation.CompactRequest(a.Session, compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD)
		done, err := a.Compact(ctx, request, nil)
		if err != nil {
			return err
		}
		if done.Skipped != nil {
			a.Skipped++
		}
	}
	report, reused, err := a.fetch(ctx)
	if err != nil {
		return err
	}
	a.Requests++
	if a.policy.GetTrigger().GetEnabled() {
		a.TriggerTokens = report.TriggerTokens
		if session.Due(a.policy, report) {
			a.RequestsDue++
		}
		if strategies.Unreachable(a.policy, report) {
			a.RequestsUnreachable++
			a.FixedTokens = max(a.FixedTokens, report.GetFixedTokens())
		}
	}
	if limit := session.ContextLimit(a.policy); limit > 0 && report.GetTokens() > limit {
		a.RequestsOverWindow++
	}
	a.PeakTokens = max(a.PeakTokens, report.GetTokens())
	a.SentTokens += uint64(report.GetTokens())
	a.ReusedTokens += reused
	a.LastTokens, a.LastMessages = report.GetTokens(), uint32(len(a.view))
	if a.sent != nil {
		a.sent(Request{Logged: a.logged, View: a.view, Tokens: report.GetTokens()})
	}
	return nil
}

// fetch updates the view. It returns how many of its tokens the view before began with too.
func (a *agent) fetch(ctx context.Context) (report *compactordv1.ContextReport, reused uint64, err error) {
	before, unchanged := a.view, len(a.view)
	for {
		answer, err := a.Conversation.Compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target:    &compactordv1.GetLLMViewRequest_SessionId{SessionId: a.Session},
			ViewToken: a.token, MaxBytes: a.PageBytes,
		})
		if err != nil {
			return nil, 0, err
		}
		prefix := min(int(answer.GetUnchangedPrefix()), len(a.view))
		unchanged = min(unchanged, prefix)
		// Copy where the new view differs, since the view before is compared below.
		a.view = append(slices.Clip(a.view[:prefix]), answer.GetMessages()...)
		a.token, report = answer.GetViewToken(), answer.GetReport()
		if !answer.GetHasMore() {
			break
		}
	}
	// After a rewrite the answer repeats the whole tool loop that the first change is in.
	for unchanged < min(len(before), len(a.view)) &&
		proto.Equal(before[unchanged].GetMessage(), a.view[unchanged].GetMessage()) {
		unchanged++
	}
	for _, m := range a.view[:unchanged] {
		reused += uint64(m.GetTokens())
	}
	return report, reused, nil
}

// countRewrites counts the rewrites in the log, and what models spent on them.
func (a *agent) countRewrites(ctx context.Context) error {
	records, err := a.Records(ctx, &compactordv1.ListRecordsRequest{Kinds: []compactordv1.RecordKind{
		compactordv1.RecordKind_RECORD_KIND_COMPACTION, compactordv1.RecordKind_RECORD_KIND_PRUNE,
	}})
	for _, record := range records {
		switch kind := record.GetKind().(type) {
		case *compactordv1.Record_Compaction:
			a.Compactions++
			a.Rewrites++
			made := kind.Compaction.GetProvenance()
			a.Spent.InputTokens += uint64(made.GetUsage().GetInputTokens())
			a.Spent.OutputTokens += uint64(made.GetUsage().GetOutputTokens())
			a.Spent.Dollars += made.GetCostUsd()
		case *compactordv1.Record_Prune:
			// Edits with a cut belong to its rewrite.
			if !kind.Prune.GetWithCut() {
				a.Rewrites++
			}
		default:
		}
	}
	return err
}

// smallestWindow is the smallest window that is chosen for a transcript: presets are not made for smaller ones.
const smallestWindow = 8_000

// WindowFor returns a window that a transcript does not fit into: two thirds of its tokens, rounded up to two digits.
func WindowFor(tokens uint32) uint32 {
	window := (2*uint64(tokens) + 2) / 3
	unit := uint64(1)
	for window/unit >= 100 {
		unit *= 10
	}
	window = (window + unit - 1) / unit * unit
	return uint32(min(max(window, smallestWindow), 100_000_000))
}

// Prepare removes the usage reports of messages, which are of other contexts and would distort the daemon's estimates. It
// returns the estimate of the messages.
func Prepare(messages []*compactordv1.Message) (tokens uint32, err error) {
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	if err != nil {
		return 0, err
	}
	var sum uint64
	for _, m := range messages {
		m.Usage = nil
		sum += uint64(session.MessageTokens(counter, m))
	}
	return uint32(min(sum, math.MaxUint32)), nil
}
