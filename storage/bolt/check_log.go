package boltstore

import (
	"context"
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// logCheck is the check of one session's log.
type logCheck struct {
	*checker
	session *checkedSession
	prefix  []byte
	// sequences are the sequences of the messages and records read so far.
	sequences map[uint32]bool
	// compactions are the compactions that records point to, by key.
	compactions map[string]bool
	// edits are the edits that editsBucket must hold according to the records, by key.
	edits map[string][]*compactordv1.Edit
	// blobs are the blobs that values point to.
	blobs map[blobID]blobPointer
}

// checkLog checks all values of a session's log.
func (c *checker) checkLog(ctx context.Context, session *checkedSession) {
	l := &logCheck{
		checker:     c,
		session:     session,
		prefix:      ordinalKey(session.header.ordinal),
		sequences:   map[uint32]bool{},
		compactions: map[string]bool{},
		edits:       map[string][]*compactordv1.Edit{},
		blobs:       map[blobID]blobPointer{},
	}
	for _, step := range []func(context.Context){
		l.checkMessages, l.checkRecords, l.checkCompactions, l.checkSequences, l.checkEdits, l.checkRequests, l.checkBlobs,
	} {
		l.attempt(session, func() { step(ctx) })
	}
}

func (l *logCheck) problem(format string, args ...any) {
	l.report(l.session, format, args...)
}

// unreadable reports a value that cannot be read.
func (l *logCheck) unreadable(format string, args ...any) {
	l.problem(format, args...)
	l.session.damaged = true
}

// mismatch reports what does not fit the rest of the log, unless a part of that could not be read.
func (l *logCheck) mismatch(format string, args ...any) {
	if !l.session.damaged {
		l.problem(format, args...)
	}
}

// body reads a value and notes the blob that it points to.
func (l *logCheck) body(kind blobKind, value []byte) (encoding []byte, err error) {
	if len(value) > 0 && value[0] == blobTag {
		if p, err := decodeBlobPointer(value); err == nil {
			l.blobs[blobID{kind: kind, id: p.id}] = p
		}
	}
	err = l.tx.guarded(func() (err error) {
		encoding, err = body(l.tx, l.session.header.ordinal, kind, value)
		return err
	})
	return encoding, err
}

func (l *logCheck) noteSequence(sequence uint32) {
	if l.sequences[sequence] {
		l.problem("sequence %d is given twice", sequence)
	}
	l.sequences[sequence] = true
}

func (l *logCheck) checkMessages(ctx context.Context) {
	next := uint32(0)
	l.each(ctx, l.session, messagesBucket, l.prefix, func(key, value []byte) {
		_, index, err := splitNumberKey(key)
		if err != nil {
			l.unreadable("bucket messages: %v", err)
			return
		}
		if index != next {
			l.mismatch("message %d follows message %d", index, int64(next)-1)
		}
		next = index + 1
		encoding, err := l.body(messageBlob, value)
		if err != nil {
			l.unreadable("message %d: %s", index, cause(err))
			return
		}
		m, err := forms.Message(encoding)
		if err != nil {
			l.unreadable("message %d: %s", index, cause(err))
			return
		}
		if m.GetIndex() != index {
			l.problem("message %d is stored in the place of message %d", m.GetIndex(), index)
		}
		l.noteSequence(m.GetSequence())
	})
	if end := l.session.row.GetHead().GetNextIndex(); next != end {
		l.mismatch("the log holds %d messages, its head counts %d", next, end)
	}
}

func (l *logCheck) checkRecords(ctx context.Context) {
	l.each(ctx, l.session, recordsBucket, l.prefix, func(key, value []byte) {
		_, sequence, err := splitNumberKey(key)
		if err != nil {
			l.unreadable("bucket records: %v", err)
			return
		}
		if len(value) == 5 && value[0] == compactionTag {
			at := pairKey(l.session.header.ordinal, binary.BigEndian.Uint32(value[1:]), sequence)
			l.compactions[string(at)] = true
			if !l.tx.Bucket(compactionsBucket).has(at) {
				l.mismatch("record %d points to no compaction", sequence)
			}
			return
		}
		if r := l.record(sequence, value); r != nil && r.GetRecord().GetCompaction() != nil {
			l.problem("record %d is a compaction, but not in bucket compactions", sequence)
		}
	})
}

// record reads a record and notes its edits; nil where it cannot be read.
func (l *logCheck) record(sequence uint32, value []byte) *storagev1.StoredRecord {
	encoding, err := l.body(recordBlob, value)
	if err != nil {
		l.unreadable("record %d: %s", sequence, cause(err))
		return nil
	}
	r, err := forms.Record(encoding)
	if err != nil {
		l.unreadable("record %d: %s", sequence, cause(err))
		return nil
	}
	if r.GetRecord().GetSequence() != sequence {
		l.problem("record %d is stored in the place of record %d", r.GetRecord().GetSequence(), sequence)
	}
	l.noteSequence(r.GetRecord().GetSequence())
	for _, edits := range forms.EditsByIndex(r) {
		if edits.Index >= l.session.row.GetHead().GetNextIndex() {
			l.problem("record %d edits message %d, which does not exist", sequence, edits.Index)
		}
		l.edits[string(pairKey(l.session.header.ordinal, edits.Index, sequence))] = edits.Edits
	}
	return r
}

func (l *logCheck) checkCompactions(ctx context.Context) {
	l.each(ctx, l.session, compactionsBucket, l.prefix, func(key, value []byte) {
		_, firstKept, sequence, err := splitPairKey(key)
		if err != nil {
			l.unreadable("bucket compactions: %v", err)
			return
		}
		if !l.compactions[string(key)] {
			l.mismatch("no record points to compaction %d", sequence)
		}
		r := l.record(sequence, value)
		if r == nil {
			return
		}
		if entry := r.GetRecord().GetCompaction(); entry == nil || entry.GetFirstKeptIndex() != firstKept {
			l.problem("compaction %d is stored under a wrong key", sequence)
		}
		if firstKept > l.session.row.GetHead().GetNextIndex() {
			l.problem("compaction %d keeps from message %d, which does not exist", sequence, firstKept)
		}
	})
}

// checkSequences finds gaps. Sequences that are used twice were found before.
func (l *logCheck) checkSequences(context.Context) {
	end := l.session.row.GetHead().GetNextSequence()
	below := 0
	for sequence := range l.sequences {
		if sequence < end {
			below++
		}
	}
	if missing := int(end) - below; missing > 0 {
		l.mismatch("%d of the sequences below %d are neither message nor record", missing, end)
	}
	if beyond := len(l.sequences) - below; beyond > 0 {
		l.mismatch("%d sequences are not below %d, where the head ends", beyond, end)
	}
}

func (l *logCheck) checkEdits(ctx context.Context) {
	found := 0
	l.each(ctx, l.session, editsBucket, l.prefix, func(key, value []byte) {
		_, index, sequence, err := splitPairKey(key)
		if err != nil {
			l.unreadable("bucket edits: %v", err)
			return
		}
		encoding, err := l.body(editsBlob, value)
		if err != nil {
			l.unreadable("edits of message %d by record %d: %s", index, sequence, cause(err))
			return
		}
		edits, err := forms.Edits(encoding)
		if err != nil {
			l.unreadable("edits of message %d by record %d: %s", index, sequence, cause(err))
			return
		}
		want, ok := l.edits[string(key)]
		if !ok || !proto.Equal(&compactordv1.PruneEntry{Edits: edits}, &compactordv1.PruneEntry{Edits: want}) {
			l.mismatch("edits of message %d are not those of record %d", index, sequence)
		}
		found++
	})
	if found < len(l.edits) {
		l.mismatch("%d of the edits of records are missing in bucket edits", len(l.edits)-found)
	}
}

// checkRequests reads the remembered requests, and checks that they can be forgotten in order.
func (l *logCheck) checkRequests(ctx context.Context) {
	requests := 0
	revisions := map[uint32]bool{}
	l.each(ctx, l.session, requestsBucket, l.prefix, func(key, value []byte) {
		requests++
		if _, _, err := splitRequestKey(key); err != nil {
			l.unreadable("bucket requests: %v", err)
			return
		}
		revision, value, err := splitRequest(value)
		if err != nil {
			l.unreadable("bucket requests: %s", cause(err))
			return
		}
		if revisions[revision] || revision == 0 || revision > l.session.row.GetRevision() {
			l.problem("a request has revision %d, which does not exist or has another request", revision)
		}
		revisions[revision] = true
		encoding, err := l.body(requestBlob, value)
		if err == nil {
			_, err = forms.Request(encoding)
		}
		if err != nil {
			l.unreadable("the request of revision %d: %s", revision, cause(err))
		}
	})
	if requests != int(l.session.header.requests) {
		l.mismatch("%d requests are stored, and the row counts %d", requests, l.session.header.requests)
	}
	if requests > storage.RememberedRequests+forgetBatch {
		l.problem("%d requests are stored, more than may be remembered", requests)
	}
}

// checkBlobs finds chunks that nothing points to. Missing chunks were found when their pointers were read.
func (l *logCheck) checkBlobs(ctx context.Context) {
	damaged := func(key []byte, err error) {
		// What belongs to a value was met before, where that was read.
		_, b, chunk, malformed := splitBlobKey(key)
		if p, ok := l.blobs[b]; malformed == nil && ok && chunk < p.chunks() {
			return
		}
		l.unreadable("%s%s", placeOf(blobsBucket, key), cause(err))
	}
	l.eachKey(ctx, blobsBucket, l.prefix, damaged, func(key, _ []byte) {
		_, b, chunk, err := splitBlobKey(key)
		if err != nil {
			l.unreadable("bucket blobs: %v", err)
			return
		}
		if p, ok := l.blobs[b]; !ok || chunk >= p.chunks() {
			l.mismatch("chunk %d of blob %d of kind %d has no pointer to it", chunk, b.id, b.kind)
		}
	})
}
