package service

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

const (
	// maxReported bounds the repairs and dropped parts that one report tells of.
	maxReported = 1000
	// maxCallIDs bounds the ids that one error names.
	maxCallIDs = 100
)

// rendering is a view in a provider's shape.
type rendering struct {
	dialect dialect.Dialect
	marked  bool
	view    *session.View
	*dialect.Rendered
}

// renderedView answers GetLLMView in a dialect. The whole view is rendered and judged, whatever of it is sent: neighbours
// merge, and a rule can be broken by what stands far apart.
func (s *Service) renderedView(
	ctx context.Context, req *compactordv1.GetLLMViewRequest, d *delta,
) (*compactordv1.GetLLMViewResponse, error) {
	shape, err := s.dialect(req.GetDialect(), "dialect")
	if err != nil {
		return nil, err
	}
	d.options.Dialect = req.GetDialect()
	if err := callsAnswered(d.head); err != nil {
		return nil, err
	}
	state, err := s.logs.State(ctx, d.row, d.head)
	if err != nil {
		return nil, err
	}
	if d.head != d.row.GetHead() {
		d.head = state.WithMetrics()
	}
	r, err := render(shape, state.View(d.options), req.GetMarkCacheBreakpoints())
	if err != nil {
		return nil, err
	}
	if err := r.valid(); err != nil {
		return nil, err
	}
	unchanged, err := s.unchangedRendered(ctx, req.GetViewToken(), d, r)
	if err != nil {
		return nil, err
	}
	return r.page(d, unchanged, answerBytes(req.GetMaxBytes())), nil
}

func callsAnswered(h *storagev1.Head) error {
	open := session.Awaited(h)
	if len(open) == 0 {
		return nil
	}
	ids := make([]string, 0, min(len(open), maxCallIDs))
	for _, call := range open[:min(len(open), maxCallIDs)] {
		ids = append(ids, call.GetId())
	}
	wait := "1 tool call waits for its result"
	if len(open) > 1 {
		wait = fmt.Sprintf("%d tool calls wait for their results", len(open))
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_TOOL_CALLS_OPEN,
		map[string]string{"call_ids": strings.Join(ids, ","), "open_calls": strconv.Itoa(len(open))},
		"%s: append their results first, or a USER message, which has the model go on without them", wait)
}

func render(shape dialect.Dialect, v *session.View, marked bool) (*rendering, error) {
	r := &rendering{dialect: shape, marked: marked, view: v}
	messages := make([]*compactordv1.Message, len(v.Messages))
	for i, vm := range v.Messages {
		messages[i] = vm.GetMessage()
	}
	var opts dialect.RenderOptions
	if marked {
		opts.Breakpoints = append([]int{}, stableEnds(v.Messages)...)
	}
	var err error
	if r.Rendered, err = shape.Render(messages, opts); err != nil {
		return nil, fmt.Errorf("view cannot be rendered as %s: %w", shape.Name(), err)
	}
	return r, nil
}

// stableEnds are the messages after which a cache breakpoint pays: the leading run and the summary stay until the next
// change of views, and the whole view is the prefix of the next one.
func stableEnds(view []*compactordv1.ViewMessage) []int {
	lead, summary := -1, -1
	for i, vm := range view {
		if vm.GetSummaryOf() != "" {
			summary = i
		}
		if lead == i-1 && session.Leads(vm.GetMessage().GetRole()) {
			lead = i
		}
	}
	var ends []int
	for _, end := range []int{lead, summary, len(view) - 1} {
		if end >= 0 && (len(ends) == 0 || end > ends[len(ends)-1]) {
			ends = append(ends, end)
		}
	}
	return ends
}

// mode is REQUEST where the next message would be the model's.
func (r *rendering) mode() dialect.Mode {
	if n := len(r.view.Messages); n > 0 {
		switch r.view.Messages[n-1].GetMessage().GetRole() {
		case compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_TOOL:
			return dialect.Request
		default:
		}
	}
	return dialect.History
}

// valid judges what was rendered: a list that breaks a rule never leaves the daemon.
func (r *rendering) valid() error {
	found := r.dialect.Validate(&r.List, r.mode())
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	metadata := map[string]string{"rule": first.Rule, "message": strconv.Itoa(first.Message)}
	if at := first.Message; at >= 0 && at < len(r.From) && r.From[at].First < len(r.view.Messages) {
		if o, inLog := r.view.Messages[r.From[at].First].GetOrigin().(*compactordv1.ViewMessage_Index); inLog {
			metadata["index"] = strconv.FormatUint(uint64(o.Index), 10)
		}
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_VIEW_INVALID, metadata,
		"the view would break a rule of %s at %s", r.dialect.Name(), first)
}

