package intake

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// countAheadBytes is how large a request is whose messages are counted before the session is locked. Counting
// smaller ones takes some hundredths of a second at most.
const countAheadBytes = 64 << 10

// countAhead counts messages by the estimator of the session that they are appended to, so that other writers need not
// wait for it, the context can end it, and it is done once however often the append is tried.
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

// counter is the counter of an estimator, which knows what was counted ahead. The session can be another one by now.
func (in *input) counter(e compactordv1.Estimator) (session.Counter, error) {
	if in.ahead != nil && in.estimator == e {
		return in.ahead, nil
	}
	return session.CounterFor(e)
}
