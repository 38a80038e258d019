package boltstore

import (
	"bytes"
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// Messages returns a range of messages.
func (s *Store) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) (_ []*compactordv1.LoggedMessage, err error) {
	p := messagePages{ref: ref, next: start, end: end, maxBytes: maxBytes}
	err = s.readMessages(ctx, &p)
	return p.messages, err
}

// EncodedMessages implements storage.EncodedReader.
func (s *Store) EncodedMessages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) (messages []*compactordv1.LoggedMessage, encodings []string, err error) {
	p := messagePages{ref: ref, next: start, end: end, maxBytes: maxBytes, encoded: true}
	err = s.readMessages(ctx, &p)
	return p.messages, p.encodings, err
}

// readMessages reads all pages. It leaves no messages where there is an error.
func (s *Store) readMessages(ctx context.Context, p *messagePages) (err error) {
	defer nameDamaged(&err, p.ref.Tenant, p.ref.SessionID)
	for p.more = true; p.more; {
		if err := s.view(ctx, p.read); err != nil {
			p.messages, p.encodings = nil, nil
			return err
		}
	}
	return nil
}

// messagePages is a range of messages while it is read, one page in each transaction.
type messagePages struct {
	ref       storage.Ref
	next, end uint32
	maxBytes  int
	// encoded says that the encodings are wanted, too.
	encoded bool

	messages  []*compactordv1.LoggedMessage
	encodings []string
	// total is the size of the messages read so far. more reports that there may be another page.
	total int
	more  bool
}

// read reads a page. Messages are decoded from the mapped file, since decoding copies what it keeps.
func (p *messagePages) read(tx *transaction) error {
	header, _, err := incarnation(tx, p.ref)
	if err != nil {
		return err
	}
	p.more = false
	end := min(p.end, header.nextIndex)
	if p.next >= end {
		return nil
	}
	cursor := tx.Bucket(messagesBucket).Cursor(ordinalKey(header.ordinal))
	key, value := cursor.Seek(numberKey(header.ordinal, p.next))
	p.messages = slices.Grow(p.messages, int(min(pageValues, end-p.next)))
	if p.encoded {
		p.encodings = slices.Grow(p.encodings, int(min(pageValues, end-p.next)))
	}
	first, bytesBefore := len(p.messages), p.total
	for ; p.next < end; p.next++ {
		if !bytes.Equal(key, numberKey(header.ordinal, p.next)) {
			return forms.Damaged("message %d is missing", p.next)
		}
		size, err := bodySize(value)
		if err != nil {
			return err
		}
		if n := len(p.messages) - first; n > 0 && (n == pageValues || p.total-bytesBefore+size > pageBytes) {
			p.more = true
			return nil
		}
		logged := forms.LoggedSize(size)
		if p.maxBytes > 0 && p.total > 0 && p.total+logged > p.maxBytes {
			return nil
		}
		p.total += logged
		encoding, err := storedMessage(tx, header.ordinal, value)
		if err != nil {
			return err
		}
		m, err := p.add(encoding)
		if err != nil {
			return err
		}
		if m.GetIndex() != p.next {
			return forms.Damaged("message %d in the place of message %d", m.GetIndex(), p.next)
		}
		// What is behind the range may be damaged.
		if p.next+1 < end {
			key, value = cursor.Next()
		}
	}
	return nil
}

// add adds the message of an encoding.
func (p *messagePages) add(encoding []byte) (m *compactordv1.LoggedMessage, err error) {
	if p.encoded {
		var within string
		m, within, err = forms.EncodedMessage(encoding)
		p.encodings = append(p.encodings, within)
	} else {
		m, err = forms.Message(encoding)
	}
	p.messages = append(p.messages, m)
	return m, err
}

// storedMessage returns the encoding of a message. It is valid within the transaction.
func storedMessage(tx *transaction, ordinal uint64, value []byte) ([]byte, error) {
	if value[0] == inlineTag {
		return value[1:], nil
	}
	return body(tx, ordinal, messageBlob, value)
}

// Edits returns the edits of a range of messages.
func (s *Store) Edits(
	ctx context.Context, ref storage.Ref, start, end uint32,
) (_ []storage.IndexedEdits, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	var list []storage.IndexedEdits
	from := storage.IndexedEdits{Index: start}
	for more := true; more; {
		var p page
		err := s.view(ctx, func(tx *transaction) (err error) {
			more, err = editsPage(tx, &p, ref, from, end)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, encoding := range p.bodies {
			edits, err := forms.Edits(encoding)
			if err != nil {
				return nil, err
			}
			_, index, sequence, err := splitPairKey(p.keys[i])
			if err != nil {
				return nil, forms.Damaged("bucket edits: %v", err)
			}
			list = append(list, storage.IndexedEdits{Index: index, Sequence: sequence, Edits: edits})
			// No record has the largest sequence, since the head's next_sequence is greater.
			from = storage.IndexedEdits{Index: index, Sequence: sequence + 1}
		}
	}
	return list, nil
}

// editsPage copies edits from a place on, and reports whether there may be more.
func editsPage(tx *transaction, p *page, ref storage.Ref, from storage.IndexedEdits, end uint32) (bool, error) {
	header, _, err := incarnation(tx, ref)
	if err != nil || from.Index >= end {
		return false, err
	}
	cursor := tx.Bucket(editsBucket).Cursor(ordinalKey(header.ordinal))
	last := pairKey(header.ordinal, end, 0)
	for key, value := cursor.Seek(pairKey(header.ordinal, from.Index, from.Sequence)); key != nil; key, value = cursor.Next() {
		if bytes.Compare(key, last) >= 0 {
			return false, nil
		}
		encoding, err := body(tx, header.ordinal, editsBlob, value)
		if err != nil {
			return false, err
		}
		if p.full(len(encoding)) {
			return true, nil
		}
		p.add(key, encoding)
	}
	return false, nil
}
