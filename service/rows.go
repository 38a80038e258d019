package service

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// row reads a session, or says that there is none by this id.
func (s *Service) row(ctx context.Context, id string) (*storagev1.Session, error) {
	row, err := s.store.Session(ctx, tenant(ctx), id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, apierror.SessionNotFound(id)
	}
	return row, err
}

// pending is what an operation is about to write: the row as it will be, and what is appended.
type pending struct {
	before *storagev1.Session
	commit storage.Commit
	// state is the state after the last record; nil where only messages were appended.
	state *session.State
}

func (s *Service) begin(row *storagev1.Session) *pending {
	next := proto.CloneOf(row)
	next.Revision++
	next.ChangedAt = s.now()
	return &pending{before: row, commit: storage.Commit{Session: next}}
}

// fork returns a copy that can be added to and thrown away.
func (p *pending) fork() *pending {
	other := *p
	other.commit.Session = proto.CloneOf(p.commit.Session)
	other.commit.Records = slices.Clip(p.commit.Records)
	other.commit.Messages = slices.Clip(p.commit.Messages)
	return &other
}

func (p *pending) head() *storagev1.Head { return p.commit.Session.GetHead() }

func (s *Service) now() *timestamppb.Timestamp { return timestamppb.New(s.hooks.Now()) }

// record appends a record to what is pending.
func (s *Service) record(
	ctx context.Context, p *pending, r *compactordv1.Record, at *storagev1.Head,
) (*compactordv1.Record, error) {
	if p.state == nil {
		state, err := storage.LoadState(ctx, s.store, p.before, p.head())
		if err != nil {
			return nil, err
		}
		p.state = state
	}
	r.CreatedAt = s.now()
	written, err := session.Write(p.state, r, at, func(h *storagev1.Head) (*session.State, error) {
		return storage.LoadState(ctx, s.store, p.before, h)
	})
	if err != nil {
		return nil, err
	}
	p.state = written.State
	p.commit.Session.Head = written.State.Head
	p.commit.Records = append(p.commit.Records,
		&storagev1.StoredRecord{Schema: 1, Record: written.Record, Head: written.State.Head})
	return written.Record, nil
}

// attempts bounds how often an operation starts anew because another daemon was faster.
const attempts = 100

// update lets change compute what a session's operation writes, and commits it; from the start where somebody else was
// faster. Where change returns nil, having found nothing to write, nothing is.
func (s *Service) update(
	ctx context.Context, id string, change func(row *storagev1.Session) (*pending, error),
) error {
	name := nameOf(ctx, id)
	leave, err := s.lanes.enter(ctx, name)
	if err != nil {
		return err
	}
	defer leave()
	for range attempts {
		row, err := s.row(ctx, id)
		if err != nil {
			return err
		}
		p, err := change(row)
		if err != nil || p == nil {
			return err
		}
		err = s.store.Commit(ctx, &p.commit)
		if err == nil {
			s.watchers.wake(name)
			return nil
		}
		// A request that another copy of it has committed meanwhile is answered from what that wrote.
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrRequestKnown) {
			return err
		}
	}
	return storage.ErrConflict
}

func wrongNextIndex(next uint32) *apierror.Error {
	e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_WRONG_NEXT_INDEX,
		map[string]string{"next_index": strconv.FormatUint(uint64(next), 10)},
		"expected_next_index: the next message gets index %d", next)
	return e
}
