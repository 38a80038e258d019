// Package memory keeps logs in memory. It serves histories that come with one request and are not needed after its
// response, and tests, which compare the other backends with it.
package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// Store is the simplest possible storage.Store: slices and one lock. It remembers all requests, and finds a session by
// looking at all of them.
type Store struct {
	opening  string
	mu       sync.Mutex
	sessions []*incarnation // in the order of creation
	closed   bool
}

var _ storage.Store = (*Store)(nil)

// incarnation is one incarnation of a session.
type incarnation struct {
	row      *storagev1.Session
	messages []*compactordv1.LoggedMessage
	records  []*storagev1.StoredRecord
	requests []storage.Request
}

// New returns an empty store.
func New() *Store { return &Store{opening: rand.Text()} }

// enter takes the lock. It returns an error, without the lock, where the context has ended or the store is closed.
func (m *Store) enter(ctx context.Context) error {
	m.mu.Lock()
	err := context.Cause(ctx)
	if m.closed {
		err = storage.ErrClosed
	}
	if err != nil {
		m.mu.Unlock()
	}
	return err
}

func (m *Store) find(tenant, id string) (int, error) {
	i := slices.IndexFunc(m.sessions, func(s *incarnation) bool {
		return s.row.GetTenant() == tenant && s.row.GetSessionId() == id
	})
	if i < 0 {
		return 0, storage.ErrNotFound
	}
	return i, nil
}

func (m *Store) incarnation(ref storage.Ref) (*incarnation, error) {
	i, err := m.find(ref.Tenant, ref.SessionID)
	if err != nil || m.sessions[i].row.GetUid() != ref.UID {
		return nil, storage.ErrNotFound
	}
	return m.sessions[i], nil
}

// CreateSession implements storage.Store.
func (m *Store) CreateSession(ctx context.Context, c *storage.Commit) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if err := errors.Join(c.Validate(), readable(c)); err != nil {
		return err
	}
	if err := c.Follows(nil); err != nil {
		return err
	}
	if _, err := m.find(c.Session.GetTenant(), c.Session.GetSessionId()); err == nil {
		return storage.ErrExists
	}
	s := &incarnation{}
	s.write(c)
	m.sessions = append(m.sessions, s)
	return nil
}

// Commit implements storage.Store.
func (m *Store) Commit(ctx context.Context, c *storage.Commit) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if err := errors.Join(c.Validate(), readable(c)); err != nil {
		return err
	}
	s, err := m.incarnation(storage.RefOf(c.Session))
	if err != nil {
		return err
	}
	if c.Request != nil && s.request(c.Request.ID) != nil {
		return storage.ErrRequestKnown
	}
	if s.row.GetRevision()+1 != c.Session.GetRevision() {
		return storage.ErrConflict
	}
	if err := c.Follows(s.row); err != nil {
		return err
	}
	s.write(c)
	return nil
}

func (s *incarnation) write(c *storage.Commit) {
	s.row = proto.CloneOf(c.Session)
	s.messages = append(s.messages, clones(c.Messages)...)
	s.records = append(s.records, clones(c.Records)...)
	if c.Request != nil {
		s.requests = append(s.requests, storage.Request{ID: c.Request.ID, Stored: proto.CloneOf(c.Request.Stored)})
	}
}

func (s *incarnation) request(id string) *storagev1.StoredRequest {
	for _, r := range s.requests {
		if r.ID == id {
			return r.Stored
		}
	}
	return nil
}

func clones[M proto.Message](list []M) []M {
	out := make([]M, 0, len(list))
	for _, m := range list {
		out = append(out, proto.CloneOf(m))
	}
	return out
}

// readable returns ErrInvalid where a commit could not be read again.
func readable(c *storage.Commit) error {
	list := []proto.Message{c.Session}
	for _, m := range c.Messages {
		list = append(list, m)
	}
	for _, r := range c.Records {
		list = append(list, r)
		if r.GetSchema() != 1 {
			return storage.ErrInvalid
		}
	}
	if c.Request != nil {
		list = append(list, c.Request.Stored)
		if c.Request.Stored.GetSchema() != 1 {
			return storage.ErrInvalid
		}
	}
	for _, m := range list {
		if _, err := proto.Marshal(m); err != nil || !complete(m.ProtoReflect()) {
			return storage.ErrInvalid
		}
	}
	for _, m := range c.Messages {
		if m.GetMessage() == nil {
			return storage.ErrInvalid
		}
	}
	return nil
}

