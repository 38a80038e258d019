package sessionlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
)

// checkChunk is the number of sessions or records that are read at a time.
const checkChunk = 256

// CheckAll is Check for all tenants.
func CheckAll(ctx context.Context, s storage.Store) (problems []storage.Problem, err error) {
	counts, err := s.CountSessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		found, err := Check(ctx, s, name)
		problems = append(problems, found...)
		if err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// Check computes the heads of all sessions of a tenant again from their logs, and returns where they differ from the
// stored ones. It finds what storage.Checker cannot: rows that are well formed but contradict the log.
func Check(ctx context.Context, s storage.Store, tenant string) ([]storage.Problem, error) {
	var problems []storage.Problem
	cursor := ""
	for {
		rows, next, err := s.Sessions(ctx, storage.SessionQuery{Tenant: tenant, Cursor: cursor, Limit: checkChunk})
		if err != nil {
			return problems, err
		}
		for _, row := range rows {
			found, err := checkLog(ctx, s, row)
			if err != nil {
				return problems, err
			}
			problems = append(problems, found...)
		}
		if next == "" {
			return problems, nil
		}
		cursor = next
	}
}

// logCheck rebuilds the head of one session from its log.
type logCheck struct {
	store    storage.Store
	row      *storagev1.Session
	counter  session.Counter
	head     *storagev1.Head
	policy   *compactordv1.Policy
	bytes    int
	problems []storage.Problem
}

func checkLog(ctx context.Context, s storage.Store, row *storagev1.Session) ([]storage.Problem, error) {
	counter, err := session.CounterFor(row.GetEstimator())
	if err != nil {
		return []storage.Problem{problem(row, "%v", err)}, nil
	}
	c := &logCheck{store: s, row: row, counter: counter, head: session.NewHead(row.GetEstimator())}
	err = c.run(ctx)
	if isUnreadable(err) || errors.Is(err, session.ErrUnknownRecord) {
		c.report("%v", err)
		err = nil
	}
	return c.problems, err
}

// run rebuilds the head and compares it. The error of a damaged log is a problem of this session alone.
func (c *logCheck) run(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its records do not fit its messages (%T)", storage.ErrCorrupt, r)
		}
	}()
	contradiction, err := checkEnd(ctx, c.store, c.row)
	if err != nil {
		return err
	}
	if contradiction != "" {
		c.report("%s", contradiction)
	}
	if err := c.records(ctx); err != nil {
		return err
	}
	if err := c.messagesUpTo(ctx, c.row.GetHead().GetNextIndex()); err != nil {
		return err
	}
	if has := c.row.GetLogBytes(); has > 0 && has != uint64(c.bytes) {
		c.report("its log has %d bytes, and its row says %d", c.bytes, has)
	}
	if !proto.Equal(c.head, c.row.GetHead()) {
		c.report("the head is not what the log gives: %s", differing(c.head, c.row.GetHead()))
	}
	return nil
}

// records goes through the records, each after the messages before it.
func (c *logCheck) records(ctx context.Context) error {
	end := c.row.GetHead().GetNextSequence()
	for sequence := uint32(0); sequence < end; {
		records, err := c.store.Records(ctx, storage.RefOf(c.row), sequence, end, checkChunk)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, stored := range records {
			if err := c.messagesUpTo(ctx, stored.GetRecord().GetNextIndex()); err != nil {
				return err
			}
			if err := c.record(ctx, stored); err != nil {
				return err
			}
			sequence = stored.GetRecord().GetSequence() + 1
		}
	}
	return nil
}

func (c *logCheck) messagesUpTo(ctx context.Context, end uint32) error {
	for c.head.GetNextIndex() < end {
		from := c.head.GetNextIndex()
		messages, err := c.store.Messages(ctx, storage.RefOf(c.row), from, end, messageChunk)
		if err != nil {
			return err
		}
		if len(messages) == 0 {
			return fmt.Errorf("%w: message %d is missing", storage.ErrCorrupt, from)
		}
		for _, l := range messages {
			c.message(l)
		}
	}
	return nil
}

func (c *logCheck) message(l *compactordv1.LoggedMessage) {
	c.bytes += proto.Size(l)
	linked := session.Link(c.head, c.counter, l.GetMessage(), &l.ViewPoint)
	linked.AppendedAt, linked.ExtraTokens = l.GetAppendedAt(), l.GetExtraTokens()
	// They depend on the policy at that time, and a later release may decide otherwise.
	linked.ArrivalEdits = l.GetArrivalEdits()
	linked.ParentIndex, linked.Child = l.ParentIndex, l.GetChild()
	if err := session.CheckArrivalEdits(c.counter, l); err != nil {
		c.report("%v", err)
	}
	if tokens, _ := session.MediaOf(c.counter, l.GetMessage()); tokens > 0 {
		// The release that appended them may have estimated media differently. Its figure stays.
		linked.PartSizes, linked.Tokens = l.GetPartSizes(), session.SizesTokens(c.counter, l.GetPartSizes())
	}
	if !proto.Equal(linked, l) {
		c.report("message %d is not linked as the log gives: %s", l.GetIndex(), differing(linked, l))
	}
	session.Advance(c.head, c.counter, c.policy, l)
}

func (c *logCheck) record(ctx context.Context, stored *storagev1.StoredRecord) error {
	c.bytes += proto.Size(stored)
	r := stored.GetRecord()
	var at *storagev1.Head
	if revert := r.GetRevert(); revert != nil {
		var err error
		if at, err = headAt(ctx, c.store, c.row, revert.GetPoint()); err != nil {
			return err
		}
	}
	h, err := session.Apply(c.head, c.policy, r, at)
	if err != nil {
		return err
	}
	if change := r.GetPolicyChange(); change != nil {
		c.policy = change.GetResolved()
	}
	pieces := &pieces{store: c.store, ref: storage.RefOf(c.row), head: h, bytes: minPieceBytes}
	state, err := loadState(ctx, c.store, c.row, h, &session.Outlines{
		Contents: pieces, To: h.GetNextIndex(), Least: LeastOutlined, Facts: strategies.OutlineFacts,
	})
	if err != nil {
		return err
	}
	state.Policy = c.policy
	c.head = state.HeadAfter(r)
	if !proto.Equal(c.head, stored.GetHead()) {
		c.report("the head at record %d is not what the log gives: %s", r.GetSequence(), differing(c.head, stored.GetHead()))
	}
	return nil
}

func (c *logCheck) report(format string, args ...any) {
	c.problems = append(c.problems, problem(c.row, format, args...))
}

func problem(row *storagev1.Session, format string, args ...any) storage.Problem {
	return storage.Problem{Tenant: row.GetTenant(), SessionID: row.GetSessionId(), What: fmt.Sprintf(format, args...)}
}

// differing returns the names of the fields in which two messages differ, never their values.
func differing(a, b proto.Message) string {
	var names []string
	ra, rb := a.ProtoReflect(), b.ProtoReflect()
	fields := ra.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); !ra.Get(f).Equal(rb.Get(f)) {
			names = append(names, string(f.Name()))
		}
	}
	return fmt.Sprint(names)
}
