package service

import (
	"bufio"
	"os"
	"time"

	"google.golang.org/grpc"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage/backup"
)

// backupRetry is after how long a client should try again while another backup runs.
const backupRetry = 10 * time.Second

// backupPiece is the most bytes of a backup in one response.
const backupPiece = 1 << 20

// Backup implements compactordv1.StoreServiceServer.
func (s *Service) Backup(_ *compactordv1.BackupRequest, stream grpc.ServerStreamingServer[compactordv1.BackupResponse]) error {
	ctx := stream.Context()
	if access.CallerOf(ctx).Tenant != tenant.Default {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED, map[string]string{"role": access.Admin.String()},
			"Backup has the sessions of all tenants, and needs a token of none")
	}
	if s.snapshots == nil {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED, nil, "the store of this daemon cannot be copied")
	}
	select {
	case s.backups <- struct{}{}:
		defer func() { <-s.backups }()
	default:
		e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_TOO_MANY_WAITING, map[string]string{"pool": "backups"},
			"another backup runs: try again later")
		e.RetryAfter = backupRetry
		return e
	}
	return s.snapshots.Snapshot(ctx, func(file *os.File, sessions int) error {
		to := bufio.NewWriterSize(pieces{stream}, backupPiece)
		if _, err := backup.Write(to, file, sessions, s.hooks.Now()); err != nil {
			return err
		}
		return to.Flush()
	})
}

// pieces sends what is written to it.
type pieces struct {
	stream grpc.ServerStreamingServer[compactordv1.BackupResponse]
}

func (p pieces) Write(content []byte) (int, error) {
	// The writer goes on with its memory, which a response that waits may still need.
	for piece := content; len(piece) > 0; {
		n := min(len(piece), backupPiece)
		if err := p.stream.Send(&compactordv1.BackupResponse{Content: append([]byte(nil), piece[:n]...)}); err != nil {
			return 0, err
		}
		piece = piece[n:]
	}
	return len(content), nil
}
