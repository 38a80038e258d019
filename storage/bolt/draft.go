package boltstore

import (
	"context"
	"errors"
	"sync"

	"github.com/compactord/compactord/storage"
)

// errDraftGone means that nothing is left of a draft, or that it is a session by now.
var errDraftGone = errors.New("the draft is gone")

// drafts are the ordinals of the drafts that are being written. After a restart there are none, so that what a crash has left
// is removed with the logs of deleted sessions.
type drafts struct {
	mu       sync.Mutex
	ordinals map[uint64]bool
}

func (d *drafts) has(ordinal uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ordinals[ordinal]
}

func (d *drafts) add(ordinal uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ordinals == nil {
		d.ordinals = map[uint64]bool{}
	}
	d.ordinals[ordinal] = true
}

func (d *drafts) remove(ordinal uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.ordinals, ordinal)
}

// draft is a storage.Draft. Its log stands under an ordinal that deadBucket names, until the commit with the row takes that
// out.
type draft struct {
	store   *Store
	ordinal uint64
	log     *storage.DraftLog
}

// Draft begins to write a session piece by piece.
func (s *Store) Draft(ctx context.Context, ref storage.Ref) (_ storage.Draft, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	d := &draft{store: s, log: storage.NewDraftLog(ref)}
	err = s.do(ctx, &operation{
		prepare: func(tx *transaction) (func() error, error) {
			if err := d.refuseExisting(tx); err != nil {
				return nil, err
			}
			return func() (err error) {
				if d.ordinal, err = nextOrdinal(tx); err != nil {
					return err
				}
				return tx.Bucket(deadBucket).Put(ordinalKey(d.ordinal), draftMark)
			}, nil
		},
		committed: func() { s.drafts.add(d.ordinal) },
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *draft) refuseExisting(tx *transaction) error {
	ref := d.log.Ref()
	if tx.Bucket(sessionsBucket).Get(sessionKey(ref.Tenant, ref.SessionID)) != nil {
		return storage.ErrExists
	}
	return nil
}

// refuseGone returns an error where the ordinal is not that of a draft.
func (d *draft) refuseGone(tx *transaction) error {
	if tx.Bucket(deadBucket).Get(ordinalKey(d.ordinal)) == nil {
		return errDraftGone
	}
	return nil
}

// Append writes a piece of the log.
func (d *draft) Append(ctx context.Context, p *storage.LogPiece) (err error) {
	defer nameDamaged(&err, d.log.Ref().Tenant, d.log.Ref().SessionID)
	c, err := d.log.Next(p)
	if err != nil {
		return d.store.refusal(ctx, err)
	}
	e, err := encodeCommit(c)
	if err != nil {
		return d.store.refusal(ctx, err)
	}
	err = d.store.do(ctx, &operation{
		size: e.size,
		prepare: func(tx *transaction) (func() error, error) {
			if err := d.refuseGone(tx); err != nil {
				return nil, err
			}
			return func() error { return e.writeLog(tx, d.ordinal) }, nil
		},
	})
	if err == nil {
		d.log.Appended(c)
	}
	return err
}

// Create writes the row and the end of the log.
func (d *draft) Create(ctx context.Context, c *storage.Commit) (err error) {
	defer nameDamaged(&err, d.log.Ref().Tenant, d.log.Ref().SessionID)
	if err := d.log.Last(c); err != nil {
		return d.store.refusal(ctx, err)
	}
	e, err := encodeCommit(c)
	if err != nil {
		return d.store.refusal(ctx, err)
	}
	return d.store.do(ctx, &operation{
		size:   e.size,
		change: &change{ref: e.ref, revision: e.row.GetRevision()},
		prepare: func(tx *transaction) (func() error, error) {
			if err := d.refuseExisting(tx); err != nil {
				return nil, err
			}
			if err := d.refuseGone(tx); err != nil {
				return nil, err
			}
			return func() error {
				if err := tx.Bucket(deadBucket).Delete(ordinalKey(d.ordinal)); err != nil {
					return err
				}
				return e.write(tx, nil, rowHeader{ordinal: d.ordinal, uid: e.ref.UID})
			}, nil
		},
		committed: func() { d.store.drafts.remove(d.ordinal) },
	})
}

// Discard removes as much of the log as one transaction may; the writer removes the rest later. Where the transaction fails,
// the next sweep begins with it.
func (d *draft) Discard(ctx context.Context) {
	if !d.store.drafts.has(d.ordinal) {
		return
	}
	defer d.store.drafts.remove(d.ordinal)
	_ = d.store.do(context.WithoutCancel(ctx), &operation{
		frees: true, obsoletes: true,
		prepare: func(tx *transaction) (func() error, error) {
			// Create may have written although it returned an error.
			if err := d.refuseGone(tx); err != nil {
				return nil, err
			}
			d.store.drafts.remove(d.ordinal)
			return func() error { return sweepLog(tx, d.ordinal) }, nil
		},
	})
}
