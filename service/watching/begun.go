package watching

import (
	"context"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// sendBegun sends `started` for each compaction that another daemon has begun. Its other events stay there; its end is in
// the log. A revert with a summary has no events.
func (w *watch) sendBegun(ctx context.Context, row *storagev1.Session) error {
	if !w.req.GetEvents() || !w.watching.Logs.Shared() {
		return nil
	}
	var running []string
	for _, r := range row.GetRunning() {
		if r.GetRevert() || r.GetOpening() == w.watching.Logs.Opening() {
			continue
		}
		running = append(running, r.GetOperationId())
		if slices.Contains(w.begun, r.GetOperationId()) {
			continue
		}
		err := w.sendEvent(ctx, &compactordv1.CompactionEvent{
			OperationId: r.GetOperationId(), Time: r.GetStartedAt(),
			Event: &compactordv1.CompactionEvent_Started{Started: &compactordv1.CompactionStarted{Reason: r.GetReason()}},
		})
		if err != nil {
			return err
		}
	}
	w.begun = running
	return nil
}
