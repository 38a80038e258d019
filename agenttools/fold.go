package agenttools

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// fold shows what was done since a checkpoint as the model's own text.
func (t *Tools) fold(ctx context.Context, given Arguments) (string, error) {
	id := given.Number("checkpoint_id", 0)
	last, err := t.lastEvent(ctx, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: t.SessionID},
		Fold: &compactordv1.FoldRange{
			From: &compactordv1.FoldRange_CheckpointId{CheckpointId: id}, Text: strings.Trim(given.Text("result"), white),
		},
	})
	switch {
	case err != nil:
		return "", whyNotFolded(err, digits(id))
	case last.GetSkipped().GetReason() == compactordv1.SkipReason_SKIP_REASON_NO_GAIN:
		return "", toldError{Text("fold_not_shorter")}
	case len(last.GetCompleted().GetPrune().GetEdits()) == 0:
		return "", toldError{Text("nothing_folded", "checkpoint", digits(id))}
	}
	edit := last.GetCompleted().GetPrune().GetEdits()[0]
	return Text("folded", "first", digits(edit.GetFoldStart()), "last", digits(edit.GetFoldEnd()-1)), nil
}

// whyNotFolded returns what the model reads where the daemon does not know a checkpoint; else the error.
func whyNotFolded(err error, checkpoint string) error {
	for _, detail := range status.Convert(err).Details() {
		info, ok := detail.(*errdetails.ErrorInfo)
		switch {
		case !ok:
		case info.GetReason() == "CHECKPOINT_NOT_FOUND":
			return toldError{Text("fold_from_unknown", "checkpoint", checkpoint, "last", info.GetMetadata()["last_checkpoint"])}
		case info.GetReason() == "CHECKPOINT_PUT_ASIDE":
			return toldError{Text("fold_from_put_aside", "checkpoint", checkpoint)}
		}
	}
	return err
}

// lastEvent returns the last event of a compaction.
func (t *Tools) lastEvent(ctx context.Context, req *compactordv1.CompactRequest) (*compactordv1.CompactionEvent, error) {
	stream, err := t.Compactions.Compact(ctx, req)
	if err != nil {
		return nil, err
	}
	var last *compactordv1.CompactionEvent
	for {
		next, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return nil, err
		}
		last = next.GetEvent()
	}
}
