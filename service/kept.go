package service

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/service/sessionlog"
)

// admit lets a write in for which there is room, on the disk and in the quotas of its tenant. Deletions are no writes, and
// are always let in.
func (s *Service) admit(ctx context.Context, w *sessionlog.Write) (done func(error), err error) {
	kept, err := s.quotas.BeginWrite(ctx, growthOf(w))
	if err != nil || s.room.Limit() == 0 {
		return kept, err
	}
	wrote, err := s.room.Begin(w.Size())
	if err != nil {
		kept(err)
		return nil, err
	}
	return func(err error) {
		wrote()
		kept(err)
	}, nil
}

// growthOf returns what a write adds to what its tenant keeps.
func growthOf(w *sessionlog.Write) quota.Growth {
	g := quota.Growth{Appended: int64(w.AddedBytes()), Always: lessens(w)}
	g.Use.LogBytes = int64(w.Row().GetLogBytes()) - int64(w.Before().GetLogBytes())
	if w.New() {
		g.Use.Sessions = 1
	}
	return g
}

// lessens reports whether a write leaves less to read, so that an agent whose tenant has no room can still go back or
// compact: it appends little.
func lessens(w *sessionlog.Write) bool {
	if w.New() {
		return false
	}
	for _, r := range w.Records() {
		switch r.GetRecord().GetKind().(type) {
		case *compactordv1.Record_Compaction:
			// With a message that tells the agent to go on.
			return true
		case *compactordv1.Record_Prune, *compactordv1.Record_Attempt, *compactordv1.Record_Revert, *compactordv1.Record_Unpin:
		default:
			return false
		}
	}
	return len(w.Messages()) == 0
}

// deleting lets a deletion in.
func (s *Service) deleting(ctx context.Context) (done func(*storagev1.Session, error), err error) {
	end, err := s.quotas.BeginDelete(ctx)
	if err != nil {
		return nil, err
	}
	return func(row *storagev1.Session, err error) {
		if row == nil {
			end(nil, err)
			return
		}
		end(&quota.Use{Sessions: 1, LogBytes: int64(row.GetLogBytes())}, err)
	}, nil
}

// keptLogs reads what tenants keep from their logs.
type keptLogs struct{ service *Service }

// Count implements quota.Kept.
func (k keptLogs) Count(ctx context.Context) (quota.Use, bool, error) {
	kept, err := k.service.logs.Kept(ctx)
	return quota.Use{Sessions: kept.Sessions, LogBytes: kept.LogBytes}, kept.Unmeasured > 0, err
}

// Measure implements quota.Kept.
func (k keptLogs) Measure(ctx context.Context) error { return k.service.logs.Measure(ctx) }

// measuringFailed logs that logs of a tenant could not be measured. Their bytes do not count before the next start.
func (s *Service) measuringFailed(tenant string, err error) {
	s.logger.WarnContext(context.Background(), "logs not measured for the quota log_bytes", "tenant", tenant, "error", err)
}
