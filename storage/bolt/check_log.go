package boltstore

import (
	"context"
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// logCheck is one session's log under check.
type logCheck struct {
	*checker
	session *checked
	prefix  []byte
	// taken are the sequences that a message or record has.
	taken map[uint32]bool
	// compactions are the compactions that records point at, by key.
	compactions map[string]bool
	// edits are what the records say that editsBucket must hold, by key.
	edits map[string][]*compactordv1.Edit
	// blobs are the blobs that values point at.
	blobs map[blobID]blobPointer
}

// checkLog checks all that lies under a session's ordinal.
func (c *checker) checkLog(ctx context.Context, session *checked) {
	l := &logCheck{
		checker:     c,
		session:     session,
		prefix:      ordinalKey(session.header.ordinal),
		taken:       map[uint32]bool{},
		compactions: map[string]bool{},
		edits:       map[string][]*compactordv1.Edit{},
		blobs:       map[blobID]blobPointer{},
	}
	l.checkMessages(ctx)
	l.checkRecords(ctx)
	l.checkCompactions(ctx)
	l.checkSequences()
	l.checkEdits(ctx)
	l.checkRequests(ctx)
	l.checkBlobs(ctx)
}

func (l *logCheck) problem(format string, args ...any) {
	l.report(l.session, format, args...)
}

// body reads a value, and notes the blob that it points at.
func (l *logCheck) body(kind blobKind, value []byte) ([]byte, error) {
	if len(value) > 0 && value[0] == blobTag {
		if p, err := decodeBlobPointer(value); err == nil {
			l.blobs[blobID{kind: kind, id: p.id}] = p
		}
	}
	return body(l.tx, l.session.header.ordinal, kind, value)
}

func (l *logCheck) take(sequence uint32) {
	if l.taken[sequence] {
		l.problem("sequence %d is given twice", sequence)
	}
	l.taken[sequence] = true
}

func (l *logCheck) checkMessages(ctx context.Context) {
	next := uint32(0)
	l.each(ctx, messagesBucket, l.prefix, func(key, value []byte) {
		_, index, err := splitNumberKey(key)
		if err != nil {
			l.problem("bucket messages: %v", err)
			return
		}
		if index != next {
			l.problem("message %d follows on message %d", index, int64(next)-1)
		}
		next = index + 1
		encoding, err := l.body(messageBlob, value)
		if err != nil {
			l.problem("message %d: %s", index, cause(err))
			return
		}
		m, err := decodeMessage(encoding)
		if err != nil {
			l.problem("message %d: %s", index, cause(err))
			return
		}
		if m.GetIndex() != index {
			l.problem("message %d lies in the place of message %d", m.GetIndex(), index)
		}
		l.take(m.GetSequence())
	})
	if end := l.session.row.GetHead().GetNextIndex(); next != end {
		l.problem("the log holds %d messages, its head counts %d", next, end)
	}
}

func (l *logCheck) checkRecords(ctx context.Context) {
	l.each(ctx, recordsBucket, l.prefix, func(key, value []byte) {
		_, sequence, err := splitNumberKey(key)
		if err != nil {
			l.problem("bucket records: %v", err)
			return
		}
		if len(value) == 5 && value[0] == compactionTag {
			at := pairKey(l.session.header.ordinal, binary.BigEndian.Uint32(value[1:]), sequence)
			l.compactions[string(at)] = true
			if l.tx.Bucket(compactionsBucket).Get(at) == nil {
				l.problem("record %d points at no compaction", sequence)
			}
			return
		}
		if r := l.record(sequence, value); r != nil && r.GetRecord().GetCompaction() != nil {
			l.problem("record %d is a compaction and not filed as one", sequence)
		}
	})
}

// record reads a record and what it says of messages; nil where it cannot be read.
func (l *logCheck) record(sequence uint32, value []byte) *storagev1.StoredRecord {
	encoding, err := l.body(recordBlob, value)
	if err != nil {
		l.problem("record %d: %s", sequence, cause(err))
		return nil
	}
	r, err := decodeRecord(encoding)
	if err != nil {
		l.problem("record %d: %s", sequence, cause(err))
		return nil
	}
	if r.GetRecord().GetSequence() != sequence {
		l.problem("record %d lies in the place of record %d", r.GetRecord().GetSequence(), sequence)
	}
	l.take(r.GetRecord().GetSequence())
	for _, edits := range editsByIndex(r) {
		if edits.Index >= l.session.row.GetHead().GetNextIndex() {
			l.problem("record %d edits message %d, which is not there", sequence, edits.Index)
		}
		l.edits[string(pairKey(l.session.header.ordinal, edits.Index, sequence))] = edits.Edits
	}
	return r
}

func (l *logCheck) checkCompactions(ctx context.Context) {
	l.each(ctx, compactionsBucket, l.prefix, func(key, value []byte) {
		_, firstKept, sequence, err := splitPairKey(key)
		if err != nil {
			l.problem("bucket compactions: %v", err)
			return
		}
		if !l.compactions[string(key)] {
			l.problem("compaction %d is no record", sequence)
		}
		r := l.record(sequence, value)
		if r == nil {
			return
		}
		if entry := r.GetRecord().GetCompaction(); entry == nil || entry.GetFirstKeptIndex() != firstKept {
			l.problem("compaction %d is filed in the wrong place", sequence)
		}
		if firstKept > l.session.row.GetHead().GetNextIndex() {
			l.problem("compaction %d keeps from message %d, which is not there", sequence, firstKept)
		}
	})
}

// checkSequences looks for gaps; what is given twice was found before.
func (l *logCheck) checkSequences() {
	end := l.session.row.GetHead().GetNextSequence()
	below := 0
	for sequence := range l.taken {
		if sequence < end {
			below++
		}
	}
	if missing := int(end) - below; missing > 0 {
		l.problem("%d of the sequences below %d are neither message nor record", missing, end)
	}
	if beyond := len(l.taken) - below; beyond > 0 {
		l.problem("%d sequences are not below %d, where the head ends", beyond, end)
	}
}

func (l *logCheck) checkEdits(ctx context.Context) {
	found := 0
	l.each(ctx, editsBucket, l.prefix, func(key, value []byte) {
		_, index, sequence, err := splitPairKey(key)
		if err != nil {
			l.problem("bucket edits: %v", err)
			return
		}
		encoding, err := l.body(editsBlob, value)
		if err != nil {
			l.problem("edits of message %d by record %d: %s", index, sequence, cause(err))
			return
		}
		edits, err := decodeEdits(encoding)
		if err != nil {
			l.problem("edits of message %d by record %d: %s", index, sequence, cause(err))
			return
		}
		want, ok := l.edits[string(key)]
		if !ok || !proto.Equal(&compactordv1.PruneEntry{Edits: edits}, &compactordv1.PruneEntry{Edits: want}) {
			l.problem("edits of message %d are not those of record %d", index, sequence)
		}
		found++
	})
	if found < len(l.edits) {
		l.problem("%d of the edits of records are not filed by message", len(l.edits)-found)
	}
}

// checkRequests reads the remembered requests, and looks whether they can be forgotten in order.
func (l *logCheck) checkRequests(ctx context.Context) {
	requests := 0
	revisions := map[uint32]bool{}
	l.each(ctx, requestsBucket, l.prefix, func(key, value []byte) {
		requests++
		if _, _, err := splitRequestKey(key); err != nil {
			l.problem("bucket requests: %v", err)
			return
		}
		revision, value, err := splitRequest(value)
		if err != nil {
			l.problem("bucket requests: %s", cause(err))
			return
		}
		if revisions[revision] || revision == 0 || revision > l.session.row.GetRevision() {
			l.problem("a request of revision %d, which is not there or has another", revision)
		}
		revisions[revision] = true
		encoding, err := l.body(requestBlob, value)
		if err == nil {
			_, err = decodeRequest(encoding)
		}
		if err != nil {
			l.problem("the request of revision %d: %s", revision, cause(err))
		}
	})
	if requests != int(l.session.header.requests) {
		l.problem("%d requests are remembered and %d counted", requests, l.session.header.requests)
	}
	if requests > storage.RememberedRequests+forgetBatch {
		l.problem("%d requests are remembered and none forgotten", requests)
	}
}

// checkBlobs finds chunks that nothing points at; what is missing was found by those who point.
func (l *logCheck) checkBlobs(ctx context.Context) {
	l.each(ctx, blobsBucket, l.prefix, func(key, _ []byte) {
		_, b, chunk, err := splitBlobKey(key)
		if err != nil {
			l.problem("bucket blobs: %v", err)
			return
		}
		if p, ok := l.blobs[b]; !ok || chunk >= p.chunks() {
			l.problem("chunk %d of blob %d of kind %d belongs to nothing", chunk, b.id, b.kind)
		}
	})
}
