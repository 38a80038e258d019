package views

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

// maxReported is the most repairs, and the most dropped parts, in one report.
const maxReported = 1000

// Rendered is a rendered view, or a stretch of one.
type Rendered struct {
	*dialect.Rendered

	shape  dialect.Dialect
	marked bool
	// by has written the list, and knows from what.
	by   *dialect.Writer
	view *session.View
	// first is the position of its first message in the view, and ends are its stable ends.
	first int
	ends  []int
	// stays is how many messages of the list stay the start of later ones, and lasts is what it holds without extra blocks.
	stays uint32
	lasts []json.RawMessage
}

// render renders a view, or the stretch of one that the options say.
func render(
	shape dialect.Dialect, v *session.View, marked, withoutLead bool, opts dialect.RenderOptions,
) (*Rendered, error) {
	r := &Rendered{shape: shape, marked: marked, view: v, ends: stableEnds(v.Messages, !opts.More, withoutLead)}
	if opts.Before != nil {
		r.first = opts.Before.Messages
	}
	if marked {
		opts.Breakpoints = append([]int{}, r.ends...)
	}
	r.by = dialect.NewWriter(len(v.Messages))
	opts.Writer = r.by
	var err error
	if r.Rendered, err = shape.Render(messagesOf(v.Messages), opts); err == nil {
		r.boundSources()
		r.lasts, r.stays, err = r.lasting(opts)
	}
	if err != nil {
		return nil, fmt.Errorf("view cannot be rendered as %s: %w", shape.Name(), err)
	}
	return r, nil
}

// boundSources leaves nothing in the sources of elements that is not in the view: what a dialect adds at the end of a list is made
// from no message.
func (r *Rendered) boundSources() {
	end := r.first + len(r.view.Messages)
	for i := range r.From {
		r.From[i].First, r.From[i].End = min(r.From[i].First, end), min(r.From[i].End, end)
	}
}

func messagesOf(view []*compactordv1.ViewMessage) []*compactordv1.Message {
	messages := make([]*compactordv1.Message, len(view))
	for i, vm := range view {
		messages[i] = vm.GetMessage()
	}
	return messages
}

// mode returns Request where the model would write the next message, else History.
func (r *Rendered) mode() dialect.Mode {
	if n := len(r.view.Messages); n > 0 {
		switch r.view.Messages[n-1].GetMessage().GetRole() {
		case compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_TOOL:
			return dialect.Request
		default:
		}
	}
	return dialect.History
}

// check refuses a list that breaks a rule of the provider, so that it never leaves the daemon. It is judged by what it was
// written from.
func (r *Rendered) check() error {
	if found := r.shape.Judge(&r.List, r.by, r.mode()); len(found) > 0 {
		return r.invalid(found[0])
	}
	return nil
}

// reread is check by the JSON alone.
func (r *Rendered) reread(ctx context.Context, by *Rereads) error {
	found := r.shape.Validate(&r.List, r.mode())
	if len(found) == 0 {
		return nil
	}
	by.report(ctx, r.shape, found[0].Rule)
	return r.invalid(found[0])
}

// invalid returns the error about a list that breaks a rule.
func (r *Rendered) invalid(first dialect.Violation) error {
	metadata := map[string]string{"rule": first.Rule, "message": strconv.Itoa(first.Message)}
	at := first.Message - r.Before.Messages
	if at >= 0 && at < len(r.From) && r.holds(r.From[at].First) {
		switch o := r.view.Messages[r.From[at].First-r.first].GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			metadata["index"] = strconv.FormatUint(uint64(o.Index), 10)
		case *compactordv1.ViewMessage_Folded:
			metadata["index"] = strconv.FormatUint(uint64(o.Folded.GetStart()), 10)
		default:
		}
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_VIEW_INVALID, metadata,
		"the view would break a rule of %s at %s", r.shape.Name(), first)
}

// holds reports whether a message of the view is in the stretch.
func (r *Rendered) holds(position int) bool {
	return r.first <= position && position < r.first+len(r.view.Messages)
}

// addTo adds to a report what rendering changed.
func (r *Rendered) addTo(report *compactordv1.ViewReport) {
	report.MessagesMerged += uint32(r.Merged)
	report.SuggestedBreakpoints = append(report.SuggestedBreakpoints, r.breakpoints()...)
	for _, raw := range append(r.System[:len(r.System):len(r.System)], r.Messages...) {
		report.Bytes += uint32(len(raw))
	}
	for _, dropped := range r.Dropped {
		report.PartsDropped = reported(report.GetPartsDropped(), &compactordv1.Finding{
			Message: uint32(dropped.Message), Part: uint32(dropped.Part), Text: dropped.Why,
		})
	}
	for _, repair := range r.Repairs {
		report.Repairs = reported(report.GetRepairs(), &compactordv1.Finding{
			Rule: repair.Rule, Message: uint32(repair.Message), Text: repair.What,
		})
	}
}

// reported adds to findings, of which the first in the order of the view are reported. Nearly all come in that order.
func reported(findings []*compactordv1.Finding, f *compactordv1.Finding) []*compactordv1.Finding {
	at := len(findings)
	for at > 0 && findings[at-1].GetMessage() > f.GetMessage() {
		at--
	}
	if at == maxReported {
		return findings
	}
	findings = slices.Insert(findings, at, f)
	return findings[:min(len(findings), maxReported)]
}
