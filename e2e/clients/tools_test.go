package clients_test

import (
	"encoding/json"
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

// tool runs a call of one of the agent's tools, as the clients do, and returns what it tells the model.
func (r *runner) tool(s step) (map[string]any, error) {
	r.t.Helper()
	var session, name string
	require.True(r.t, s.take(r.t, "session", &session))
	require.True(r.t, s.take(r.t, "name", &name))
	var written string
	if json.Unmarshal(s["arguments"], &written) != nil {
		written = string(s["arguments"])
	}
	run, ok := map[string]func(string, arguments) (string, error){
		"recall_content":  r.recallContent,
		"search_messages": r.searchMessages,
		"send_dmail":      r.sendDmail,
		"fold_since":      r.foldSince,
	}[name]
	require.True(r.t, ok, name)
	if name == "send_dmail" && r.mails[session] {
		return r.toolError(r.modelText("mail_pending")), nil
	}
	given, err := r.arguments(name, written)
	if err == nil {
		var text string
		if text, err = run(session, given); err == nil {
			return map[string]any{"text": text}, nil
		}
	}
	var told toldError
	if errors.As(err, &told) {
		return r.toolError(told.text), nil
	}
	why := err.Error()
	if refused, ok := status.FromError(err); ok {
		why = refused.Message()
	}
	notDone := map[string]string{
		"recall_content": "not_recalled", "search_messages": "not_searched", "send_dmail": "mail_not_sent", "fold_since": "not_folded",
	}
	return r.toolError(r.modelText(notDone[name], "why", why)), nil
}

// toldError is an error with the whole text for the model.
type toldError struct{ text string }

func (e toldError) Error() string { return e.text }

// sendDmail checks the checkpoint of a D-Mail.
func (r *runner) sendDmail(session string, given arguments) (string, error) {
	wanted, last := given.number("checkpoint_id", 0), uint32(0)
	all, err := r.records(&compactordv1.ListRecordsRequest{
		SessionId: session, Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_CHECKPOINT},
	})
	if err != nil {
		return "", err
	}
	for _, listed := range all {
		last = listed.GetCheckpoint().GetId()
		switch {
		case last != wanted:
		case listed.GetPutAside():
			return "", toldError{r.modelText("mail_to_put_aside", "checkpoint", digits(wanted))}
		default:
			r.mails[session] = true
			return r.modelText("mail_sent"), nil
		}
	}
	return "", toldError{r.modelText("mail_to_unknown", "checkpoint", digits(wanted), "last", digits(last))}
}

// foldSince folds from a checkpoint.
func (r *runner) foldSince(session string, given arguments) (string, error) {
	id := given.number("checkpoint_id", 0)
	req := &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: session},
		Fold: &compactordv1.FoldRange{
			From: &compactordv1.FoldRange_CheckpointId{CheckpointId: id}, Text: strings.Trim(given.text("result"), white),
		},
	}
	last, err := r.lastEvent(req)
	switch {
	case err != nil:
		return "", r.whyNotFolded(err, digits(id))
	case last.GetSkipped().GetReason() == compactordv1.SkipReason_SKIP_REASON_NO_GAIN:
		return "", toldError{r.modelText("fold_not_shorter")}
	case last.GetSkipped() != nil:
		return "", toldError{r.modelText("nothing_folded", "checkpoint", digits(id))}
	}
	edit := last.GetCompleted().GetPrune().GetEdits()[0]
	return r.modelText("folded", "first", digits(edit.GetFoldStart()), "last", digits(edit.GetFoldEnd()-1)), nil
}

// whyNotFolded returns what the model reads where the daemon does not know a checkpoint; else the error.
func (r *runner) whyNotFolded(err error, checkpoint string) error {
	var info *errdetails.ErrorInfo
	for _, detail := range status.Convert(err).Details() {
		if found, ok := detail.(*errdetails.ErrorInfo); ok {
			info = found
		}
	}
	switch info.GetReason() {
	case "CHECKPOINT_NOT_FOUND":
		return toldError{r.modelText("fold_from_unknown", "checkpoint", checkpoint, "last", info.GetMetadata()["last_checkpoint"])}
	case "CHECKPOINT_PUT_ASIDE":
		return toldError{r.modelText("fold_from_put_aside", "checkpoint", checkpoint)}
	default:
		return err
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

func digits[N uint32 | int](number N) string {
	return strconv.FormatUint(uint64(number), 10)
}
