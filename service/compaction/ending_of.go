package compaction

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// endingOf returns the last event of a compaction as the log has it, of the records since a row was read; nil where they
// have none.
func (c *Compactor) endingOf(ctx context.Context, since *storagev1.Session, id string) (*compactordv1.CompactionEvent, error) {
	row, err := c.logs.Row(ctx, since.GetSessionId())
	if apierror.IsSessionNotFound(err) || err == nil && row.GetUid() != since.GetUid() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := c.logs.Records(ctx, row, since.GetHead().GetNextSequence(), row.GetHead().GetNextSequence())
	if err != nil {
		return nil, err
	}
	ending := &compactordv1.CompactionEvent{OperationId: id}
	completed := &compactordv1.CompactionCompleted{}
	for _, stored := range records {
		record := stored.GetRecord()
		switch {
		case record.GetAttempt().GetProvenance().GetOperationId() == id:
			ending.Time = record.GetCreatedAt()
			setOutcome(ending, record.GetAttempt())
			return ending, nil
		case record.GetPrune().GetProvenance().GetOperationId() == id:
			completed.Prune = record.GetPrune()
		case record.GetCompaction().GetProvenance().GetOperationId() == id:
			completed.Compaction = record.GetCompaction()
		default:
			continue
		}
		ending.Time = record.GetCreatedAt()
		ending.Event = &compactordv1.CompactionEvent_Completed{Completed: completed}
	}
	if ending.GetEvent() == nil {
		return nil, nil
	}
	return ending, nil
}

// setOutcome makes an event the last one of a compaction that left no entry.
func setOutcome(e *compactordv1.CompactionEvent, a *compactordv1.CompactionAttempt) {
	switch a.GetOutcome() {
	case compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED:
		e.Event = &compactordv1.CompactionEvent_Cancelled{
			Cancelled: &compactordv1.CompactionCancelled{Message: a.GetMessage()},
		}
	case compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_SKIPPED:
		e.Event = &compactordv1.CompactionEvent_Skipped{
			Skipped: &compactordv1.CompactionSkipped{Reason: a.GetSkipReason(), Message: a.GetMessage()},
		}
	default:
		e.Event = &compactordv1.CompactionEvent_Failed{
			Failed: &compactordv1.CompactionFailed{
				StatusCode: a.GetStatusCode(), Reason: a.GetErrorReason(), Message: a.GetMessage(),
			},
		}
	}
}
