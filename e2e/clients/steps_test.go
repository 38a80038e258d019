package clients_test

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// do runs a step and returns its answer.
func (r *runner) do(s step) (map[string]any, error) {
	r.t.Helper()
	var name string
	require.True(r.t, s.take(r.t, "do", &name))
	r.handle(s)
	does := map[string]func(step) (map[string]any, error){
		"create_session": r.createSession,
		"info": func(s step) (map[string]any, error) {
			return answer(r, s, &compactordv1.GetSessionRequest{}, r.Sessions.GetSession)
		},
		"update": r.updateSession,
		"delete": func(s step) (map[string]any, error) {
			return answer(r, s, &compactordv1.DeleteSessionRequest{}, r.Sessions.DeleteSession)
		},
		"list_sessions":     r.listSessions,
		"append":            r.appendMessages,
		"view":              r.view,
		"compact":           r.compact,
		"compaction_events": r.compactionEvents,
		"prune":             r.prune,
		"plan":              r.planCompaction,
		"commit":            r.commitCompaction,
		"compact_with":      r.compactWith,
		"tool":              r.tool,
		"checkpoint":        r.checkpoint,
		"checkpoints":       r.listCheckpoints,
		"revert": func(s step) (map[string]any, error) {
			return wentBack(r, s, &compactordv1.RevertToCheckpointRequest{}, r.Sessions.RevertToCheckpoint)
		},
		"clear": func(s step) (map[string]any, error) {
			return wentBack(r, s, &compactordv1.ClearSessionRequest{}, r.Sessions.ClearSession)
		},
		"fork":     r.fork,
		"child":    r.child,
		"end":      r.endChild,
		"children": r.listChildren,
		"pin": func(s step) (map[string]any, error) {
			return answer(r, s, &compactordv1.PinMessagesRequest{}, r.Sessions.PinMessages)
		},
		"unpin": func(s step) (map[string]any, error) {
			return answer(r, s, &compactordv1.UnpinMessagesRequest{}, r.Sessions.UnpinMessages)
		},
		"set_blocks": func(s step) (map[string]any, error) {
			return answer(r, s, &compactordv1.UpdateContextBlocksRequest{}, r.Sessions.UpdateContextBlocks)
		},
		"blocks": r.listBlocks,
		"replace_instructions": func(s step) (map[string]any, error) {
			return answer(r, s, &compactordv1.ReplaceInstructionsRequest{}, r.Sessions.ReplaceInstructions)
		},
		"recall":         r.recall,
		"search":         r.search,
		"messages":       r.listMessages,
		"records":        r.listRecords,
		"compactions":    r.listCompactions,
		"watch":          r.watch,
		"classify_error": r.classifyError,
		"count_tokens":   r.countTokens,
		"sync":           r.syncMessages,
		"refresh":        r.refresh,
		"compacted":      r.compacted,
	}[name]
	require.NotNil(r.t, does, "no step is called %q", name)
	return does(s)
}

// answer calls an RPC with the step as its request.
func answer[Req, Res proto.Message](
	r *runner, s step, req Req, call func(context.Context, Req, ...grpc.CallOption) (Res, error),
) (map[string]any, error) {
	r.t.Helper()
	s.request(r.t, req)
	res, err := call(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	return object(r.t, res), nil
}

// wentBack calls an RPC that puts messages aside. The program's next sync knows of that, and of nothing that others wrote
// before it.
func wentBack[Req proto.Message, Res interface {
	proto.Message
	GetRecord() *compactordv1.Record
	GetPoint() uint32
}](r *runner, s step, req Req, call func(context.Context, Req, ...grpc.CallOption) (Res, error)) (map[string]any, error) {
	r.t.Helper()
	kept, _ := r.handle(s)
	return answer(r, s, req, func(ctx context.Context, req Req, options ...grpc.CallOption) (Res, error) {
		res, err := call(ctx, req, options...)
		if record := res.GetRecord(); err == nil && kept.known != nil && record != nil && *kept.known == record.GetSequence()-1 {
			point := res.GetPoint()
			kept.known = &point
		}
		return res, err
	})
}

func (r *runner) createSession(s step) (map[string]any, error) {
	req := &compactordv1.CreateSessionRequest{}
	s.request(r.t, req)
	_, err := r.Sessions.CreateSession(r.t.Context(), req)
	return map[string]any{}, err
}

func (r *runner) updateSession(s step) (map[string]any, error) {
	req := &compactordv1.UpdateSessionRequest{}
	s.request(r.t, req)
	req.UpdateMask = &fieldmaskpb.FieldMask{}
	for _, field := range []string{"policy", "labels", "title"} {
		if _, ok := s[field]; ok {
			req.UpdateMask.Paths = append(req.UpdateMask.Paths, field)
		}
	}
	res, err := r.Sessions.UpdateSession(r.t.Context(), req)
	return object(r.t, res), err
}

func (r *runner) listSessions(s step) (map[string]any, error) {
	req := &compactordv1.ListSessionsRequest{}
	s.request(r.t, req)
	var all []*compactordv1.Session
	for {
		page, err := r.Sessions.ListSessions(r.t.Context(), req)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetSessions()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return map[string]any{"sessions": list(r.t, all)}, nil
		}
	}
}

