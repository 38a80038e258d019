package sessionlog

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// Rows are stored without policies, since each append writes its session's row again and policies can be large. The
// policy is in the record of the PolicyChange that the head names. Stores of earlier versions have it in the row too,
// until the next write.

// AddPolicy adds the policies that a row is stored without. It returns storage.ErrNotFound where this incarnation of
// the session no longer exists.
func (l *Logs) AddPolicy(ctx context.Context, row *storagev1.Session) error {
	if row.GetResolvedPolicy() != nil {
		return nil
	}
	key := policyKey{uid: row.GetUid(), sequence: row.GetHead().GetPolicyChange()}
	change := l.policies.get(key)
	if change == nil {
		var err error
		if change, err = policyChangeOf(ctx, l.store, row, row.GetHead()); err != nil {
			return err
		}
		l.policies.put(key, change)
	}
	row.Policy, row.ResolvedPolicy = change.GetGiven(), change.GetResolved()
	return nil
}

// cloneRow returns a copy of a row that nobody else reads meanwhile. Its policies, which nobody changes, are the same.
func cloneRow(row *storagev1.Session) *storagev1.Session {
	given, resolved := row.GetPolicy(), row.GetResolvedPolicy()
	row.Policy, row.ResolvedPolicy = nil, nil
	next := proto.CloneOf(row)
	row.Policy, row.ResolvedPolicy, next.Policy, next.ResolvedPolicy = given, resolved, given, resolved
	return next
}

// withoutPolicy calls write with a commit whose row has no policies.
func withoutPolicy(c *storage.Commit, write func(*storage.Commit) error) error {
	row := c.Session
	given, resolved := row.GetPolicy(), row.GetResolvedPolicy()
	row.Policy, row.ResolvedPolicy = nil, nil
	defer func() { row.Policy, row.ResolvedPolicy = given, resolved }()
	return write(c)
}

// policyKey names a change of policy: the uid of its session and its sequence.
type policyKey struct {
	uid      string
	sequence uint32
}

// maxKnownPolicies is the most bytes of policies that are kept in memory.
const maxKnownPolicies = 8 << 20

// knownPolicies keeps policies that were read, since most calls need the one of their session. Nobody changes them.
type knownPolicies struct {
	mu      sync.Mutex
	changes map[policyKey]*compactordv1.PolicyChange
	bytes   int
}

func (k *knownPolicies) get(key policyKey) *compactordv1.PolicyChange {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes[key]
}

// put keeps a policy. Where they become too many, it forgets all others.
func (k *knownPolicies) put(key policyKey, change *compactordv1.PolicyChange) {
	size := proto.Size(change)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changes == nil || k.bytes+size > maxKnownPolicies {
		k.changes, k.bytes = make(map[policyKey]*compactordv1.PolicyChange), 0
	}
	if k.changes[key] == nil {
		k.changes[key] = change
		k.bytes += size
	}
}
