package clients_test

import (
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// foldSince folds as the agent's tool fold_since does, and returns what the tool tells the model.
func (r *runner) foldSince(s step) (map[string]any, error) {
	var id uint32
	require.True(r.t, s.take(r.t, "checkpoint_id", &id))
	checkpoint := strconv.FormatUint(uint64(id), 10)
	fold := &compactordv1.FoldRange{From: &compactordv1.FoldRange_CheckpointId{CheckpointId: id}}
	require.True(r.t, s.take(r.t, "result", &fold.Text))
	req := &compactordv1.CompactRequest{Fold: fold}
	s.request(r.t, req, "checkpoint_id", "result")
	req.Fold = fold
	last, err := r.lastEvent(req)
	switch {
	case err != nil:
		return r.toolError(r.whyNotFolded(err, checkpoint)), nil
	case last.GetSkipped().GetReason() == compactordv1.SkipReason_SKIP_REASON_NO_GAIN:
		return r.toolError(r.modelText("fold_not_shorter")), nil
	case last.GetSkipped() != nil:
		return r.toolError(r.modelText("nothing_folded", "checkpoint", checkpoint)), nil
	}
	edit := last.GetCompleted().GetPrune().GetEdits()[0]
	first, end := int(edit.GetFoldStart()), int(edit.GetFoldEnd())
	return map[string]any{"text": r.modelText("folded", "first", strconv.Itoa(first), "last", strconv.Itoa(end-1))}, nil
}

// whyNotFolded returns what the model reads where the daemon refuses a fold.
func (r *runner) whyNotFolded(err error, checkpoint string) string {
	var info *errdetails.ErrorInfo
	for _, detail := range status.Convert(err).Details() {
		if found, ok := detail.(*errdetails.ErrorInfo); ok {
			info = found
		}
	}
	switch info.GetReason() {
	case "CHECKPOINT_NOT_FOUND":
		return r.modelText("fold_from_unknown", "checkpoint", checkpoint, "last", info.GetMetadata()["last_checkpoint"])
	case "CHECKPOINT_PUT_ASIDE":
		return r.modelText("fold_from_put_aside", "checkpoint", checkpoint)
	default:
		return r.modelText("not_folded", "why", status.Convert(err).Message())
	}
}

// lastEvent returns the last event of a compaction.
func (r *runner) lastEvent(req *compactordv1.CompactRequest) (*compactordv1.CompactionEvent, error) {
	stream, err := r.Compactions.Compact(r.t.Context(), req)
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

func (r *runner) toolError(text string) map[string]any {
	return map[string]any{"text": text, "is_error": true}
}

// modelText returns a text of clients/texts.json, with values for its placeholders.
func (r *runner) modelText(name string, values ...string) string {
	r.t.Helper()
	var all map[string]string
	read(r.t, filepath.Join(table, "..", "texts.json"), &all)
	text, ok := all[name]
	require.True(r.t, ok, name)
	for i := 0; i < len(values); i += 2 {
		text = strings.ReplaceAll(text, "{"+values[i]+"}", values[i+1])
	}
	return text
}
