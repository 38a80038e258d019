package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// testModel runs the same random operations on the store and the model, and compares all results.
func testModel(t *testing.T, b Backend) {
	t.Helper()
	store := b.Open(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		// Each run has its own tenant, which sees nothing of the others.
		runs++
		p := &pair{t: rt, outer: t, b: b, store: store, model: memory.New(), tenant: fmt.Sprintf("tenant %d", runs)}
		rt.Repeat(map[string]func(*rapid.T){
			"":       p.compare,
			"create": p.create,
			"commit": p.commit,
			"Commit": p.commit,
			"COMMIT": p.commit,
			"delete": p.delete,
			"draft":  p.draft,
			"ranges": p.ranges,
			"list":   p.list,
			"reopen": p.reopen,
		})
		store = p.store
	})
	require.Positive(t, runs)
}

// pair is a store and the model to compare it with.
type pair struct {
	t            *rapid.T
	outer        *testing.T
	b            Backend
	store, model storage.Store
	tenant       string
	clock        int
	incarnations int
}

// sentinels are the errors that the contract distinguishes.
var sentinels = []error{
	storage.ErrNotFound, storage.ErrExists, storage.ErrConflict, storage.ErrRequestKnown, storage.ErrClosed,
	storage.ErrCorrupt, storage.ErrFull, storage.ErrInvalid,
}

// sameError requires that two errors mean the same to the contract.
func (p *pair) sameError(want, got error) {
	require.Equal(p.t, want == nil, got == nil, "want %v, got %v", want, got)
	for _, sentinel := range sentinels {
		require.Equal(p.t, errors.Is(want, sentinel), errors.Is(got, sentinel), "want %v, got %v", want, got)
	}
}

func (p *pair) id(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
}

func (p *pair) labels(t *rapid.T) []string {
	var pairs []string
	for _, key := range []string{"x", "y"} {
		if value := rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, key); value != "" {
			pairs = append(pairs, key, value)
		}
	}
	return pairs
}

// parent draws the uid of a parent, which need not exist; empty for none.
func (p *pair) parent(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "1", "2"}).Draw(t, "parent")
}

func (p *pair) create(t *rapid.T) {
	p.clock += rapid.IntRange(-1, 2).Draw(t, "seconds")
	p.incarnations++
	d := NewSession(p.tenant, p.id(t), fmt.Sprint(p.incarnations))
	d.CreatedAt(p.clock).ChangedAt(p.clock).Labels(p.labels(t)...)
	if parent := p.parent(t); parent != "" {
		d.ChildOf(parent)
	}
	d.Texts(rapid.IntRange(0, 2).Draw(t, "messages"))
	p.sameError(p.model.CreateSession(t.Context(), &d.Commit), p.store.CreateSession(t.Context(), &d.Commit))
}

func (p *pair) commit(t *rapid.T) {
	row, err := p.model.Session(t.Context(), p.tenant, p.id(t))
	if err != nil {
		t.Skip("no such session")
	}
	d := Next(row)
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		end := d.Session.GetHead().GetNextIndex()
		switch rapid.SampledFrom([]string{"text", "large", "policy", "prune", "compaction"}).Draw(t, "entry") {
		case "text":
			d.Text(rapid.StringN(0, 50, -1).Draw(t, "text"))
		case "large":
			d.Text(strings.Repeat("x", rapid.SampledFrom([]int{65400, 65536, 131072, 200000}).Draw(t, "size")))
		case "policy":
			d.Policy()
		case "prune":
			if end > 0 {
				d.Prune(rapid.SliceOfN(rapid.Uint32Range(0, end-1), 0, 5).Draw(t, "indexes")...)
			}
		case "compaction":
			d.Compaction(rapid.Uint32Range(0, end).Draw(t, "kept"), "summary")
		}
	}
	if rapid.Bool().Draw(t, "changed") {
		p.clock += rapid.IntRange(-1, 2).Draw(t, "seconds")
		d.ChangedAt(p.clock)
	}
	if rapid.IntRange(0, 3).Draw(t, "labelled") == 0 {
		d.Labels(p.labels(t)...)
	}
	if id := rapid.SampledFrom([]string{"", "1", "2", "3", "4", "5", "6", "7", "8"}).Draw(t, "request"); id != "" {
		d.Remember(id)
	}
	switch rapid.SampledFrom([]string{"", "", "", "begins", "ends"}).Draw(t, "running") {
	case "begins":
		d.Running("op", "an opening that is over")
	case "ends":
		d.Session.Running = nil
	}
	switch rapid.SampledFrom([]string{"", "", "", "", "", "stale", "other incarnation", "gap", "sequence"}).Draw(t, "fault") {
	case "stale":
		d.Session.Revision -= min(d.Session.GetRevision(), rapid.Uint32Range(1, 2).Draw(t, "by"))
	case "other incarnation":
		d.Session.Uid += "?"
	case "gap":
		d.Session.Head.NextIndex++
	case "sequence":
		d.Session.Head.NextSequence++
	}
	p.sameError(p.model.Commit(t.Context(), &d.Commit), p.store.Commit(t.Context(), &d.Commit))
}

