package boltstore

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
)

// kindsIn are the kinds of what the buckets hold, so that a new bucket needs a decision: whoever hands out all of a session
// needs each kind.
var kindsIn = map[string][]storage.Kind{
	string(sessionsBucket): {storage.RowKind},
	string(messagesBucket): {storage.MessageKind},
	string(recordsBucket):  {storage.RecordKind},
	// Records with a compaction, which recordsBucket points to.
	string(compactionsBucket): {storage.RecordKind},
	// The edits of records with a prune, by message.
	string(editsBucket):    {storage.RecordKind},
	string(requestsBucket): {storage.RequestKind},
	// Parts of large values of the others.
	string(blobsBucket): {storage.MessageKind, storage.RecordKind, storage.RequestKind},
	// Nothing of a session but its names, labels and times, which its row has.
	string(byTimeBucket): {storage.RowKind}, string(byLabelBucket): {storage.RowKind},
	// Nothing of a session that exists.
	string(metaBucket): nil, string(deadBucket): nil,
}

func TestEachBucketHasItsKinds(t *testing.T) {
	t.Parallel()
	found := map[storage.Kind]bool{}
	for _, bucket := range allBuckets {
		require.Contains(t, kindsIn, string(bucket))
		for _, kind := range kindsIn[string(bucket)] {
			found[kind] = true
			require.Contains(t, storage.Kinds(), kind)
		}
	}
	require.Len(t, kindsIn, len(allBuckets))
	require.Len(t, found, len(storage.Kinds()))
}
