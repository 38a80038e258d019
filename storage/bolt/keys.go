package boltstore

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/storage"
)

// The buckets. None contains another bucket. In the buckets of logs every key begins with the session's ordinal, eight
// bytes big endian. An ordinal is given at creation and never used again. So the keys of a log are next to each other,
// and a new incarnation starts with an empty log.
var (
	// metaBucket: versionKey, nextOrdinalKey, and unfinishedKey in a copy of another store that lacks a part yet.
	metaBucket = []byte("meta")
	// sessionsBucket: tenant, id -> row.
	sessionsBucket = []byte("sessions")
	// byTimeBucket: order, tenant, place -> id. Besides the orders of listings it has byRunning.
	byTimeBucket = []byte("by_time")
	// byLabelBucket: order, tenant, label, value, place -> id. Besides the orders of listings it has those of children,
	// whose label is the parent's uid, with an empty value.
	byLabelBucket = []byte("by_label")
	// deadBucket: the ordinals of logs that belong to no session and are not completely removed yet: those of deleted
	// sessions, and with the value draftMark those of drafts. The ordinal of a draft that becomes a session is taken out.
	deadBucket = []byte("dead")

	// messagesBucket: ordinal, index -> StoredMessage.
	messagesBucket = []byte("messages")
	// recordsBucket: ordinal, sequence -> StoredRecord, or a pointer into compactionsBucket.
	recordsBucket = []byte("records")
	// compactionsBucket: ordinal, first_kept_index, sequence -> StoredRecord of a CompactionEntry.
	compactionsBucket = []byte("compactions")
	// editsBucket: ordinal, message index, sequence -> the edits that one record made to one message.
	editsBucket = []byte("edits")
	// requestsBucket: ordinal, request id -> revision, StoredRequest. They are forgotten in the order of their
	// revisions. For that all are read, once in forgetBatch commits; a bucket in that order would cost each commit two
	// more pages.
	requestsBucket = []byte("requests")
	// blobsBucket: ordinal, kind, id, chunk -> a part of a value that is too large for its own bucket.
	blobsBucket = []byte("blobs")

	// logBuckets are the buckets whose keys begin with an ordinal.
	logBuckets = [][]byte{
		messagesBucket, recordsBucket, compactionsBucket, editsBucket, requestsBucket, blobsBucket,
	}
	// allBuckets are all buckets of a store.
	allBuckets = append([][]byte{metaBucket, sessionsBucket, byTimeBucket, byLabelBucket, deadBucket}, logBuckets...)
)

// The keys of metaBucket.
var (
	versionKey     = []byte("version")
	nextOrdinalKey = []byte("next_ordinal")
	unfinishedKey  = []byte("unfinished")
)

// draftMark is the value of deadBucket for a draft. By it an older copy of its page does not say that the session was deleted.
var draftMark = []byte{1}

// maxName is the greatest length of a tenant, an id, or a label's key or value, in bytes. Three of them and a place fit
// into a key of bbolt.
const maxName = 4096

// errKey means that bytes are not a key of their bucket.
var errKey = errors.New("malformed key")

// ordinalKey returns the prefix of all keys of a session's log.
func ordinalKey(ordinal uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, ordinal)
}

// keyOrdinal returns the ordinal at the beginning of a key.
func keyOrdinal(key []byte) (uint64, error) {
	if len(key) < 8 {
		return 0, errKey
	}
	return binary.BigEndian.Uint64(key), nil
}

// numberKey returns the key of a message (index) or a record (sequence).
func numberKey(ordinal uint64, n uint32) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 12), ordinal)
	return binary.BigEndian.AppendUint32(key, n)
}

func splitNumberKey(key []byte) (ordinal uint64, n uint32, err error) {
	if len(key) != 12 {
		return 0, 0, errKey
	}
	return binary.BigEndian.Uint64(key), binary.BigEndian.Uint32(key[8:]), nil
}

// pairKey returns the key of a compaction entry (first_kept_index, sequence) or of a message's edits (index, sequence).
func pairKey(ordinal uint64, a, b uint32) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 16), ordinal)
	key = binary.BigEndian.AppendUint32(key, a)
	return binary.BigEndian.AppendUint32(key, b)
}

func splitPairKey(key []byte) (ordinal uint64, a, b uint32, err error) {
	if len(key) != 16 {
		return 0, 0, 0, errKey
	}
	return binary.BigEndian.Uint64(key), binary.BigEndian.Uint32(key[8:]), binary.BigEndian.Uint32(key[12:]), nil
}

// requestKey returns the key of a remembered request.
func requestKey(ordinal uint64, id string) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(id)), ordinal)
	return append(key, id...)
}

func splitRequestKey(key []byte) (ordinal uint64, id string, err error) {
	if len(key) <= 8 {
		return 0, "", errKey
	}
	return binary.BigEndian.Uint64(key), string(key[8:]), nil
}

// blobKind is the kind of value that a blob holds.
type blobKind byte