func (r *runner) appendMessages(s step) (map[string]any, error) {
	handle, dialect := r.handle(s)
	req := &compactordv1.AppendMessagesRequest{}
	s.request(r.t, req, "messages", "raw", "json", "items", "from_view")
	if text, ok := s.providerJSON(r.t); ok {
		req.ProviderJson = &compactordv1.ProviderJson{Dialect: dialect, Json: text}
	}
	req.Messages = r.messages(s)
	var fromView bool
	if s.take(r.t, "from_view", &fromView); fromView {
		req.ViewToken = handle.token
	}
	res, err := r.Sessions.AppendMessages(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	value := object(r.t, res)
	delete(value, "point")
	return value, nil
}

// prune returns its result in the form of a compaction's.
func (r *runner) prune(s step) (map[string]any, error) {
	req := &compactordv1.PruneRequest{}
	s.request(r.t, req)
	res, err := r.Compactions.Prune(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	value := object(r.t, res)
	switch {
	case res.GetPrune() == nil:
		value["reason"] = value["skip_reason"]
		delete(value, "skip_reason")
		return outcome("skipped", value), nil
	case req.GetDryRun():
		return outcome("planned", value), nil
	default:
		return outcome("completed", value), nil
	}
}

func (r *runner) planCompaction(s step) (map[string]any, error) {
	req := &compactordv1.PlanCompactionRequest{}
	s.request(r.t, req)
	plan, err := r.plans(req)
	if err != nil {
		return nil, err
	}
	r.plan = plan
	return object(r.t, plan), nil
}

// plans returns a plan with all its prompts.
func (r *runner) plans(req *compactordv1.PlanCompactionRequest) (*compactordv1.PlanCompactionResponse, error) {
	plan, err := r.Compactions.PlanCompaction(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	for page := plan; page.GetHasMore(); plan.Prompts = append(plan.Prompts, page.GetPrompts()...) {
		req.FromPrompt = uint32(len(plan.GetPrompts()))
		if page, err = r.Compactions.PlanCompaction(r.t.Context(), req); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

func (r *runner) commitCompaction(s step) (map[string]any, error) {
	req := &compactordv1.CommitCompactionRequest{}
	s.request(r.t, req)
	req.PlanToken = r.plan.GetPlanToken()
	return r.commit(req)
}

func (r *runner) commit(req *compactordv1.CommitCompactionRequest) (map[string]any, error) {
	res, err := r.Compactions.CommitCompaction(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	if res.GetSkipped() != nil {
		return outcome("skipped", object(r.t, res.GetSkipped())), nil
	}
	return outcome("completed", object(r.t, res.GetCompleted())), nil
}

// outcome adds the way in which a compaction ended to its fields.
func outcome(name string, fields map[string]any) map[string]any {
	fields["outcome"] = name
	return fields
}

// compactWith plans a compaction, and commits the step's answer for each final prompt.
func (r *runner) compactWith(s step) (map[string]any, error) {
	req := &compactordv1.PlanCompactionRequest{}
	s.request(r.t, req, "answer", "model")
	plan, err := r.plans(req)
	if err != nil {
		return nil, err
	}
	if plan.GetPlanToken() == "" {
		return outcome("skipped", map[string]any{
			"reason": plan.GetPlan().GetSkipReason().String(), "message": plan.GetMessage(), "report": object(r.t, plan.GetReport()),
		}), nil
	}
	commit := &compactordv1.CommitCompactionRequest{SessionId: req.GetSessionId(), PlanToken: plan.GetPlanToken()}
	s.take(r.t, "model", &commit.Model)
	var text string
	s.take(r.t, "answer", &text)
	for _, prompt := range plan.GetPrompts() {
		commit.SummarizerCalls++
		if prompt.GetFinal() {
			commit.Answers = append(commit.Answers, text)
		}
	}
	return r.commit(commit)
}

func (r *runner) checkpoint(s step) (map[string]any, error) {
	req := &compactordv1.CreateCheckpointRequest{}
	s.request(r.t, req)
	res, err := r.Sessions.CreateCheckpoint(r.t.Context(), req)
	return object(r.t, res.GetCheckpoint()), err
}

func (r *runner) listCheckpoints(s step) (map[string]any, error) {
	req := &compactordv1.ListRecordsRequest{}
	s.request(r.t, req)
	req.Kinds = []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_CHECKPOINT}
	all, err := r.records(req)
	if err != nil {
		return nil, err
	}
	for _, each := range all {
		// The clients list a checkpoint's point in place of its record's sequence.
		require.Equal(r.t, each.GetCheckpoint().GetPoint(), each.GetSequence())
		each.Sequence = 0
	}
	return map[string]any{"checkpoints": list(r.t, all)}, nil
}

func (r *runner) fork(s step) (map[string]any, error) {
	req := &compactordv1.ForkSessionRequest{}
	s.request(r.t, req)
	if req.GetNewSessionId() != "" {
		r.handles[handleKey{session: req.GetNewSessionId(), dialect: r.dialect}] = &handle{}
	}
	_, err := r.Sessions.ForkSession(r.t.Context(), req)
	return map[string]any{}, err
}

func (r *runner) listBlocks(s step) (map[string]any, error) {
	req := &compactordv1.ListContextBlocksRequest{}
	s.request(r.t, req)
	var all []*compactordv1.ContextBlockState
	for {
		page, err := r.Sessions.ListContextBlocks(r.t.Context(), req)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetBlocks()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return map[string]any{"blocks": list(r.t, all)}, nil
		}
	}
}

func (r *runner) child(s step) (map[string]any, error) {
	req := &compactordv1.ForkSessionRequest{}
	s.request(r.t, req)
	r.handles[handleKey{session: req.GetNewSessionId(), dialect: r.dialect}] = &handle{}
	_, err := r.Sessions.ForkSession(r.t.Context(), req)
	return map[string]any{}, err
}

func (r *runner) endChild(s step) (map[string]any, error) {
	value, err := answer(r, s, &compactordv1.EndChildRequest{}, r.Sessions.EndChild)
	delete(value, "session")
	return value, err
}

func (r *runner) listChildren(s step) (map[string]any, error) {
	var parent string
	require.True(r.t, s.take(r.t, "session", &parent))
	req := &compactordv1.ListSessionsRequest{ParentSessionId: parent}
	var all []*compactordv1.Session
	for {
		page, err := r.Sessions.ListSessions(r.t.Context(), req)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetSessions()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return map[string]any{"sessions": list(r.t, all)}, nil
		}
	}
}

// recall reads a whole text or, with `page`, one page.
func (r *runner) recall(s step) (map[string]any, error) {
	req := &compactordv1.RecallContentRequest{}
	s.request(r.t, req, "page")
	var page bool
	s.take(r.t, "page", &page)
	res, err := r.Sessions.RecallContent(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	if page {
		return object(r.t, res), nil
	}
	text := res.GetText()
	for res.GetHasMore() {
		req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: res.GetNextOffset()}}
		if res, err = r.Sessions.RecallContent(r.t.Context(), req); err != nil {
			return nil, err
		}
		text += res.GetText()
	}
	return map[string]any{"text": text}, nil
}

func (r *runner) search(s step) (map[string]any, error) {
	req := &compactordv1.SearchMessagesRequest{}
	s.request(r.t, req)
	var all []*compactordv1.SearchHit
	for {
		page, err := r.Sessions.SearchMessages(r.t.Context(), req)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetHits()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return map[string]any{"hits": list(r.t, all)}, nil
		}
	}
}

func (r *runner) listMessages(s step) (map[string]any, error) {
	req := &compactordv1.ListMessagesRequest{}
	s.request(r.t, req)
	var all []*compactordv1.LoggedMessage
	for {
		page, err := r.Sessions.ListMessages(r.t.Context(), req)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetMessages()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return map[string]any{"messages": list(r.t, all)}, nil
		}
	}
}