// complete reports whether a message has no unknown fields, and a kind wherever one is required.
func complete(m protoreflect.Message) bool {
	if len(m.GetUnknown()) > 0 {
		return false
	}
	switch m.Interface().(type) {
	case *compactordv1.Part, *compactordv1.ResultPart, *compactordv1.Record:
		if m.WhichOneof(m.Descriptor().Oneofs().ByName("kind")) == nil {
			return false
		}
	}
	ok := true
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap() || field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				ok = ok && complete(value.List().Get(i).Message())
			}
		default:
			ok = ok && complete(value.Message())
		}
		return ok
	})
	return ok
}

// DeleteSession implements storage.Store.
func (m *Store) DeleteSession(ctx context.Context, tenant, sessionID string) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	i, err := m.find(tenant, sessionID)
	if err == nil {
		m.sessions = slices.Delete(m.sessions, i, i+1)
	}
	return err
}

// Session implements storage.Store.
func (m *Store) Session(ctx context.Context, tenant, sessionID string) (*storagev1.Session, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	i, err := m.find(tenant, sessionID)
	if err != nil {
		return nil, err
	}
	return proto.CloneOf(m.sessions[i].row), nil
}

// placeFormat formats a time so that the texts sort by time, for the years 1 to 9999.
const placeFormat = "2006-01-02T15:04:05.000000000"

// Sessions implements storage.Store. It sorts all rows. A cursor is the query and the last row's sort key.
func (m *Store) Sessions(ctx context.Context, q storage.SessionQuery) ([]*storagev1.Session, string, error) {
	if err := m.enter(ctx); err != nil {
		return nil, "", err
	}
	defer m.mu.Unlock()
	if q.Limit < 1 || q.Order < storage.ByCreation || q.Order > storage.ByChange {
		return nil, "", storage.ErrInvalid
	}
	type placed struct {
		row   *storagev1.Session
		place string
	}
	var list []placed
	for n, s := range m.sessions {
		match := s.row.GetTenant() == q.Tenant && (q.Parent == "" || s.row.GetParent().GetUid() == q.Parent)
		for label, value := range q.Labels {
			had, ok := s.row.GetLabels()[label]
			match = match && ok && had == value
		}
		if !match {
			continue
		}
		t := s.row.GetCreatedAt().AsTime()
		if q.Order == storage.ByChange {
			t = s.row.GetChangedAt().AsTime()
		}
		list = append(list, placed{s.row, fmt.Sprintf("%s %09d", t.Format(placeFormat), n)})
	}
	slices.SortFunc(list, func(a, b placed) int { return cmp.Compare(b.place, a.place) })
	mark := fmt.Sprintf("%q %d %v %q|", q.Tenant, q.Order, q.Labels, q.Parent)
	after := ""
	if q.Cursor != "" {
		b, err := base64.URLEncoding.DecodeString(q.Cursor)
		rest, begun := strings.CutPrefix(string(b), mark)
		if err != nil || !begun || len(rest) != len(placeFormat)+10 {
			return nil, "", storage.ErrNotFound
		}
		after = rest
	}
	var rows []*storagev1.Session
	last := ""
	for _, p := range list {
		if after != "" && p.place >= after {
			continue
		}
		if len(rows) == q.Limit {
			return rows, base64.URLEncoding.EncodeToString([]byte(mark + last)), nil
		}
		rows, last = append(rows, proto.CloneOf(p.row)), p.place
	}
	return rows, "", nil
}

// Children implements storage.Store.
func (m *Store) Children(ctx context.Context, tenant, parentUID string) (int, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	count := 0
	for _, s := range m.sessions {
		if s.row.GetTenant() == tenant && s.row.GetParent() != nil && s.row.GetParent().GetUid() == parentUID {
			count++
		}
	}
	return count, nil
}

// CountSessions implements storage.Store.
func (m *Store) CountSessions(ctx context.Context) (map[string]int, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	counts := make(map[string]int)
	for _, s := range m.sessions {
		counts[s.row.GetTenant()]++
	}
	return counts, nil
}

// Opening implements storage.Store.
func (m *Store) Opening() string { return m.opening }

// Abandoned implements storage.Store.
func (m *Store) Abandoned(ctx context.Context) ([]storage.Ref, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []storage.Ref
	for _, s := range m.sessions {
		if storage.RunsUnderOther(s.row, m.opening) {
			found = append(found, storage.RefOf(s.row))
		}
	}
	return found, nil
}

// Close implements storage.Store.
func (m *Store) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
