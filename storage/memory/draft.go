package memory

import (
	"context"
	"errors"

	"github.com/compactord/compactord/storage"
)

// draft is a storage.Draft. It holds what was appended.
type draft struct {
	store *Store
	log   *storage.DraftLog
	held  storage.LogPiece
}

// Draft implements storage.Store.
func (m *Store) Draft(ctx context.Context, ref storage.Ref) (storage.Draft, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if _, err := m.find(ref.Tenant, ref.SessionID); err == nil {
		return nil, storage.ErrExists
	}
	return &draft{store: m, log: storage.NewDraftLog(ref)}, nil
}

// Append implements storage.Draft.
func (d *draft) Append(ctx context.Context, p *storage.LogPiece) error {
	if err := d.store.enter(ctx); err != nil {
		return err
	}
	defer d.store.mu.Unlock()
	c, err := d.log.Next(p)
	if err != nil {
		return err
	}
	if err := readable(c); err != nil {
		return err
	}
	d.held.Messages = append(d.held.Messages, clones(p.Messages)...)
	d.held.Records = append(d.held.Records, clones(p.Records)...)
	d.log.Appended(c)
	return nil
}

// Create implements storage.Draft.
func (d *draft) Create(ctx context.Context, c *storage.Commit) error {
	if err := d.store.enter(ctx); err != nil {
		return err
	}
	defer d.store.mu.Unlock()
	if err := errors.Join(d.log.Last(c), readable(c)); err != nil {
		return err
	}
	if _, err := d.store.find(c.Session.GetTenant(), c.Session.GetSessionId()); err == nil {
		return storage.ErrExists
	}
	s := &incarnation{messages: d.held.Messages, records: d.held.Records}
	s.write(c)
	d.store.sessions = append(d.store.sessions, s)
	return nil
}

// Discard implements storage.Draft.
func (d *draft) Discard(context.Context) { d.held = storage.LogPiece{} }
