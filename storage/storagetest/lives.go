package storagetest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// Lives makes sessions of a tenant as a random history would: created, changed, deleted and created again.
func Lives(t *testing.T, draw *rapid.T, store storage.Store, tenant string) {
	t.Helper()
	p := &pair{t: draw, outer: t, store: store, model: memory.New(), tenant: tenant}
	draw.Repeat(map[string]func(*rapid.T){
		"create": p.create,
		"commit": p.commit,
		"Commit": p.commit,
		"COMMIT": p.commit,
		"delete": p.delete,
	})
}
