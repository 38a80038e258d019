package service_test

import (
	"context"
	"fmt"
	"sync"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// usedStore records which methods of a store are called for which tenant. So the time that a call takes can be compared
// without a clock.
type usedStore struct {
	storage.Store
	mu   sync.Mutex
	uses []string
}

func (s *usedStore) use(tenant, method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses = append(s.uses, method+" for "+tenant)
}

// taken returns the uses since the last call of it.
func (s *usedStore) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	uses := s.uses
	s.uses = nil
	return uses
}

func (s *usedStore) CreateSession(ctx context.Context, c *storage.Commit) error {
	s.use(c.Session.GetTenant(), "CreateSession")
	return s.Store.CreateSession(ctx, c)
}

func (s *usedStore) Session(ctx context.Context, tenant, id string) (*storagev1.Session, error) {
	s.use(tenant, "Session")
	return s.Store.Session(ctx, tenant, id)
}

func (s *usedStore) Sessions(ctx context.Context, q storage.SessionQuery) ([]*storagev1.Session, string, error) {
	s.use(q.Tenant, "Sessions")
	return s.Store.Sessions(ctx, q)
}

func (s *usedStore) Children(ctx context.Context, tenant, parent string) (int, error) {
	s.use(tenant, "Children")
	return s.Store.Children(ctx, tenant, parent)
}

func (s *usedStore) Commit(ctx context.Context, c *storage.Commit) error {
	s.use(c.Session.GetTenant(), "Commit")
	return s.Store.Commit(ctx, c)
}

func (s *usedStore) DeleteSession(ctx context.Context, tenant, id string) error {
	s.use(tenant, "DeleteSession")
	return s.Store.DeleteSession(ctx, tenant, id)
}

func (s *usedStore) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	s.use(ref.Tenant, fmt.Sprint("Messages from ", start, " to ", end))
	return s.Store.Messages(ctx, ref, start, end, maxBytes)
}

func (s *usedStore) Records(ctx context.Context, ref storage.Ref, start, end uint32, limit int) ([]*storagev1.StoredRecord, error) {
	s.use(ref.Tenant, fmt.Sprint("Records from ", start, " to ", end))
	return s.Store.Records(ctx, ref, start, end, limit)
}

func (s *usedStore) RecordAtOrBefore(ctx context.Context, ref storage.Ref, sequence uint32) (*storagev1.StoredRecord, error) {
	s.use(ref.Tenant, fmt.Sprint("RecordAtOrBefore ", sequence))
	return s.Store.RecordAtOrBefore(ctx, ref, sequence)
}

func (s *usedStore) Compactions(ctx context.Context, ref storage.Ref, before uint32, limit int) ([]*storagev1.StoredRecord, error) {
	s.use(ref.Tenant, fmt.Sprint("Compactions before ", before))
	return s.Store.Compactions(ctx, ref, before, limit)
}

func (s *usedStore) Edits(ctx context.Context, ref storage.Ref, start, end uint32) ([]storage.IndexedEdits, error) {
	s.use(ref.Tenant, fmt.Sprint("Edits from ", start, " to ", end))
	return s.Store.Edits(ctx, ref, start, end)
}

func (s *usedStore) Request(ctx context.Context, ref storage.Ref, id string) (*storagev1.StoredRequest, error) {
	s.use(ref.Tenant, "Request")
	return s.Store.Request(ctx, ref, id)
}
