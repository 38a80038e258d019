package transcripts

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// onceFigures are the figures of one compaction of the whole transcript.
type onceFigures struct {
	// before and after are the view's tokens. kept is how many messages of the log the view shows afterwards.
	before, after, kept uint32
	// edits counts the edited messages of the view, by kind of edit.
	edits map[compactordv1.EditKind]uint32
	// summary says whether a summary was written. skipped says why nothing was done; nil if something was.
	summary bool
	skipped *compactordv1.CompactionSkipped
}

// compactOnce fills a session with the transcript, compacts it with reason MANUAL, and deletes it.
func compactOnce(
	ctx context.Context, c *conversation.Conversation, file *conversation.Transcript, policy *compactordv1.Policy,
) (*onceFigures, error) {
	if _, err := c.Create(ctx, policy); err != nil {
		return nil, err
	}
	copied := file.Again()
	if _, err := conversation.Upload(ctx, c.Client, c.Session, copied, nil); err != nil {
		return nil, err
	}
	before, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	done, err := c.Compact(ctx, conversation.CompactRequest(c.Session, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL), nil)
	if err != nil {
		return nil, err
	}
	after, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	f := &onceFigures{
		before: before.Report.GetTokens(), after: after.Report.GetTokens(), edits: make(map[compactordv1.EditKind]uint32),
		summary: done.Completed.GetCompaction() != nil, skipped: done.Skipped,
	}
	for _, m := range after.Messages {
		if _, logged := m.GetOrigin().(*compactordv1.ViewMessage_Index); logged {
			f.kept++
		}
		for _, kind := range m.GetEdits() {
			f.edits[kind]++
		}
	}
	return f, deleteSession(ctx, c)
}

// deleteSession frees the memory for the next preset.
func deleteSession(ctx context.Context, c *conversation.Conversation) error {
	_, err := c.Sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: c.Session})
	return err
}

// replayFigures are the figures of a replay, with the field names of the JSON document.
type replayFigures struct {
	// Requests is the number of requests to the model.
	Requests uint32 `json:"requests"`
	// TriggerTokens and TriggerToolGroups are the preset's triggers; nil where it has none.
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
	// SentTokens is the sum of all requests. ReusedTokens is the part with which the request before began too.
	SentTokens   uint64 `json:"sent_tokens"`
	ReusedTokens uint64 `json:"reused_tokens"`
	// LastTokens and LastMessages are the size of the last request.
	LastTokens   uint32 `json:"last_tokens"`
	LastMessages uint32 `json:"last_messages"`
}

// replay is an agent that appends messages, compacts when compaction is due, and fetches the view for each request.
type replay struct {
	*conversation.Conversation
	replayFigures
	policy *compactordv1.Policy

	// report is the report of the last append.
	report *compactordv1.ContextReport
	// view is the last view, and token its view token.
	view  []*compactordv1.ViewMessage
	token string
}

// replayUnder replays the messages under a policy in a session, and deletes the session.
func replayUnder(
	ctx context.Context, c *conversation.Conversation, messages []*compactordv1.Message, policy *compactordv1.Policy, p *terminal.Progress,
) (*replayFigures, error) {
	resolved, err := c.Create(ctx, policy)
	if err != nil {
		return nil, err
	}
	r := &replay{Conversation: c, policy: resolved}
	r.Disabled = !resolved.GetTrigger().GetEnabled()
	if resolved.GetTrigger().GetEnabled() {
		r.TriggerToolGroups = resolved.GetTrigger().TriggerToolGroups
		if tokens, due := session.TriggerTokens(resolved); due {
			r.TriggerTokens = proto.Uint32(tokens)
		}
	}
	for start := 0; start < len(messages); {
		end := start
		for end < len(messages) && messages[end].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
			end++
		}
		if err := r.appendAll(ctx, messages[start:end]); err != nil {
			return nil, err
		}
		if end < len(messages) {
			if err := r.request(ctx); err != nil {
				return nil, err
			}
			if err := r.append(ctx, messages[end:end+1], r.token); err != nil {
				return nil, err
			}
			end++
		}
		start = end
		p.Update(int64(start))
	}
	if err := r.countRewrites(ctx); err != nil {
		return nil, err
	}
	return &r.replayFigures, deleteSession(ctx, c)
}

