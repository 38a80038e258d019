package views

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Log is where views are read from. sessionlog.Logs is one.
type Log interface {
	// State reads what the view of a head shows.
	State(ctx context.Context, row *storagev1.Session, h *storagev1.Head) (*session.State, error)
	// StateFrom is State with the kept part from an index on only.
	StateFrom(ctx context.Context, row *storagev1.Session, h *storagev1.Head, from uint32) (*session.State, error)
	// HeadAt returns the head of a session at a point.
	HeadAt(ctx context.Context, row *storagev1.Session, point uint32) (*storagev1.Head, error)
}

// Request asks for a view.
type Request struct {
	Row *storagev1.Session
	// Head is the row's, or that of an earlier point of the log.
	Head     *storagev1.Head
	Thinking compactordv1.ThinkingPolicy
	// Held is the token of the view that the client holds. One that does not fit is as good as none.
	Held string
	// MarkBreakpoints puts marks for the provider's prompt cache into a view in a dialect.
	MarkBreakpoints bool
	// MaxBytes is where a page ends, after one message at the earliest.
	MaxBytes int
}

// token names the view that is asked for, but for how many messages the client will hold of it.
func (r *Request) token(kind compactordv1.Dialect) session.ViewToken {
	return session.ViewToken{
		UID: r.Row.GetUid(), Point: session.Point(r.Head), NextIndex: r.Head.GetNextIndex(),
		Options: session.HashOptions(
			r.Head, kind, r.Row.GetResolvedPolicy(), session.ViewOptions{Thinking: r.Thinking}, r.MarkBreakpoints),
	}
}

// held reads the token of the client, and how its view relates to the one that is asked for.
func (r *Request) held(wanted session.ViewToken) (session.ViewToken, session.Delta) {
	held, err := session.ParseViewToken(r.Held)
	if err != nil {
		return session.ViewToken{}, session.DeltaNone
	}
	return held, held.Compare(r.Head, wanted.UID, wanted.Options)
}

// isNewest says that the view is asked for as it is now, whose figures the head has.
func (r *Request) isNewest() bool { return r.Head == r.Row.GetHead() }

// withMetrics is a head with the figures of today's policy. One of an earlier point has those of the policy of then.
func (r *Request) withMetrics(s *session.State) *storagev1.Head {
	if r.isNewest() {
		return r.Head
	}
	return s.WithMetrics()
}
