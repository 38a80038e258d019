package service_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// pieceStore is a store in which a function is called before each piece of a log, and before the last commit, and can refuse
// it.
type pieceStore struct {
	storage.Store
	pieces atomic.Int64
	before func(ctx context.Context, piece int) error
}

func (s *pieceStore) Draft(ctx context.Context, ref storage.Ref) (storage.Draft, error) {
	draft, err := s.Store.Draft(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &pieceDraft{draft, s}, nil
}

type pieceDraft struct {
	storage.Draft
	store *pieceStore
}

func (d *pieceDraft) wait(ctx context.Context) error {
	n := d.store.pieces.Add(1)
	if d.store.before == nil {
		return nil
	}
	return d.store.before(ctx, int(n))
}

func (d *pieceDraft) Append(ctx context.Context, p *storage.LogPiece) error {
	if err := d.wait(ctx); err != nil {
		return err
	}
	return d.Draft.Append(ctx, p)
}

func (d *pieceDraft) Create(ctx context.Context, c *storage.Commit) error {
	if err := d.wait(ctx); err != nil {
		return err
	}
	return d.Draft.Create(ctx, c)
}

// longPieces is how many times a session of longSession is written to, when it is copied: its pieces, and the last commit.
const longPieces = 3

// longSession creates a session s with 9 MiB, and records between its messages.
func longSession(d *daemon) {
	_, err := d.sessions.CreateSession(d.t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s", Policy: small(9_000_000)})
	require.NoError(d.t, err)
	for n := range 9 {
		d.append("s", user(strings.Repeat(fmt.Sprintf("line %d of a long text\n", n), 1<<20/23)), assistant(fmt.Sprint("I see ", n)))
		if n%3 == 0 {
			d.checkpoint("s", false)
		}
	}
}

// manyCores lets calls work while a copy waits for them.
func manyCores(o *service.ServerOptions) { o.Admission = admission.Options{Cores: 8} }

// longFork is a fork of it that can be sent again.
func longFork(id string) *compactordv1.ForkSessionRequest {
	return &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: id, RequestId: "r"}
}

// requireCopied requires that a fork has the log and the views that its source had at its point.
func (d *daemon) requireCopied(t *testing.T, fork *compactordv1.Session) {
	t.Helper()
	messages, records := d.messages("s"), d.records("s")
	copied := d.messages(fork.GetSessionId())
	require.Len(t, copied, int(fork.GetNextIndex()))
	for i, l := range copied {
		l.State, messages[i].State = 0, 0
		require.Equal(t, sessiontest.Bytes(messages[i]), sessiontest.Bytes(l))
	}
	for i, r := range d.records(fork.GetSessionId()) {
		require.Equal(t, sessiontest.Bytes(records[i]), sessiontest.Bytes(r))
	}
	req := viewRequest()
	req.Target, req.MaxBytes = &compactordv1.GetLLMViewRequest_SessionId{SessionId: fork.GetSessionId()}, 32<<20
	then := viewRequest()
	then.AsOf, then.MaxBytes = proto.Uint32(fork.GetPoint()), 32<<20
	requireSameBytes(t, d.fullView(then), d.fullView(req))
}

// A long session is copied piece by piece, at any of its points, with what a fork of a short one has.
func TestForkOfALongSession(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() storage.Store{
		"bolt":   func() storage.Store { return openStore(t, filepath.Join(t.TempDir(), "store.db")) },
		"memory": func() storage.Store { return memory.New() },
	} {
		t.Run(name, func(t *testing.T) {
			store := &pieceStore{Store: open()}
			d := start(t, withStore(store), manyCores)
			longSession(d)
			policy := small(8_000_000)
			last := d.session("s").GetSession().GetPoint()
			for point, req := range map[uint32]*compactordv1.ForkSessionRequest{
				last: longFork("last"),
				20:   {SessionId: "s", NewSessionId: "earlier", At: &compactordv1.ForkSessionRequest_Point{Point: 20}},
				last - 1: {
					SessionId: "s", NewSessionId: "policy", At: &compactordv1.ForkSessionRequest_Point{Point: last - 1}, Policy: policy,
				},
			} {
				before := store.pieces.Load()
				answer := d.fork(req)
				require.Greater(t, store.pieces.Load(), before+2, "it is written in pieces")
				fork := d.session(req.GetNewSessionId()).GetSession()
				require.True(t, proto.Equal(fork, answer.GetSession()))
				require.Equal(t, point, fork.GetForkedFrom().GetPoint())
				if req.GetPolicy() == nil {
					d.requireCopied(t, fork)
				}
				d.append(req.GetNewSessionId(), user("on"))
			}
			d.requireSound(t)
		})
	}
}

// addMeanwhile adds two messages to the session that is being copied.
func (d *daemon) addMeanwhile() error {
	_, err := d.sessions.AppendMessages(d.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("meanwhile"), assistant("yes")},
	})
	return err
}

