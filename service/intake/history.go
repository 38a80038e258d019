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

// AppendHistory appends the messages of a history to the empty session that it becomes in logs, and puts its entries in
// force again. It returns what was malformed.
func (i *Intake) AppendHistory(
	ctx context.Context, logs *sessionlog.Logs, id string, h *compactordv1.InlineHistory,
) ([]*compactordv1.Finding, error) {
	in, err := i.read(h, h.GetStrict())
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
		in = in.fresh()
		err := in.appendTo(ctx, w, nil, func(i int) error {
			for ; len(left) > 0 && left[0].after == i; left = left[1:] {
				if err := left[0].write(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
		return w, errors.Join(err, in.verdict())
	})
	if err != nil {
		return nil, err
	}
	return in.report(), nil
}

// entry is a record that an earlier answer gave, and that is put in force again.
type entry struct {
	field  string
	after  int
	plan   *compactordv1.CompactionPlan
	record *compactordv1.Record
}

// restored are the entries of a history, in the order in which they were made.
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

// write adds the entry to what is to be written, if it fits the messages.
func (e entry) write(ctx context.Context, p *sessionlog.Write) error {
	state, err := p.State(ctx)
	if err != nil {
		return err
	}
	if cut := e.plan.GetCut(); cut != nil {
		// Earlier compactions are not sent along: this one covers what they covered.
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
	p.TakeOver(written)
	return nil
}

// underOnAppend leaves out the edits that policy.on_append makes needless. It may not have held when they were made, and
// who sends them cannot know.
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

// checkReplayed refuses an entry that replays what no compaction would: anything but a request that it covers.
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
