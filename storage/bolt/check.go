package boltstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// CheckStructure returns all problems of the file, the buckets, and their references to each other. It reads everything
// in one transaction, during which no page is freed. So check a copy, or a store that is not in use.
func (s *Store) CheckStructure(ctx context.Context) ([]storage.Problem, error) {
	s.wholeReads.RLock()
	defer s.wholeReads.RUnlock()
	c := &checker{sessions: map[uint64]*checkedSession{}, reported: map[storage.Problem]bool{}}
	err := s.view(ctx, func(tx *transaction) error {
		c.tx = tx
		c.walk(ctx)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	return c.problems, nil
}

// checker collects problems.
type checker struct {
	tx       *transaction
	sessions map[uint64]*checkedSession
	dead     map[uint64]bool
	next     uint64
	problems []storage.Problem
	// reported are the problems by themselves, so that none is named twice.
	reported map[storage.Problem]bool
}

// checkedSession is a session during the check.
type checkedSession struct {
	tenant, id string
	header     rowHeader
	// row is the row without its policies.
	row *storagev1.Session
	// damaged reports that a part of the log could not be read. What is missing in others for that is no other problem.
	damaged bool
}

func (s *checkedSession) markDamaged() {
	if s != nil {
		s.damaged = true
	}
}

func (c *checker) report(session *checkedSession, format string, args ...any) {
	problem := storage.Problem{What: fmt.Sprintf(format, args...)}
	if session != nil {
		problem.Tenant, problem.SessionID = session.tenant, session.id
	}
	if !c.reported[problem] {
		c.reported[problem] = true
		c.problems = append(c.problems, problem)
	}
}

// walk checks everything. What one step cannot read does not keep the others from being done.
func (c *checker) walk(ctx context.Context) {
	c.attempt(nil, func() { c.checkPages(ctx) })
	c.attempt(nil, c.checkBuckets)
	c.attempt(nil, func() { c.readDead(ctx) })
	c.attempt(nil, func() { c.readSessions(ctx) })
	c.attempt(nil, func() { c.checkListings(ctx, byTimeBucket, false) })
	c.attempt(nil, func() { c.checkListings(ctx, byLabelBucket, true) })
	for _, name := range logBuckets {
		c.attempt(nil, func() { c.checkOrdinals(name) })
	}
	for _, session := range c.sessions {
		if ctx.Err() != nil {
			return
		}
		c.checkLog(ctx, session)
	}
}

// attempt runs a step of the check and reports the damage that ends it.
func (c *checker) attempt(session *checkedSession, step func()) {
	err := c.tx.guarded(func() error {
		step()
		return nil
	})
	if err != nil && (session != nil || !c.knows(err)) {
		c.report(session, "the rest cannot be read: %s", cause(err))
		session.markDamaged()
	}
}

// knows reports whether the damage is already a problem of no session. Only the steps of the whole check ask, since it
// looks at all problems.
func (c *checker) knows(damage error) bool {
	return slices.ContainsFunc(c.problems, func(p storage.Problem) bool {
		return p.SessionID == "" && strings.HasSuffix(p.What, cause(damage))
	})
}

// checkPages checks the pages below the buckets.
func (c *checker) checkPages(ctx context.Context) {
	used := c.tx.disk.Walk(func() bool { return ctx.Err() != nil }, func(bucket string, err error) {
		c.report(nil, "bucket %q: %v", bucket, err)
	})
	for _, what := range c.tx.damagedWhole() {
		c.report(nil, "%s", what)
	}
	if err := c.tx.disk.CheckFreelist(used); err != nil {
		c.report(nil, "%v", err)
	}
}

// checkBuckets finds unknown buckets, and reads the next ordinal.
func (c *checker) checkBuckets() {
	known := map[string]bool{string(reserveBucket): true}
	for _, name := range allBuckets {
		known[string(name)] = true
	}
	names, err := c.tx.disk.Names()
	must(err)
	for _, name := range names {
		if !known[name] {
			c.report(nil, "bucket %q is unknown", name)
		}
	}
	c.next, _ = keyOrdinal(c.tx.Bucket(metaBucket).Get(nextOrdinalKey))
}

func (c *checker) readDead(ctx context.Context) {
	c.dead = map[uint64]bool{}
	c.each(ctx, nil, deadBucket, nil, func(key, _ []byte) {
		ordinal, err := keyOrdinal(key)
		if err != nil || ordinal >= c.next {
			c.report(nil, "bucket dead: an ordinal that was never given")
		}
		c.dead[ordinal] = true
	})
}

// readSessions reads the rows and looks each one up in the listings.
func (c *checker) readSessions(ctx context.Context) {
	c.each(ctx, nil, sessionsBucket, nil, func(key, value []byte) {
		session := new(checkedSession)
		var err error
		if session.tenant, session.id, err = splitSessionKey(key); err != nil {
			c.report(nil, "bucket sessions: %v", err)
			return
		}
		var encoding []byte
		if session.header, encoding, err = splitRow(value); err == nil {
			session.row, err = forms.Session(encoding)
		}
		if err != nil {
			c.report(session, "the row: %s", cause(err))
			return
		}
		c.attempt(session, func() { c.checkRow(session) })
	})
}

func (c *checker) checkRow(session *checkedSession) {
	row, ordinal := session.row, session.header.ordinal
	if row.GetTenant() != session.tenant || row.GetSessionId() != session.id {
		c.report(session, "the row is that of another session")
	}
	if row.GetUid() != session.header.uid {
		c.report(session, "the row has two uids")
	}
	if row.GetHead().GetNextIndex() != session.header.nextIndex {
		c.report(session, "the row has two counts of messages: %d and %d", row.GetHead().GetNextIndex(), session.header.nextIndex)
	}
	if row.GetRevision() == 0 || row.GetHead() == nil {
		c.report(session, "the row has no revision or no head")
	}
	if ordinal >= c.next || c.dead[ordinal] {
		c.report(session, "the ordinal %d was not given to it", ordinal)
	}
	if other := c.sessions[ordinal]; other != nil {
		c.report(session, "the ordinal %d is also that of session %q", ordinal, other.id)
		return
	}
	for _, key := range listings(row, ordinal) {
		if id := c.tx.Bucket(key[0]).Get(key[1]); string(id) != session.id || id == nil {
			c.report(session, "it is missing in a listing of bucket %s", key[0])
		}
	}
	row.Policy, row.ResolvedPolicy = nil, nil
	c.sessions[ordinal] = session
}

// checkListings finds entries of listings without a matching row.
func (c *checker) checkListings(ctx context.Context, bucket []byte, labelled bool) {
	c.each(ctx, nil, bucket, nil, func(key, id []byte) {
		l, at, err := splitListingKey(key, labelled)
		if err != nil {
			c.report(nil, "bucket %s: %v", bucket, err)
			return
		}
		session := c.sessions[at.ordinal()]
		if session == nil || session.id != string(id) || session.tenant != l.tenant ||
			!containsKey(listings(session.row, at.ordinal()), [2][]byte{bucket, key}) {
			c.report(&checkedSession{tenant: l.tenant, id: string(id)}, "bucket %s lists it in a wrong place", bucket)
		}
	})
}

// checkOrdinals finds logs that belong to no session.
func (c *checker) checkOrdinals(name []byte) {
	cursor := c.tx.Bucket(name).Cursor(nil)
	// What is wrong with values is reported with their sessions.
	key, _, err := cursor.seek(nil)
	for key != nil {
		ordinal, malformed := keyOrdinal(key)
		switch {
		case malformed != nil:
			c.report(nil, "bucket %s: %v", name, malformed)
			key, _, err = cursor.next()
			continue
		case c.sessions[ordinal] == nil && !c.dead[ordinal]:
			c.report(nil, "bucket %s: the ordinal %d belongs to no session", name, ordinal)
		}
		if ordinal+1 == 0 {
			return
		}
		key, _, err = cursor.seek(ordinalKey(ordinal + 1))
	}
	must(err)
}

// each calls fn for the keys of a bucket with a prefix, until the context ends. What is damaged is a problem of the
// session, or of the one that owns the key.
func (c *checker) each(
	ctx context.Context, session *checkedSession, bucket, prefix []byte, fn func(key, value []byte),
) {
	c.eachKey(ctx, bucket, prefix, func(key []byte, err error) {
		c.report(c.owner(session, bucket, key), "%s%s", placeOf(bucket, key), cause(err))
		session.markDamaged()
	}, fn)
}

// eachKey is each with what to do about a damaged value. Its key is nil where what follows cannot be read.
func (c *checker) eachKey(
	ctx context.Context, bucket, prefix []byte, damaged func(key []byte, err error), fn func(key, value []byte),
) {
	cursor := c.tx.Bucket(bucket).Cursor(prefix)
	key, value, err := cursor.seek(prefix)
	for ; ctx.Err() == nil; key, value, err = cursor.next() {
		if err != nil {
			damaged(key, err)
		}
		if key == nil {
			return
		}
		if err == nil {
			fn(key, value)
		}
	}
}

// placeOf returns what a damaged value of a log is, as far as its key says, and empty where it says nothing.
func placeOf(bucket, key []byte) string {
	switch string(bucket) {
	case string(messagesBucket):
		if _, index, err := splitNumberKey(key); err == nil {
			return fmt.Sprintf("message %d: ", index)
		}
	case string(recordsBucket):
		if _, sequence, err := splitNumberKey(key); err == nil {
			return fmt.Sprintf("record %d: ", sequence)
		}
	case string(compactionsBucket):
		if _, _, sequence, err := splitPairKey(key); err == nil {
			return fmt.Sprintf("compaction %d: ", sequence)
		}
	case string(editsBucket):
		if _, index, sequence, err := splitPairKey(key); err == nil {
			return fmt.Sprintf("edits of message %d by record %d: ", index, sequence)
		}
	case string(requestsBucket):
		if _, id, err := splitRequestKey(key); err == nil {
			return fmt.Sprintf("request %q: ", id)
		}
	case string(blobsBucket):
		if _, b, chunk, err := splitBlobKey(key); err == nil {
			return fmt.Sprintf("chunk %d of blob %d of kind %d: ", chunk, b.id, b.kind)
		}
	}
	return ""
}

// owner returns the session to which a damaged value belongs as far as its key says.
func (c *checker) owner(session *checkedSession, bucket, key []byte) *checkedSession {
	if string(bucket) != string(sessionsBucket) {
		return session
	}
	tenant, id, err := splitSessionKey(key)
	if err != nil {
		return nil
	}
	return &checkedSession{tenant: tenant, id: id}
}
