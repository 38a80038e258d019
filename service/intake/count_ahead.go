package intake

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// countAheadBytes is the request size from which messages are counted before the session is locked. Counting smaller
// ones takes at most some hundredths of a second.
const countAheadBytes = 64 << 10

// countAhead counts large messages by the session's estimator, before the session is locked. So other writers need not
// wait, the context can end the counting, and it is done once even if the append is tried several times.
func (i *Intake) countAhead(ctx context.Context, req *compactordv1.AppendMessagesRequest, in *input) error {
	if proto.Size(req) < countAheadBytes {
		return nil
	}
	row, err := i.Logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	counter, err := session.CounterFor(row.GetEstimator())
	if err != nil {
		return err
	}
	in.estimator = row.GetEstimator()
	in.ahead, err = session.CountAhead(ctx, counter, in.messages...)
	return err
}

// counter returns the counter of an estimator, with what was counted ahead. The session may have been created anew
// since, with another estimator.
func (in *input) counter(e compactordv1.Estimator) (session.Counter, error) {
	if in.ahead != nil && in.estimator == e {
		return in.ahead, nil
	}
	return session.CounterFor(e)
}