func (r *runner) listRecords(s step) (map[string]any, error) {
	req := &compactordv1.ListRecordsRequest{}
	s.request(r.t, req)
	all, err := r.records(req)
	if err != nil {
		return nil, err
	}
	return map[string]any{"records": list(r.t, all)}, nil
}

// records returns all pages of a request.
func (r *runner) records(req *compactordv1.ListRecordsRequest) ([]*compactordv1.Record, error) {
	var all []*compactordv1.Record
	for {
		page, err := r.Sessions.ListRecords(r.t.Context(), req)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetRecords()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return all, nil
		}
	}
}

func (r *runner) listCompactions(s step) (map[string]any, error) {
	req := &compactordv1.ListRecordsRequest{}
	s.request(r.t, req)
	req.Kinds = []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_COMPACTION}
	req.NewestFirst = true
	records, err := r.records(req)
	if err != nil {
		return nil, err
	}
	all := make([]*compactordv1.CompactionEntry, len(records))
	for i, each := range records {
		all[i] = each.GetCompaction()
	}
	return map[string]any{"compactions": list(r.t, all)}, nil
}

// watch returns the first `count` messages and records that a watch sends.
func (r *runner) watch(s step) (map[string]any, error) {
	req := &compactordv1.WatchSessionRequest{}
	s.request(r.t, req, "count")
	var count int
	require.True(r.t, s.take(r.t, "count", &count))
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	stream, err := r.Sessions.WatchSession(ctx, req)
	if err != nil {
		return nil, err
	}
	var all []*compactordv1.WatchSessionResponse
	for len(all) < count {
		next, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if next.GetMessage() != nil || next.GetRecord() != nil {
			all = append(all, next)
		}
	}
	return map[string]any{"items": list(r.t, all)}, nil
}