func (p *pair) delete(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "really") > 0 {
		t.Skip("mostly not")
	}
	id := p.id(t)
	p.sameError(p.model.DeleteSession(t.Context(), p.tenant, id), p.store.DeleteSession(t.Context(), p.tenant, id))
}

// ranges reads ranges of a log, also of one that does not exist.
func (p *pair) ranges(t *rapid.T) {
	ref := storage.Ref{Tenant: p.tenant, SessionID: p.id(t), UID: fmt.Sprint(p.incarnations)}
	if row, err := p.model.Session(t.Context(), p.tenant, ref.SessionID); err == nil {
		ref = storage.RefOf(row)
	}
	number := rapid.Uint32Range(0, 40)
	start, end := number.Draw(t, "start"), number.Draw(t, "end")
	limit := rapid.IntRange(0, 5).Draw(t, "limit")
	maxBytes := rapid.SampledFrom([]int{0, 1, 100, 1000, 65600, 300000}).Draw(t, "bytes")
	request := rapid.SampledFrom([]string{"1", "2", "3", "9"}).Draw(t, "request")
	reads := []func(s storage.Store) (any, error){
		func(s storage.Store) (any, error) { return s.Messages(t.Context(), ref, start, end, maxBytes) },
		func(s storage.Store) (any, error) { return s.Records(t.Context(), ref, start, end, limit) },
		func(s storage.Store) (any, error) { return s.RecordAtOrBefore(t.Context(), ref, start) },
		func(s storage.Store) (any, error) { return s.Compactions(t.Context(), ref, start, limit) },
		func(s storage.Store) (any, error) { return s.Edits(t.Context(), ref, start, end) },
		func(s storage.Store) (any, error) { return s.Request(t.Context(), ref, request) },
	}
	for _, read := range reads {
		want, wantErr := read(p.model)
		got, err := read(p.store)
		p.sameError(wantErr, err)
		same(t, want, got)
	}
}

// abandoned returns the run's own sessions among those that a store reports as abandoned.
func (p *pair) abandoned(s storage.Store) []string {
	refs, err := s.Abandoned(p.outer.Context())
	require.NoError(p.t, err)
	var ids []string
	for _, ref := range refs {
		if ref.Tenant == p.tenant {
			ids = append(ids, ref.SessionID+" "+ref.UID)
		}
	}
	slices.Sort(ids)
	return ids
}

// list reads a listing from both, which must be the same row by row. Each store uses its own cursors.
func (p *pair) list(t *rapid.T) {
	q := storage.SessionQuery{
		Tenant: p.tenant,
		Order:  rapid.SampledFrom([]storage.SessionOrder{storage.ByCreation, storage.ByChange}).Draw(t, "order"),
		Limit:  rapid.IntRange(1, 4).Draw(t, "limit"),
		Labels: NewSession("", "", "").Labels(p.labels(t)...).Session.GetLabels(),
		Parent: p.parent(t),
	}
	pages := func(s storage.Store) [][]*storagev1.Session {
		var list [][]*storagev1.Session
		for q := q; ; {
			rows, next, err := s.Sessions(t.Context(), q)
			require.NoError(t, err)
			list = append(list, rows)
			if q.Cursor = next; next == "" {
				return list
			}
		}
	}
	same(t, pages(p.model), pages(p.store))
}

func (p *pair) reopen(t *rapid.T) {
	if p.b.Reopen == nil || rapid.IntRange(0, 4).Draw(t, "really") > 0 {
		t.Skip("mostly not")
	}
	p.store = p.b.Reopen(p.outer, p.store)
}

// compare reads and compares everything in both.
func (p *pair) compare(t *rapid.T) {
	require.Equal(t, p.abandoned(p.model), p.abandoned(p.store))
	for _, uid := range []string{"1", "2", "3"} {
		want, err := p.model.Children(t.Context(), p.tenant, uid)
		require.NoError(t, err)
		got, err := p.store.Children(t.Context(), p.tenant, uid)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	counted, err := p.model.CountSessions(t.Context())
	require.NoError(t, err)
	got, err := p.store.CountSessions(t.Context())
	require.NoError(t, err)
	require.Equal(t, counted[p.tenant], got[p.tenant])
	for _, id := range []string{"a", "b", "c"} {
		want, wantErr := p.model.Session(t.Context(), p.tenant, id)
		got, err := p.store.Session(t.Context(), p.tenant, id)
		p.sameError(wantErr, err)
		same(t, want, got)
	}
}
