package boltstore

import (
	"bytes"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// CheckStructure returns all problems of the file, the buckets, and their references to each other. It reads everything
// in one transaction, during which no page is freed. So check a copy, or a store that is not in use.
func (s *Store) CheckStructure(ctx context.Context) ([]storage.Problem, error) {
	c := &checker{sessions: map[uint64]*checkedSession{}}
	readable := false
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		c.tx = tx
		readable = c.walk(ctx)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	if !readable {
		// bbolt's own check would read the same pages in a goroutine of its own, where a fault ends the process.
		return c.problems, nil
	}
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			c.report(nil, "%v", err)
		}
		return nil
	})
	return c.problems, err
}

// checker collects problems.
type checker struct {
	tx       *bbolt.Tx
	sessions map[uint64]*checkedSession
	dead     map[uint64]bool
	next     uint64
	problems []storage.Problem
}

// checkedSession is a session during the check.
type checkedSession struct {
	tenant, id string
	header     rowHeader
	// row is the row without its policies.
	row *storagev1.Session
}

func (c *checker) report(session *checkedSession, format string, args ...any) {
	problem := storage.Problem{What: fmt.Sprintf(format, args...)}
	if session != nil {
		problem.Tenant, problem.SessionID = session.tenant, session.id
	}
	c.problems = append(c.problems, problem)
}

// walk checks everything above the level of pages. It returns false where the pages could not be read.
func (c *checker) walk(ctx context.Context) (readable bool) {
	var err error
	defer func() {
		if err != nil {
			c.report(nil, "the rest of the file cannot be read: %s", cause(err))
			readable = false
		}
	}()
	defer guard(&err)()
	c.checkBuckets()
	c.readDead(ctx)
	c.readSessions(ctx)
	c.checkListings(ctx, byTimeBucket, false)
	c.checkListings(ctx, byLabelBucket, true)
	c.checkOrdinals()
	for _, session := range c.sessions {
		if ctx.Err() != nil {
			return false
		}
		c.checkLog(ctx, session)
	}
	return true
}

// checkBuckets finds unknown buckets, and reads the next ordinal.
func (c *checker) checkBuckets() {
	known := map[string]bool{}
	for _, name := range allBuckets {
		known[string(name)] = true
	}
	_ = c.tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
		if !known[string(name)] || bucket == nil {
			c.report(nil, "bucket %q is unknown", name)
			return nil
		}
		// Reads everything, so that unreadable pages are found here.
		return bucket.ForEach(func(_, value []byte) error {
			if value == nil {
				c.report(nil, "bucket %q contains a bucket", name)
			}
			return nil
		})
	})
	c.next, _ = keyOrdinal(c.tx.Bucket(metaBucket).Get(nextOrdinalKey))
}

func (c *checker) readDead(ctx context.Context) {
	c.dead = map[uint64]bool{}
	c.each(ctx, deadBucket, nil, func(key, _ []byte) {
		ordinal, err := keyOrdinal(key)
		if err != nil || ordinal >= c.next {
			c.report(nil, "bucket dead: an ordinal that was never given")
		}
		c.dead[ordinal] = true
	})
}

// readSessions reads the rows and looks each one up in the listings.
func (c *checker) readSessions(ctx context.Context) {
	c.each(ctx, sessionsBucket, nil, func(key, value []byte) {
		session := new(checkedSession)
		var err error
		if session.tenant, session.id, err = splitSessionKey(key); err != nil {
			c.report(nil, "bucket sessions: %v", err)
			return
		}
		var encoding []byte
		if session.header, encoding, err = splitRow(value); err == nil {
			session.row, err = decodeSession(encoding)
		}
		if err != nil {
			c.report(session, "the row: %s", cause(err))
			return
		}
		c.checkRow(session)
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
	c.each(ctx, bucket, nil, func(key, id []byte) {
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
func (c *checker) checkOrdinals() {
	for _, name := range logBuckets {
		cursor := c.tx.Bucket(name).Cursor()
		for key, _ := cursor.First(); key != nil; {
			ordinal, err := keyOrdinal(key)
			if err != nil {
				c.report(nil, "bucket %s: %v", name, err)
				key, _ = cursor.Next()
				continue
			}
			if c.sessions[ordinal] == nil && !c.dead[ordinal] {
				c.report(nil, "bucket %s: the ordinal %d belongs to no session", name, ordinal)
			}
			if ordinal+1 == 0 {
				break
			}
			key, _ = cursor.Seek(ordinalKey(ordinal + 1))
		}
	}
}

// each calls fn for the keys of a bucket with a prefix, until the context ends.
func (c *checker) each(ctx context.Context, bucket, prefix []byte, fn func(key, value []byte)) {
	cursor := c.tx.Bucket(bucket).Cursor()
	for key, value := cursor.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		if ctx.Err() != nil {
			return
		}
		fn(key, value)
	}
}
