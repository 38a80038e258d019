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

// onceFigures say what one compaction of the whole transcript did.
type onceFigures struct {
	// before and after are the view's tokens, kept how many messages of the log the view shows after.
	before, after, kept uint32
	// edits counts the messages of the view that edits are in force on, by kind.
	edits map[compactordv1.EditKind]uint32
	// summary says whether one was written, skipped why nothing was done; nil where something was.
	summary bool
	skipped *compactordv1.CompactionSkipped
}

// compactOnce fills a session with the transcript, compacts it as a person who asks for it, and deletes it.
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
	return f, drop(ctx, c)
}

// drop makes room for the next preset.
func drop(ctx context.Context, c *conversation.Conversation) error {
	_, err := c.Sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: c.Session})
	return err
}

// replayFigures say how an agent would have lived through the transcript. Its field names are those of the document.
type replayFigures struct {
	// Requests is how many requests to the model there were.
	Requests uint32 `json:"requests"`
	// TriggerTokens and TriggerToolGroups say when compaction was due; nil where it was not by these.
	TriggerTokens     *uint32 `json:"trigger_tokens,omitempty"`
	TriggerToolGroups *uint32 `json:"trigger_tool_groups,omitempty"`
	// Disabled says that the preset is never due: its numbers leave nothing of the window.
	Disabled bool `json:"disabled,omitempty"`
	// Rewrites is how many times the view was changed where it had been shown already; Compactions of them wrote a summary.
	// Skipped is how many compactions were due and did nothing.
	Rewrites    uint32 `json:"rewrites"`
	Compactions uint32 `json:"compactions"`
	Skipped     uint32 `json:"skipped"`
	// PeakTokens is the largest request.
	PeakTokens uint32 `json:"peak_tokens"`
	// RequestsDue is how many were sent although compaction was due, RequestsOverWindow how many a provider would refuse.
	RequestsDue        uint32 `json:"requests_due"`
	RequestsOverWindow uint32 `json:"requests_over_window"`
	// SentTokens are those of all requests, ReusedTokens those of them that began the request before in the same words.
	SentTokens   uint64 `json:"sent_tokens"`
	ReusedTokens uint64 `json:"reused_tokens"`
	// LastTokens and LastMessages are those of the last request.
	LastTokens   uint32 `json:"last_tokens"`
	LastMessages uint32 `json:"last_messages"`
}

// replay is an agent that appends, compacts when it is told to, and fetches what it sends to the model.
type replay struct {
	*conversation.Conversation
	replayFigures
	policy *compactordv1.Policy

	// Report is the one of the last append.
	report *compactordv1.ContextReport
	// View is the last one, token names it.
	view  []*compactordv1.ViewMessage
	token string
}

// replayUnder has an agent live through the messages, and deletes the session.
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
	return &r.replayFigures, drop(ctx, c)
}

// appendAll appends what came between two answers of the model.
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

// request is one request to the model: compact if that is due, and fetch the view.
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

// fetch brings the view up to date and says how many tokens of it are the beginning of the one before.
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
		// The view before is still needed: it is copied where the new one goes another way.
		r.view = append(slices.Clip(r.view[:prefix]), answer.GetMessages()...)
		r.token, report = answer.GetViewToken(), answer.GetReport()
		if !answer.GetHasMore() {
			break
		}
	}
	// Where the view was rewritten, the answer begins with the tool loop that the first change is in.
	for unchanged < min(len(before), len(r.view)) &&
		proto.Equal(before[unchanged].GetMessage(), r.view[unchanged].GetMessage()) {
		unchanged++
	}
	for _, m := range r.view[:unchanged] {
		reused += uint64(m.GetTokens())
	}
	return report, reused, nil
}

// countRewrites counts what the log says was done.
func (r *replay) countRewrites(ctx context.Context) error {
	records, err := r.Records(ctx, &compactordv1.ListRecordsRequest{})
	for _, record := range records {
		switch kind := record.GetKind().(type) {
		case *compactordv1.Record_Compaction:
			r.Compactions++
			r.Rewrites++
		case *compactordv1.Record_Prune:
			// The edits that were made with a cut are one rewrite with it.
			if !kind.Prune.GetWithCut() {
				r.Rewrites++
			}
		default:
		}
	}
	return err
}
