// Package transfer copies all sessions of one store into another, of whatever kind both are.
//
// The target is marked as unfinished before the first session is written, and opens for nothing else until all sessions
// are there and both stores were compared. So what an interrupted copy has left is never taken for the whole, and the
// next one goes on behind it.
package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// ErrOther means that the target holds something else than the source, and no copy of the source has been interrupted in
// it.
var ErrOther = errors.New("the target is neither empty nor equal to the source")

// Done says what a Copy has done.
type Done struct {
	// Sessions and Messages are how many both stores hold, and Copied how many of these sessions it has written.
	Sessions, Copied int
	Messages         int64
}

// Step is what a Copy does.
type Step string

// The steps, in their order.
const (
	Copying   Step = "copying"
	Comparing Step = "comparing"
)

// Watch is called with the messages that a step has done and those that it has to do.
type Watch func(step Step, done, total int64)

// Copy copies all sessions of a store that nobody changes meanwhile, with their uids and revisions, and compares both
// stores. Of sessions that changed in the same nanosecond the order in lists may be another one. The target must be empty,
// or hold exactly the same, or be what an interrupted Copy has left; else the error is ErrOther, and says what it holds.
func Copy(ctx context.Context, from storage.Store, to storage.Receiver, watch Watch) (Done, error) {
	c := &copying{from: from, to: to, watch: watch}
	var err error
	if c.wanted, err = list(ctx, from); err != nil {
		return Done{}, fmt.Errorf("the source: %w", err)
	}
	if err := c.fill(ctx); err != nil {
		return Done{}, err
	}
	if err := c.compare(ctx); err != nil {
		return Done{}, err
	}
	if c.unfinished {
		if err := to.SetReceiving(ctx, false); err != nil {
			return Done{}, fmt.Errorf("the target: %w", err)
		}
	}
	c.done.Sessions = len(c.wanted)
	return c.done, nil
}

// copying is a Copy that runs.
type copying struct {
	from  storage.Store
	to    storage.Receiver
	watch Watch
	// wanted are the sessions of the source, in the order in which they were created.
	wanted []listed
	// unfinished says that the target is marked.
	unfinished bool
	done       Done
}

// listed is a session in a list.
type listed struct {
	ref      storage.Ref
	messages int64
	// digest is one of its whole row.
	digest [sha256.Size]byte
}

// pageSessions is how many rows are read at once.
const pageSessions = 500

// list returns the sessions of all tenants, those of each in the order in which they were created.
func list(ctx context.Context, s storage.Store) (all []listed, err error) {
	tenants, err := s.CountSessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, tenant := range slices.Sorted(maps.Keys(tenants)) {
		start := len(all)
		for q, more := (storage.SessionQuery{Tenant: tenant, Limit: pageSessions}), true; more; more = q.Cursor != "" {
			var rows []*storagev1.Session
			if rows, q.Cursor, err = s.Sessions(ctx, q); err != nil {
				return nil, err
			}
			for _, row := range rows {
				l, err := listedOf(row)
				if err != nil {
					return nil, err
				}
				all = append(all, l)
			}
		}
		slices.Reverse(all[start:])
	}
	return all, nil
}

func listedOf(row *storagev1.Session) (listed, error) {
	encoding, err := proto.MarshalOptions{Deterministic: true}.Marshal(row)
	return listed{
		ref: storage.RefOf(row), messages: int64(row.GetHead().GetNextIndex()), digest: sha256.Sum256(encoding),
	}, err
}

// fill brings the target to where it should hold all sessions.
func (c *copying) fill(ctx context.Context) error {
	held, err := list(ctx, c.to)
	if err == nil {
		c.unfinished, err = c.to.Receiving(ctx)
	}
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	if !c.unfinished && len(held) > 0 {
		return c.sameSessions(held)
	}
	if !c.unfinished && len(c.wanted) > 0 {
		if err := c.to.SetReceiving(ctx, true); err != nil {
			return fmt.Errorf("the target: %w", err)
		}
		c.unfinished = true
	}
	there, err := c.clear(ctx, held)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	meter := c.meter(Copying)
	for _, l := range c.wanted {
		if !there[l.ref] {
			if err := c.session(ctx, l.ref); err != nil {
				return fmt.Errorf("session %q: %w", l.ref.SessionID, err)
			}
			c.done.Copied++
		}
		meter.add(l.messages)
	}
	return nil
}

// sameSessions returns ErrOther, with what differs, where a target that no copy has left unfinished holds other sessions.
func (c *copying) sameSessions(held []listed) error {
	wanted := map[storage.Ref]listed{}
	for _, l := range c.wanted {
		wanted[l.ref] = l
	}
	for _, l := range held {
		switch w, found := wanted[l.ref]; {
		case !found:
			return fmt.Errorf("%w: it holds %s, which the source has not", ErrOther, nameOf(l.ref))
		case w.digest != l.digest:
			return fmt.Errorf("%w: it holds another state of %s", ErrOther, nameOf(l.ref))
		}
		delete(wanted, l.ref)
	}
	for _, l := range c.wanted {
		if _, missing := wanted[l.ref]; missing {
			return fmt.Errorf("%w: it holds %d of %d sessions, and lacks %s", ErrOther, len(held), len(c.wanted), nameOf(l.ref))
		}
	}
	return nil
}

func nameOf(ref storage.Ref) string {
	if ref.Tenant == "" {
		return fmt.Sprintf("session %q", ref.SessionID)
	}
	return fmt.Sprintf("session %q of tenant %q", ref.SessionID, ref.Tenant)
}

// clear removes from an unfinished copy what is not whole, or not the source's any more, and returns what stays.
func (c *copying) clear(ctx context.Context, held []listed) (there map[storage.Ref]bool, err error) {
	wanted := map[storage.Ref]listed{}
	for _, l := range c.wanted {
		wanted[l.ref] = l
	}
	there = map[storage.Ref]bool{}
	for _, l := range held {
		if w, found := wanted[l.ref]; found && w.digest == l.digest {
			there[l.ref] = true
			continue
		}
		if err := c.to.DeleteSession(ctx, l.ref.Tenant, l.ref.SessionID); err != nil {
			return nil, err
		}
	}
	return there, nil
}

// meter counts messages.
type meter struct {
	watch       Watch
	step        Step
	done, total int64
}

func (c *copying) meter(step Step) *meter {
	m := &meter{watch: c.watch, step: step}
	for _, l := range c.wanted {
		m.total += l.messages
	}
	m.add(0)
	return m
}

func (m *meter) add(messages int64) {
	m.done += messages
	if m.watch != nil {
		m.watch(m.step, m.done, m.total)
	}
}