func (r *runner) classifyError(s step) (map[string]any, error) {
	return answer(r, s, &compactordv1.ClassifyErrorRequest{}, r.Compactions.ClassifyError)
}

// countTokens counts a text, neutral messages, a provider's JSON or, without any of them, the session's view.
func (r *runner) countTokens(s step) (map[string]any, error) {
	_, dialect := r.handle(s)
	req := &compactordv1.CountTokensRequest{}
	s.request(r.t, req, "messages", "raw", "json", "items")
	counted := &compactordv1.CountedMessages{Messages: r.messages(s)}
	if text, ok := s.providerJSON(r.t); ok {
		counted.ProviderJson = &compactordv1.ProviderJson{Dialect: dialect, Json: text}
	}
	if len(counted.GetMessages()) > 0 || counted.GetProviderJson() != nil {
		req.What = &compactordv1.CountTokensRequest_Messages{Messages: counted}
	}
	res, err := r.Compactions.CountTokens(r.t.Context(), req)
	return object(r.t, res), err
}

// compactionOf runs a compaction and returns its events.
func (r *runner) compactionOf(s step) ([]*compactordv1.CompactionEvent, error) {
	req := &compactordv1.CompactRequest{}
	s.request(r.t, req)
	stream, err := r.Compactions.Compact(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	var events []*compactordv1.CompactionEvent
	for {
		next, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, next.GetEvent())
	}
}

func (r *runner) compact(s step) (map[string]any, error) {
	events, err := r.compactionOf(s)
	if err != nil {
		return nil, err
	}
	last := events[len(events)-1]
	switch {
	case last.GetCompleted() != nil:
		value := object(r.t, last.GetCompleted())
		delete(value, "continue_index")
		return outcome("completed", value), nil
	case last.GetSkipped() != nil:
		return outcome("skipped", object(r.t, last.GetSkipped())), nil
	default:
		require.NotNil(r.t, last.GetPlanned(), "%v", last)
		return outcome("planned", map[string]any{"plan": object(r.t, last.GetPlanned())}), nil
	}
}

// compactionEvents returns the kinds of a compaction's events, without repetitions of the same kind.
func (r *runner) compactionEvents(s step) (map[string]any, error) {
	events, err := r.compactionOf(s)
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, event := range events {
		m := event.ProtoReflect()
		kind := string(m.WhichOneof(m.Descriptor().Oneofs().ByName("event")).Name())
		if kind != "heartbeat" {
			kinds = append(kinds, kind)
		}
	}
	return map[string]any{"events": texts(slices.Compact(kinds))}, nil
}
