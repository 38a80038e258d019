package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// AppendHistory appends the messages of an inline history to the empty session that stands for it, and its entries. It
// returns the findings.
func (i *Intake) AppendHistory(
	ctx context.Context, logs *sessionlog.Logs, id string, h *compactordv1.InlineHistory,
) ([]*compactordv1.Finding, error) {
	in, err := i.read(ctx, h, h.GetStrict())
	if err != nil {
		return nil, err
	}
	entries, err := restored(h, len(in.messages))
	if err != nil {
		return nil, err
	}
	if block := h.GetCompaction().GetProviderBlock(); block != nil {
		if err := i.Compactor.CheckProviderBlock(block, "compaction.provider_block"); err != nil {
			return nil, err
		}
	}
	err = logs.Update(ctx, id, func(row *storagev1.Session) (*sessionlog.Write, error) {
		w, left := logs.Begin(row), entries
		in = in.unlinked()
		err := in.appendTo(ctx, w, nil, func(i int) error {
			for ; len(left) > 0 && left[0].after == i; left = left[1:] {
				if err := left[0].write(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
		return w, errors.Join(err, in.refuseIfStrict())
	})
	if err != nil {
		return nil, err
	}
	return in.reported(), nil
}

// entry is a record from an earlier response that the history contains.
type entry struct {
	field  string
	after  int
	plan   *compactordv1.CompactionPlan
	record *compactordv1.Record
}

// restored returns the entries of a history, in the order in which they were made.
func restored(h *compactordv1.InlineHistory, messages int) ([]entry, error) {
	var entries []entry
	for i, prune := range h.GetPrunes() {
		entries = append(entries, entry{
			field: fmt.Sprintf("prunes[%d]", i), after: int(prune.GetViewChange().GetNextIndex()),
			plan:   &compactordv1.CompactionPlan{Edits: prune.GetEdits()},
			record: &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: prune}},
		})
	}
	if c := h.GetCompaction(); c != nil {
		if c.GetSummary() == "" {
			return nil, apierror.InvalidField("compaction.summary", "is empty")
		}
		entries = append(entries, entry{
			field: "compaction", after: int(c.GetViewChange().GetNextIndex()),
			plan: &compactordv1.CompactionPlan{Cut: &compactordv1.Cut{
				FirstKeptIndex: c.GetFirstKeptIndex(), MaxSummaryTokens: 1,
			}},
			record: &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: c}},
		})
	}
	for _, e := range entries {
		if e.after > messages {
			return nil, apierror.InvalidField(e.field+".view_change.next_index",
				fmt.Sprintf("was made when there were %d messages, and the history has %d", e.after, messages))
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.after - b.after })
	return entries, nil
}

// write adds the entry to the write, if it fits the messages.
func (e entry) write(ctx context.Context, w *sessionlog.Write) error {
	state, err := w.State(ctx)
	if err != nil {
		return err
	}
	if cut := e.plan.GetCut(); cut != nil {
		// The history does not contain earlier compactions. This one covers what they covered.
		cut.Summarized = &compactordv1.IndexRange{Start: session.KeptFrom(state.Head), End: cut.GetFirstKeptIndex()}
	}
	e = e.underOnAppend(state)
	if len(e.plan.GetEdits()) == 0 && e.plan.GetCut() == nil {
		return nil
	}
	in := &strategies.Input{State: state, Policy: state.Policy}
	if err := strategies.Check(in, e.plan); err != nil {
		return apierror.InvalidField(e.field, "does not fit the messages: "+err.Error())
	}
	if err := checkReplayed(state, e.record.GetCompaction()); err != nil {
		return err
	}
	written, err := sessionlog.Simulate(state, e.record)
	if err != nil {
		return err
	}
	w.TakeOver(written)
	return nil
}

// underOnAppend leaves out the edits that policy.on_append makes unnecessary. That policy may be newer than the edits,
// and the client cannot know which ones it affects.
func (e entry) underOnAppend(s *session.State) entry {
	prune := e.record.GetPrune()
	if prune == nil || len(s.Policy.GetOnAppend().GetStrategies()) == 0 {
		return e
	}
	prune = proto.CloneOf(prune)
	prune.Edits = strategies.Gaining(s, prune.GetEdits())
	e.plan = &compactordv1.CompactionPlan{Edits: prune.GetEdits()}
	e.record = &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: prune}}
	return e
}

// checkReplayed refuses an entry that replays anything but a request of the user that it covers.
func checkReplayed(s *session.State, e *compactordv1.CompactionEntry) error {
	if e == nil || e.ReplayedIndex == nil {
		return nil
	}
	at := s.Position(e.GetReplayedIndex())
	if at < s.Position(e.GetFirstKeptIndex()) && s.Kept[at].GetIndex() == e.GetReplayedIndex() && session.IsRequest(s.Kept[at]) {
		return nil
	}
	return apierror.InvalidField("compaction.replayed_index",
		fmt.Sprintf("message %d is no request of the user that the compaction covers", e.GetReplayedIndex()))
}
