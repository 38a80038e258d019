package summaries

import (
	"cmp"
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// The time limits where neither the policy nor the summarizer sets others.
const (
	defaultTryTimeout   = 2 * time.Minute
	defaultTotalTimeout = 10 * time.Minute
)

// limits are the time limits for one request to the summarizer, and for all requests of an operation, which end at the
// deadline. The fallback has no limit, since it writes when they are over.
type limits struct {
	try, total time.Duration
	deadline   time.Time
}

// limitsOf returns the limits of an operation that begins now: the policy's, else the summarizer's own, else the
// defaults.
func limitsOf(p *compactordv1.SummaryPolicy, by summarizers.Summarizer) limits {
	var try, total time.Duration
	if own, has := by.(summarizers.Persistent); has {
		try, total = own.Timeouts()
	}
	l := limits{
		try:   chosen(p.GetTryTimeout(), cmp.Or(try, defaultTryTimeout)),
		total: chosen(p.GetTotalTimeout(), cmp.Or(total, defaultTotalTimeout)),
	}
	l.deadline = time.Now().Add(l.total)
	return l
}

// chosen returns a duration of the policy, or the default where it is not set.
func chosen(d *durationpb.Duration, byDefault time.Duration) time.Duration {
	if d == nil {
		return byDefault
	}
	return d.AsDuration()
}

// span is a time limit with its end.
type span struct {
	limit time.Duration
	end   time.Time
}

func (l limits) ofAll() span { return span{l.total, l.deadline} }

// ofTry returns the limit of one request, or what is left of the total limit where that ends earlier.
func (l limits) ofTry() span {
	if end := time.Now().Add(l.try); end.Before(l.deadline) {
		return span{l.try, end}
	}
	return l.ofAll()
}

// within runs do until the limit ends. Then it returns a TimeLimitError, unless a provider has answered with an error.
func (s span) within(ctx context.Context, do func(ctx context.Context) error) error {
	limited, cancel := context.WithDeadline(ctx, s.end)
	defer cancel()
	err := do(limited)
	var answered *summarizers.ProviderError
	if err != nil && limited.Err() != nil && ctx.Err() == nil && !errors.As(err, &answered) {
		return &summarizers.TimeLimitError{Limit: s.limit}
	}
	return err
}
