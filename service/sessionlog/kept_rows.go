package sessionlog

import (
	"sync"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
)

// keptRowBytes is how many bytes of rows are kept.
const keptRowBytes = 16 << 20

// What a kept row takes beside and for its encoding, about.
const (
	bytesOfRow       = 1 << 10
	timesItsEncoding = 3
)

// keptRows keeps the rows of sessions as this daemon has committed them last, so that the next append need not read its row.
// Another daemon may have written since: then the store refuses what follows from such a row. Where they become too many, all
// are forgotten.
type keptRows struct {
	mu     sync.Mutex
	bytes  int
	byName map[Name]keptRow
}

// keptRow is a row without its policies, which are kept apart. Only who takes it has it.
type keptRow struct {
	row *storagev1.Session
	// alone says that nobody else had written to the session between this commit and the one before, both of this daemon. So an
	// append to a session that two daemons write to in turn does not begin with a row that is no longer the newest.
	alone bool
	bytes int
}

// take returns what is kept of a session, and forgets it. The session is locked.
func (k *keptRows) take(name Name) keptRow {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := k.byName[name]
	delete(k.byName, name)
	k.bytes -= kept.bytes
	return kept
}

// put keeps the row of a session, which is locked. Nobody else uses the row any more.
func (k *keptRows) put(name Name, row *storagev1.Session, alone bool) {
	row.Policy, row.ResolvedPolicy = nil, nil
	bytes := bytesOfRow + len(name) + timesItsEncoding*proto.Size(row)
	if bytes > keptRowBytes {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName == nil || k.bytes+bytes > keptRowBytes {
		k.byName, k.bytes = make(map[Name]keptRow), 0
	}
	k.bytes += bytes - k.byName[name].bytes
	k.byName[name] = keptRow{row: row, alone: alone, bytes: bytes}
}

// is reports whether a row that was read is the one that is kept.
func (k keptRow) is(row *storagev1.Session) bool {
	return k.row != nil && k.row.GetUid() == row.GetUid() && k.row.GetRevision() == row.GetRevision() &&
		proto.Equal(k.row.GetChangedAt(), row.GetChangedAt())
}