// Before it is whole, nobody sees anything of a copy. What is added to its source meanwhile is not in it.
func TestNobodySeesAHalfCopiedSession(t *testing.T) {
	t.Parallel()
	store := &pieceStore{Store: memory.New()}
	d := start(t, withStore(store), manyCores)
	longSession(d)
	added := uint32(0)
	store.before = func(context.Context, int) error {
		_, err := d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "f"})
		if statusCode(err) != codes.NotFound {
			return fmt.Errorf("the copy is seen: %w", err)
		}
		list, err := d.sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
		if err != nil || len(list.GetSessions()) != 1 {
			return fmt.Errorf("the copy is listed: %w", err)
		}
		added++
		return d.addMeanwhile()
	}
	point := d.session("s").GetSession().GetPoint()
	fork := d.fork(longFork("f")).GetSession()
	require.Equal(t, point, fork.GetPoint())
	require.Equal(t, point+2*added, d.session("s").GetSession().GetPoint())
	d.requireCopied(t, fork)
	d.requireSound(t)
}

// A child that sees everything is copied while its parent goes on. None is made of a parent that is deleted meanwhile.
func TestLongChildBesideItsParent(t *testing.T) {
	t.Parallel()
	store := &pieceStore{Store: memory.New()}
	d := start(t, withStore(store), manyCores)
	longSession(d)
	everything := &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_EVERYTHING}
	store.before = func(_ context.Context, piece int) error {
		if piece >= longPieces {
			return nil
		}
		return d.addMeanwhile()
	}
	child := d.fork(childOf("s", "child", everything)).GetSession()
	require.EqualValues(t, longPieces, store.pieces.Load())
	d.requireCopied(t, child)

	store.pieces.Store(0)
	store.before = func(_ context.Context, piece int) error {
		if piece == longPieces-1 {
			d.end(&compactordv1.EndChildRequest{SessionId: "child"})
			d.delete("child")
			d.delete("s")
		}
		return nil
	}
	_, err := d.sessions.ForkSession(t.Context(), childOf("s", "other", everything))
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	counts, err := store.CountSessions(t.Context())
	require.NoError(t, err)
	require.Empty(t, counts)
}

// Where any write of a copy fails, nothing of it is there, and the same request can be sent again.
func TestCopyWhoseWritesFail(t *testing.T) {
	t.Parallel()
	store := &pieceStore{Store: openStore(t, filepath.Join(t.TempDir(), "store.db"))}
	d := start(t, withStore(store), manyCores)
	longSession(d)
	var cancel func()
	for name, failure := range map[string]func(context.Context) error{
		"disk": func(context.Context) error { return storage.NewDiskError(fmt.Errorf("sync: %w", syscall.EIO)) },
		"cancelled": func(ctx context.Context) error {
			cancel()
			// The daemon learns of it.
			<-ctx.Done()
			return nil
		},
	} {
		for fails := 1; fails <= longPieces; fails++ {
			ctx, end := context.WithCancel(t.Context())
			cancel = end
			store.pieces.Store(0)
			store.before = func(ctx context.Context, piece int) error {
				if piece == fails {
					return failure(ctx)
				}
				return nil
			}
			_, err := d.sessions.ForkSession(ctx, longFork("f"))
			end()
			require.Error(t, err)
			if name == "disk" {
				require.Equal(t, codes.Unavailable, statusCode(err), err)
				_, err = d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "f"})
				requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
			}
		}
	}
	store.before = nil
	first, again := d.fork(longFork("f")), d.fork(longFork("f"))
	require.True(t, proto.Equal(first, again))
	d.requireCopied(t, first.GetSession())
	d.requireSound(t)
}

// A copy for which its tenant has no room is refused before anything is written, and one that is written counts.
func TestCopyWithinQuotas(t *testing.T) {
	t.Parallel()
	store := &pieceStore{Store: memory.New()}
	limit := int64(14 << 20)
	d := start(t, withStore(store), manyCores, func(o *service.ServerOptions) {
		o.Quotas = func(string) quota.Limits { return quota.Limits{LogBytes: atomic.LoadInt64(&limit), LogBytesKey: "q"} }
	})
	longSession(d)
	refused := func(req *compactordv1.ForkSessionRequest) {
		t.Helper()
		_, err := d.sessions.ForkSession(t.Context(), req)
		requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
	}
	refused(longFork("f"))
	require.Zero(t, store.pieces.Load())
	half := longFork("half")
	half.At = &compactordv1.ForkSessionRequest_Point{Point: 9}
	d.fork(half)
	refused(longFork("f"))
	atomic.StoreInt64(&limit, 24<<20)
	d.fork(longFork("f"))
	half.NewSessionId = "other"
	refused(half)
	d.requireSound(t)
}

// Two requests for the same copy make one, and both get its answer.
func TestCopiesOfOneIDAtOnce(t *testing.T) {
	t.Parallel()
	store := &pieceStore{Store: memory.New()}
	d := start(t, withStore(store), manyCores)
	longSession(d)
	var first *compactordv1.ForkSessionResponse
	store.before = func(_ context.Context, piece int) (err error) {
		if piece == 2 {
			first, err = d.sessions.ForkSession(t.Context(), longFork("f"))
		}
		return err
	}
	second := d.fork(longFork("f"))
	require.NotNil(t, first)
	require.True(t, proto.Equal(first, second))
	_, err := d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "f"})
	require.Equal(t, codes.AlreadyExists, statusCode(err))
	d.requireCopied(t, second.GetSession())
	d.requireSound(t)
}
