package intake

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// Appended is what came of a request to append.
type Appended struct {
	Answer *compactordv1.AppendMessagesResponse
	// Head and Policy are those of the session after it. They must not be changed.
	Head   *storagev1.Head
	Policy *compactordv1.Policy
	// Pruned is the entry of policy.on_user_message; nil where there is none.
	Pruned *compactordv1.PruneEntry
}

// Append appends the messages of a request, and the records that came with them.
func (i *Intake) Append(ctx context.Context, req *compactordv1.AppendMessagesRequest) (*Appended, error) {
	if err := checkImports(req); err != nil {
		return nil, err
	}
	sent, err := i.readAppend(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := i.countAhead(ctx, req, sent); err != nil {
		return nil, err
	}
	answer := &compactordv1.AppendMessagesResponse{}
	done := &Appended{Answer: answer}
	err = i.Logs.UpdateFromKept(ctx, req.GetSessionId(), func(row *storagev1.Session, read bool) (*sessionlog.Write, error) {
		proto.Reset(answer)
		done.Head, done.Policy, done.Pruned = row.GetHead(), row.GetResolvedPolicy(), nil
		if read {
			if known, err := i.recordedAppend(ctx, row, req, answer); known || err != nil {
				return nil, err
			}
		}
		in, w := sent.unlinked(), i.Logs.Begin(row)
		if req.GetModelAnswer() {
			answer.Answer = i.classifyAnswer(in, row)
		}
		if err := i.appendRequest(ctx, w, in, req); err != nil {
			return nil, err
		}
		if done.Pruned, err = i.Compactor.OnUserMessage(ctx, w); err != nil {
			return nil, err
		}
		answer.FirstIndex, answer.NextIndex = row.GetHead().GetNextIndex(), w.Head().GetNextIndex()
		answer.Point = session.Point(w.Head())
		if answer.Report, err = w.Report(ctx); err != nil {
			return nil, err
		}
		answer.Findings = in.reported()
		if answer.GetAnswer() != nil {
			i.describeAnswer(answer.GetAnswer(), in.messages[len(in.messages)-1], answer.GetNextIndex()-1)
		}
		done.Head, done.Policy = w.Head(), w.Row().GetResolvedPolicy()
		return w, rememberAppended(w, req, answer)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// appendRequest adds the messages of a request and its records to the write.
func (i *Intake) appendRequest(
	ctx context.Context, w *sessionlog.Write, in *input, req *compactordv1.AppendMessagesRequest,
) error {
	next := w.Head().GetNextIndex()
	if req.ExpectedNextIndex != nil && req.GetExpectedNextIndex() != next {
		return wrongNextIndex(next)
	}
	view, err := viewOf(req.GetViewToken(), w.Before())
	if err != nil {
		return err
	}
	if len(req.GetImportedRecords()) > 0 {
		err = in.appendWithRecords(ctx, w, req.GetImportedRecords(), view, i.Logs.Now())
	} else {
		err = in.appendTo(ctx, w, view, nil)
	}
	if err != nil {
		return err
	}
	return in.refuseIfStrict()
}

func wrongNextIndex(next uint32) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_WRONG_NEXT_INDEX,
		map[string]string{"next_index": strconv.FormatUint(uint64(next), 10)},
		"expected_next_index: the next message gets index %d", next)
}

// readAppend reads the messages of a request.
func (i *Intake) readAppend(ctx context.Context, req *compactordv1.AppendMessagesRequest) (in *input, err error) {
	in, err = i.read(ctx, req, req.GetStrict())
	if err == nil && req.GetModelAnswer() {
		err = in.requireAnswer()
	}
	return in, err
}

// viewOf returns the token of the view that the messages were made from; nil where the request has none.
func viewOf(token string, row *storagev1.Session) (*session.ViewToken, error) {
	if token == "" {
		return nil, nil
	}
	t, err := session.ParseViewToken(token)
	if err != nil || t.UID != row.GetUid() || t.Point >= row.GetHead().GetNextSequence() {
		return nil, apierror.InvalidToken("view_token")
	}
	if t.Point < row.GetHead().GetLastRevert() {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_HISTORY_REVERTED, nil,
			"view_token: the history was reverted after this view was made; get a new view and try the turn again")
	}
	return &t, nil
}
