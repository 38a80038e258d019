package transfer

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// ErrDiffers means that what was copied is not what the source holds.
var ErrDiffers = errors.New("the copy differs from the source")

// compare reads both stores and compares all that they hold.
func (c *copying) compare(ctx context.Context) error {
	held, err := list(ctx, c.to)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	if len(held) != len(c.wanted) {
		return fmt.Errorf("%w: it has %d of %d sessions", ErrDiffers, len(held), len(c.wanted))
	}
	rows := make(map[storage.Ref]listed, len(held))
	for _, l := range held {
		rows[l.ref] = l
	}
	meter := c.meter(Comparing)
	for _, l := range c.wanted {
		if rows[l.ref] != l {
			return fmt.Errorf("%w in the row of %s", ErrDiffers, nameOf(l.ref))
		}
		if err := c.sameLog(ctx, l.ref); err != nil {
			return fmt.Errorf("%s: %w", nameOf(l.ref), err)
		}
		c.done.Messages += l.messages
		meter.add(l.messages)
	}
	return nil
}

// sameLog compares what both stores hold of a session, in the ways in which it can be read.
func (c *copying) sameLog(ctx context.Context, ref storage.Ref) error {
	row, err := c.from.Session(ctx, ref.Tenant, ref.SessionID)
	if err != nil {
		return err
	}
	for _, same := range []func(context.Context, *storagev1.Session) error{
		c.sameMessages, c.sameRecords, c.sameCompactions, c.sameEdits, c.sameRequests,
	} {
		if err := same(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// both reads the same of both stores, and compares it.
func both[T any](c *copying, what string, read func(s storage.Store) ([]T, error), same func(a, b T) bool) ([]T, error) {
	wanted, err := read(c.from)
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	got, err := read(c.to)
	if err != nil {
		return nil, fmt.Errorf("the target: %w", err)
	}
	for i := range wanted {
		if i >= len(got) || !same(wanted[i], got[i]) {
			return nil, fmt.Errorf("%w in its %s", ErrDiffers, what)
		}
	}
	if len(got) > len(wanted) {
		return nil, fmt.Errorf("%w in its %s", ErrDiffers, what)
	}
	return wanted, nil
}

// equal compares messages of protobuf.
func equal[M proto.Message](a, b M) bool { return proto.Equal(a, b) }

func (c *copying) sameMessages(ctx context.Context, row *storagev1.Session) error {
	end := row.GetHead().GetNextIndex()
	for at := uint32(0); at < end; {
		page, err := both(c, "messages", func(s storage.Store) ([]*compactordv1.LoggedMessage, error) {
			return s.Messages(ctx, storage.RefOf(row), at, min(end, at+readEntries), pieceBytes)
		}, equal)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("%w: message %d is missing", storage.ErrCorrupt, at)
		}
		at += uint32(len(page))
	}
	return nil
}

func (c *copying) sameRecords(ctx context.Context, row *storagev1.Session) error {
	end := row.GetHead().GetNextSequence()
	for at := uint32(0); at < end; {
		page, err := both(c, "records", func(s storage.Store) ([]*storagev1.StoredRecord, error) {
			return s.Records(ctx, storage.RefOf(row), at, end, readEntries)
		}, equal)
		if err != nil || len(page) < readEntries {
			return err
		}
		at = page[len(page)-1].GetRecord().GetSequence() + 1
	}
	return nil
}

func (c *copying) sameCompactions(ctx context.Context, row *storagev1.Session) error {
	for before := row.GetHead().GetNextSequence(); before > 0; {
		page, err := both(c, "compactions", func(s storage.Store) ([]*storagev1.StoredRecord, error) {
			return s.Compactions(ctx, storage.RefOf(row), before, readEntries)
		}, equal)
		if err != nil || len(page) < readEntries {
			return err
		}
		before = page[len(page)-1].GetRecord().GetSequence()
	}
	return nil
}

func (c *copying) sameEdits(ctx context.Context, row *storagev1.Session) error {
	end := row.GetHead().GetNextIndex()
	for at := uint32(0); at < end; at += readEntries {
		if _, err := both(c, "edits", func(s storage.Store) ([]storage.IndexedEdits, error) {
			return s.Edits(ctx, storage.RefOf(row), at, min(end, at+readEntries))
		}, sameEdits); err != nil {
			return err
		}
	}
	return nil
}

func sameEdits(a, b storage.IndexedEdits) bool {
	if a.Index != b.Index || a.Sequence != b.Sequence || len(a.Edits) != len(b.Edits) {
		return false
	}
	for i := range a.Edits {
		if !proto.Equal(a.Edits[i], b.Edits[i]) {
			return false
		}
	}
	return true
}

func (c *copying) sameRequests(ctx context.Context, row *storagev1.Session) error {
	for after := ""; ; {
		page, err := both(c, "remembered requests", func(s storage.Store) ([]storage.Request, error) {
			return s.Requests(ctx, storage.RefOf(row), after, readEntries)
		}, func(a, b storage.Request) bool { return a.ID == b.ID && proto.Equal(a.Stored, b.Stored) })
		if err != nil || len(page) < readEntries {
			return err
		}
		after = page[len(page)-1].ID
	}
}
