package compaction

import (
	"context"
	"time"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// Of all daemons that use a store, one at a time compacts a session or reverts it with a summary: the one that the session's
// row names. The others leave it alone as long as that daemon is alive, and ask it to end by a note in the row. Where it is
// not, they record that the compaction was interrupted; a revert just leaves the row. A daemon that was taken for dead finds at
// its commit that the row no longer names it, and writes nothing.

// heedEvery is how often a compaction looks whether another daemon asks it to end, and how often who asks looks whether it
// has.
const heedEvery = 200 * time.Millisecond

// runsElsewhere returns the compaction with this id, or any if id is empty, that the row names and another daemon runs; nil
// where there is none.
func (c *Compactor) runsElsewhere(ctx context.Context, row *storagev1.Session, id string) (*storagev1.RunningCompaction, error) {
	ended, err := c.logs.Ended(ctx, row)
	if err != nil {
		return nil, err
	}
	for _, r := range row.GetRunning() {
		if r.GetOpening() != c.logs.Opening() && !ended[r.GetOpening()] && (id == "" || id == r.GetOperationId()) {
			return r, nil
		}
	}
	return nil, nil
}

// refuseElsewhere ends where another daemon compacts the session: with an error, or with preempt after that compaction has
// ended.
func (j *job) refuseElsewhere(ctx context.Context) error {
	row, err := j.logs.Row(ctx, j.req.GetSessionId())
	if err != nil || row.GetUid() != j.uid {
		return err
	}
	other, err := j.runsElsewhere(ctx, row, "")
	if err != nil || other == nil {
		return err
	}
	if !j.req.GetPreempt() {
		return operations.RunsAlready(other.GetOperationId())
	}
	_, err = j.endElsewhere(ctx, row, other.GetOperationId(), storagev1.CancelCause_CANCEL_CAUSE_PREEMPTED)
	return err
}

// CancelElsewhere cancels the compaction with this id, or any if id is empty, that another daemon runs, and waits for its
// end. It returns nil where there is none.
func (c *Compactor) CancelElsewhere(
	ctx context.Context, row *storagev1.Session, id string,
) (*compactordv1.CancelCompactionResponse, error) {
	id, err := c.endElsewhere(ctx, row, id, storagev1.CancelCause_CANCEL_CAUSE_CALL)
	if id == "" || err != nil {
		return nil, err
	}
	ending, err := c.endingOf(ctx, row, id)
	return &compactordv1.CancelCompactionResponse{OperationId: id, Ending: ending}, err
}

// endElsewhere asks a compaction of another daemon to end, and waits until the row no longer names it. It returns its id,
// empty where there is none.
func (c *Compactor) endElsewhere(
	ctx context.Context, row *storagev1.Session, id string, cause storagev1.CancelCause,
) (found string, err error) {
	err = c.logs.Update(ctx, row.GetSessionId(), func(now *storagev1.Session) (*sessionlog.Write, error) {
		found = ""
		if now.GetUid() != row.GetUid() {
			return nil, nil
		}
		other, err := c.runsElsewhere(ctx, now, id)
		if other == nil || err != nil {
			return nil, err
		}
		found = other.GetOperationId()
		next := c.logs.BeginInternal(now)
		next.CancelRunning(found, cause)
		return next, nil
	})
	if err != nil || found == "" {
		return "", err
	}
	return found, c.waitElsewhere(ctx, storage.RefOf(row), found)
}

// waitElsewhere waits until a session's row no longer names a compaction of another daemon. Where that daemon dies, it
// records the interruption.
func (c *Compactor) waitElsewhere(ctx context.Context, ref storage.Ref, id string) error {
	ticker := time.NewTicker(heedEvery)
	defer ticker.Stop()
	for {
		row, err := c.logs.Row(ctx, ref.SessionID)
		if apierror.IsSessionNotFound(err) || row.GetUid() != ref.UID && err == nil {
			return nil
		}
		if err != nil {
			return err
		}
		if !sessionlog.Names(row, id) {
			return nil
		}
		other, err := c.runsElsewhere(ctx, row, id)
		if err != nil {
			return err
		}
		if other == nil {
			return c.recordLeft(ctx, ref, nil)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