// unchangedRendered counts the messages at the start that the holder of the last token has already, byte for byte.
func (s *Service) unchangedRendered(ctx context.Context, last string, d *delta, now *rendering) (int, error) {
	relation := session.DeltaNone
	held, err := session.ParseViewToken(last)
	if err == nil {
		relation = held.Compare(d.head, d.row.GetUid(), d.token.Options)
	}
	var then *session.View
	switch relation {
	case session.DeltaAppended:
		then = before(now.view, held.NextIndex)
	case session.DeltaChanged:
		if then, err = s.viewAt(ctx, d, held.Point); err != nil {
			return 0, err
		}
	default:
		return 0, nil
	}
	old, err := render(now.dialect, then, now.marked)
	if err != nil {
		return 0, err
	}
	n := 0
	for n < min(int(held.Messages), len(old.Messages), len(now.Messages)) &&
		bytes.Equal(old.Messages[n], now.Messages[n]) {
		n++
	}
	return n, nil
}

// before is the part of a view that stood there when the log's next index was the given one. It was rendered then, so no
// call was awaited: what mends an earlier message was there already.
func before(v *session.View, nextIndex uint32) *session.View {
	end := 0
	for i, vm := range v.Messages {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			if o.Index < nextIndex {
				end = i + 1
			}
		case *compactordv1.ViewMessage_SummaryOf:
			end = i + 1
		case *compactordv1.ViewMessage_Mend:
			if o.Mend.GetIndex() < nextIndex {
				end = i + 1
			}
		}
	}
	return &session.View{Messages: v.Messages[:end]}
}

func (s *Service) viewAt(ctx context.Context, d *delta, point uint32) (*session.View, error) {
	head, err := s.logs.HeadAt(ctx, d.row, point)
	if err != nil {
		return nil, err
	}
	state, err := s.logs.State(ctx, d.row, head)
	if err != nil {
		return nil, err
	}
	return state.View(d.options), nil
}

// page cuts what is new to the size that was asked for.
func (r *rendering) page(d *delta, unchanged, maxBytes int) *compactordv1.GetLLMViewResponse {
	answer := &compactordv1.GetLLMViewResponse{UnchangedPrefix: uint32(unchanged), ViewReport: r.report(unchanged)}
	for _, raw := range r.System {
		answer.SystemJson = append(answer.SystemJson, string(raw))
	}
	size := 0
	for _, raw := range r.Messages[unchanged:] {
		size += len(raw)
		if len(answer.GetMessagesJson()) > 0 && size > maxBytes {
			answer.HasMore = true
			break
		}
		answer.MessagesJson = append(answer.MessagesJson, string(raw))
	}
	d.token.Messages = uint32(unchanged + len(answer.GetMessagesJson()))
	answer.ViewToken = d.token.String()
	return answer
}

// report says what was done to draw and render the view.
func (r *rendering) report(unchanged int) *compactordv1.ViewReport {
	report := r.view.Report
	report.Dialect = r.dialect.Kind()
	report.DisableThinking = report.GetDisableThinking() || r.DisableThinking
	report.MessagesMerged = uint32(r.Merged)
	report.PrefixValidThrough = uint32(unchanged)
	report.SuggestedBreakpoints = r.breakpoints()
	report.Bytes = 0
	for _, raw := range append(r.System[:len(r.System):len(r.System)], r.Messages...) {
		report.Bytes += uint32(len(raw))
	}
	for _, rule := range r.dialect.Rules() {
		if !rule.RequestOnly || r.mode() == dialect.Request {
			report.RulesChecked = append(report.RulesChecked, rule.ID)
		}
	}
	for _, dropped := range r.Dropped[:min(len(r.Dropped), maxReported)] {
		report.PartsDropped = append(report.PartsDropped, &compactordv1.PartDropped{
			Message: uint32(dropped.Message), Part: uint32(dropped.Part), Why: dropped.Why,
		})
	}
	for _, repair := range r.Repairs[:min(len(r.Repairs), maxReported)] {
		report.Repairs = append(report.Repairs, &compactordv1.Repair{
			Rule: repair.Rule, Message: uint32(repair.Message), What: repair.What,
		})
	}
	return report
}

// breakpoints are the rendered messages after which a breakpoint pays. A system prompt that stands apart has none.
func (r *rendering) breakpoints() []uint32 {
	var at []uint32
	for _, end := range stableEnds(r.view.Messages) {
		for i, span := range r.From {
			if span.First <= end && end < span.End {
				at = append(at, uint32(i))
			}
		}
	}
	return at
}