// appendAll appends the messages between two answers of the model.
func (r *replay) appendAll(ctx context.Context, messages []*compactordv1.Message) error {
	for len(messages) > 0 {
		batch := conversation.NextBatch(messages, conversation.BatchMessages)
		if err := r.append(ctx, batch, ""); err != nil {
			return err
		}
		messages = messages[len(batch):]
	}
	return nil
}

func (r *replay) append(ctx context.Context, messages []*compactordv1.Message, token string) error {
	answer, err := r.Sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: r.Session, Messages: messages, ViewToken: token,
	})
	r.report = answer.GetReport()
	return err
}

// request makes one request to the model: it compacts if that is due, and fetches the view.
func (r *replay) request(ctx context.Context) error {
	if r.report.GetShouldCompact() {
		request := conversation.CompactRequest(r.Session, compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD)
		done, err := r.Compact(ctx, request, nil)
		if err != nil {
			return err
		}
		if done.Skipped != nil {
			r.Skipped++
		}
	}
	report, reused, err := r.fetch(ctx)
	if err != nil {
		return err
	}
	r.Requests++
	if r.policy.GetTrigger().GetEnabled() && session.Due(r.policy, report) {
		r.RequestsDue++
	}
	if limit := session.ContextLimit(r.policy); limit > 0 && report.GetTokens() > limit {
		r.RequestsOverWindow++
	}
	r.PeakTokens = max(r.PeakTokens, report.GetTokens())
	r.SentTokens += uint64(report.GetTokens())
	r.ReusedTokens += reused
	r.LastTokens, r.LastMessages = report.GetTokens(), uint32(len(r.view))
	return nil
}

// fetch updates the view. It returns how many of its tokens the view before began with too.
func (r *replay) fetch(ctx context.Context) (report *compactordv1.ContextReport, reused uint64, err error) {
	before, unchanged := r.view, len(r.view)
	for {
		answer, err := r.Conversation.Compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target:    &compactordv1.GetLLMViewRequest_SessionId{SessionId: r.Session},
			ViewToken: r.token, MaxBytes: r.PageBytes,
		})
		if err != nil {
			return nil, 0, err
		}
		prefix := min(int(answer.GetUnchangedPrefix()), len(r.view))
		unchanged = min(unchanged, prefix)
		// Copy where the new view differs, since the view before is compared below.
		r.view = append(slices.Clip(r.view[:prefix]), answer.GetMessages()...)
		r.token, report = answer.GetViewToken(), answer.GetReport()
		if !answer.GetHasMore() {
			break
		}
	}
	// After a rewrite the answer repeats the whole tool loop that the first change is in.
	for unchanged < min(len(before), len(r.view)) &&
		proto.Equal(before[unchanged].GetMessage(), r.view[unchanged].GetMessage()) {
		unchanged++
	}
	for _, m := range r.view[:unchanged] {
		reused += uint64(m.GetTokens())
	}
	return report, reused, nil
}

// countRewrites counts the rewrites in the log.
func (r *replay) countRewrites(ctx context.Context) error {
	records, err := r.Records(ctx, &compactordv1.ListRecordsRequest{Kinds: []compactordv1.RecordKind{
		compactordv1.RecordKind_RECORD_KIND_COMPACTION, compactordv1.RecordKind_RECORD_KIND_PRUNE,
	}})
	for _, record := range records {
		switch kind := record.GetKind().(type) {
		case *compactordv1.Record_Compaction:
			r.Compactions++
			r.Rewrites++
		case *compactordv1.Record_Prune:
			// Edits with a cut belong to its rewrite.
			if !kind.Prune.GetWithCut() {
				r.Rewrites++
			}
		default:
		}
	}
	return err
}
