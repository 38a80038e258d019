package views

import (
	"context"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Log is a session's log. sessionlog.Logs implements it.
type Log interface {
	// State returns what the view of a head shows.
	State(ctx context.Context, row *storagev1.Session, h *storagev1.Head) (*session.State, error)
	// Drawing returns the drawing of the view of a head, for a caller that wants about so many bytes of it.
	Drawing(ctx context.Context, row *storagev1.Session, h *storagev1.Head, wanted int) (*session.Drawing, error)
	// PolicyAt returns the policy that was in force at a head.
	PolicyAt(ctx context.Context, row *storagev1.Session, h *storagev1.Head) (*compactordv1.Policy, error)
	// HeadAt returns the head of a session at a point.
	HeadAt(ctx context.Context, row *storagev1.Session, point uint32) (*storagev1.Head, error)
}

// Request asks for a view.
type Request struct {
	Row *storagev1.Session
	// Head is the row's head, or that of an earlier point.
	Head     *storagev1.Head
	Thinking compactordv1.ThinkingPolicy
	// Held is the token of the view that the client has. A token that does not fit counts as none.
	Held string
	// Extra are the context blocks of this request alone.
	Extra session.ExtraBlocks
	// MarkBreakpoints adds the marks of the provider's prompt cache to a rendered view.
	MarkBreakpoints bool
	// Sources says for each message of a rendered view which messages of the neutral one it was made from.
	Sources bool
	// Kept keeps rendered lists for their next pages.
	Kept *KeptLists
	// Trails keeps what is remembered of rendered lists for the next delta.
	Trails *Trails
	// Rereads says which rendered lists are checked a second time; nil for every one.
	Rereads *Rereads
	// MaxBytes limits the messages of a page, which holds at least one message.
	MaxBytes int
	// HeldBytes is how many bytes of messages of a larger view are held beside the page; 0 for the default.
	HeldBytes int
}

// token returns the token of the requested view, without the number of messages that the client will have.
func (r *Request) token(kind compactordv1.Dialect) session.ViewToken {
	token := session.ViewToken{
		UID: r.Row.GetUid(), Point: session.Point(r.Head), NextIndex: r.Head.GetNextIndex(),
		Options: session.HashOptions(
			kind, r.Row.GetResolvedPolicy(), session.ViewOptions{Thinking: r.Thinking}, r.MarkBreakpoints),
	}
	if len(r.Head.GetBlocks()) > 0 {
		token.BlocksAt = proto.Uint32(session.LatestPlace(r.Head))
	}
	if len(r.Extra.Messages) > 0 {
		token.Extra = &session.HeldExtra{Hash: r.Extra.Hash, Tokens: r.Extra.Tokens}
	}
	return token
}

// held parses the client's token, and returns how its view relates to the requested one.
func (r *Request) held(wanted session.ViewToken) (session.ViewToken, session.Delta) {
	held, err := session.ParseViewToken(r.Held)
	if err != nil {
		return session.ViewToken{}, session.DeltaNone
	}
	return held, held.Compare(r.Head, wanted.UID, wanted.Options)
}

// WorkBytes returns about how many bytes of the view are drawn or rendered for the page: all of them, none for a page of
// a list that is kept, a page for the rest of such a list and for neutral messages whose place and figures are known, and
// what comes after the place from which a list is gone on.
func (r *Request) WorkBytes(kind compactordv1.Dialect) int {
	all := int(r.Head.GetViewBytes())
	token := r.token(kind)
	held, relation := r.held(token)
	if kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		known := relation == session.DeltaAppended && held.Point == token.Point && held.Resume != nil &&
			(held.Resume.Figures != nil || r.isNewest() && r.hasSessionsThinking())
		if known {
			return min(all, r.MaxBytes)
		}
		return all
	}
	if relation == session.DeltaAppended && held.Point == token.Point {
		switch list, at := r.Kept.goingOn(token, held); {
		case list == nil:
		case list.has(at, r.MaxBytes):
			return 0
		default:
			return min(all, r.MaxBytes)
		}
	}
	if at := r.restartAt(r.Trails.of(held), held, relation); at != nil {
		return max(all-at.passed(), 0)
	}
	return all
}

// isNewest says that the requested view is the current one, whose figures are in the head.
func (r *Request) isNewest() bool { return r.Head == r.Row.GetHead() }