// The kinds of blobs, and their ids.
const (
	messageBlob blobKind = iota + 1 // the index
	recordBlob                      // the sequence
	editsBlob                       // index and sequence
	requestBlob                     // the revision
)

// blobID names a blob within a session.
type blobID struct {
	kind blobKind
	id   uint64
}

// blobKey returns the key of one chunk of a blob.
func blobKey(ordinal uint64, b blobID, chunk uint32) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 21), ordinal)
	key = append(key, byte(b.kind))
	key = binary.BigEndian.AppendUint64(key, b.id)
	return binary.BigEndian.AppendUint32(key, chunk)
}

func splitBlobKey(key []byte) (ordinal uint64, b blobID, chunk uint32, err error) {
	if len(key) != 21 {
		return 0, blobID{}, 0, errKey
	}
	b = blobID{kind: blobKind(key[8]), id: binary.BigEndian.Uint64(key[9:])}
	return binary.BigEndian.Uint64(key), b, binary.BigEndian.Uint32(key[17:]), nil
}

// sessionKey returns the key of a row; nil, which no row has, where a name is longer than any stored one.
func sessionKey(tenant, id string) []byte {
	if len(tenant) > maxName || len(id) > maxName {
		return nil
	}
	return append(appendName(nil, tenant), id...)
}

func splitSessionKey(key []byte) (tenant, id string, err error) {
	tenant, rest, err := cutName(key)
	if err != nil {
		return "", "", err
	}
	return tenant, string(rest), nil
}

// appendName appends s with its length, so that different names never give the same bytes.
func appendName(key []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(key, uint16(len(s))), s...)
}

func cutName(key []byte) (name string, rest []byte, err error) {
	if len(key) < 2 {
		return "", nil, errKey
	}
	n := 2 + int(binary.BigEndian.Uint16(key))
	if len(key) < n {
		return "", nil, errKey
	}
	return string(key[2:n]), key[n:], nil
}

// placeSize is the length of an encoded place.
const placeSize = 8 + 4 + 8

// place is the position of a session in a listing. Listings are sorted newest first, so all bits are inverted. Of
// sessions with the same time, the one created later comes first.
type place [placeSize]byte

func newPlace(t *timestamppb.Timestamp, ordinal uint64) place {
	var p place
	// The sign bits are flipped too, so that times before 1970 sort below later ones.
	binary.BigEndian.PutUint64(p[:], ^(uint64(t.GetSeconds()) ^ 1<<63))
	binary.BigEndian.PutUint32(p[8:], ^(uint32(t.GetNanos()) ^ 1<<31))
	binary.BigEndian.PutUint64(p[12:], ^ordinal)
	return p
}

// byRunning is the order of the list of sessions whose rows name running compactions, by creation. Only Abandoned reads
// it.
const byRunning storage.SessionOrder = 2

// ofChildren are the orders of the lists of a session's children, one for each order of listings.
var ofChildren = map[storage.SessionOrder]storage.SessionOrder{storage.ByCreation: 3, storage.ByChange: 4}

// childrenOf returns the list of the children of the session with this uid.
func childrenOf(order storage.SessionOrder, tenant, parentUID string) listing {
	return listing{order: ofChildren[order], tenant: tenant, labelled: true, label: parentUID}
}

// listing is a list of a tenant's sessions in one order: all of them (byTimeBucket), or those with a label or a parent.
type listing struct {
	order    storage.SessionOrder
	tenant   string
	labelled bool
	label    string
	value    string
}

// bucket returns the bucket with the listing's entries.
func (l listing) bucket() []byte {
	if l.labelled {
		return byLabelBucket
	}
	return byTimeBucket
}

// prefix returns the beginning of the keys of the listing's entries.
func (l listing) prefix() []byte {
	key := appendName([]byte{byte(l.order)}, l.tenant)
	if l.labelled {
		key = appendName(appendName(key, l.label), l.value)
	}
	return key
}

// key returns the key of the entry at a place.
func (l listing) key(p place) []byte {
	return append(l.prefix(), p[:]...)
}

// splitListingKey reads a key of byLabelBucket if labelled, else one of byTimeBucket.
func splitListingKey(key []byte, labelled bool) (l listing, p place, err error) {
	if len(key) == 0 {
		return listing{}, place{}, errKey
	}
	l = listing{order: storage.SessionOrder(key[0]), labelled: labelled}
	rest := key[1:]
	names := []*string{&l.tenant}
	if labelled {
		names = append(names, &l.label, &l.value)
	}
	for _, name := range names {
		if *name, rest, err = cutName(rest); err != nil {
			return listing{}, place{}, err
		}
	}
	if len(rest) != placeSize {
		return listing{}, place{}, errKey
	}
	return l, place(rest), nil
}

// ordinal returns the ordinal of the session at the place.
func (p place) ordinal() uint64 {
	return ^binary.BigEndian.Uint64(p[12:])
}
