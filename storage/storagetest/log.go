package storagetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

const last = 1<<32 - 1

// Messages returns the messages from start to end (exclusive) in order. Indexes after the log's end are ignored.
func testMessages(t *testing.T, s storage.Store) {
	t.Helper()
	// Sessions before and after it show where a range is not limited to its session.
	create(t, s, NewSession("", "r", "u").Texts(5))
	d := NewSession("", "s", "u").Texts(2).Policy().Texts(3)
	create(t, s, d)
	create(t, s, NewSession("", "t", "u").Texts(5))
	for start := range uint32(8) {
		for _, end := range []uint32{0, 1, 2, 3, 4, 5, 6, 7, last} {
			got, err := s.Messages(t.Context(), d.Ref(), start, end, 0)
			require.NoError(t, err)
			from, to := min(start, 5), min(end, 5)
			same(t, append([]*compactordv1.LoggedMessage(nil), d.Messages[from:max(from, to)]...), got)
			sameEncoded(t, s, d.Ref(), start, end, 0)
		}
	}
	empty := NewSession("", "empty", "u")
	create(t, s, empty)
	got, err := s.Messages(t.Context(), empty.Ref(), 0, last, 0)
	require.NoError(t, err)
	require.Empty(t, got)
}

// Messages stops before the size of their encodings together passes maxBytes, but returns at least one.
func testMessagesMaxBytes(t *testing.T, s storage.Store) {
	t.Helper()
	d := NewSession("", "s", "u")
	// Sizes where the encoding of the length itself gets longer.
	for _, n := range []int{0, 90, 100, 127, 128, 16200, 16300, 16383, 16384, 65000, 65500, 65535, 65536, 70000, 3} {
		d.Text(strings.Repeat("x", n))
	}
	create(t, s, d)
	for start := range d.Messages {
		total := 0
		for n, m := range d.Messages[start:] {
			total += proto.Size(m)
			for _, over := range []int{-1, 0, 1} {
				want := n + 1
				if over < 0 {
					want = max(n, 1)
				}
				got, err := s.Messages(t.Context(), d.Ref(), uint32(start), last, total+over)
				require.NoError(t, err)
				require.Len(t, got, want, "from %d, %d bytes", start, total+over)
				sameEncoded(t, s, d.Ref(), uint32(start), last, total+over)
			}
		}
	}
	got, err := s.Messages(t.Context(), d.Ref(), 9, last, 1)
	require.NoError(t, err)
	same(t, d.Messages[9:10], got)
}

// sameEncoded checks that a store that also returns encodings returns the same messages with them, each with the one that
// protobuf writes.
func sameEncoded(t *testing.T, s storage.Store, ref storage.Ref, start, end uint32, maxBytes int) {
	t.Helper()
	reader, ok := s.(storage.EncodedReader)
	if !ok {
		return
	}
	messages, err := s.Messages(t.Context(), ref, start, end, maxBytes)
	require.NoError(t, err)
	got, encodings, err := reader.EncodedMessages(t.Context(), ref, start, end, maxBytes)
	require.NoError(t, err)
	same(t, messages, got)
	require.Len(t, encodings, len(messages))
	for i, m := range messages {
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.GetMessage())
		require.NoError(t, err)
		require.Equal(t, string(want), encodings[i])
	}
}

// Messages of several MB come back unchanged, and so do records and requests.
func testMessagesLarge(t *testing.T, s storage.Store) {
	t.Helper()
	d := NewSession("", "s", "u")
	for i, n := range []int{5 << 20, 10, 64<<10 - 40, 64 << 10, 128<<10 + 1, 3 << 20, 1} {
		d.Text(strings.Repeat(string(rune('a'+i)), n))
	}
	d.Compaction(2, strings.Repeat("summary ", 40000)).Remember("request")
	d.Request.Stored.Response = []byte(strings.Repeat("response ", 20000))
	d.Prune(0, 1)
	d.Records[2].GetRecord().GetPrune().GetEdits()[0].Replacement = strings.Repeat("shorter", 30000)
	create(t, s, d)
	second := Next(d.Session).Text(strings.Repeat("z", 2<<20))
	commit(t, s, second)

	got := read(t, s, d.Ref())
	same(t, append(d.Messages, second.Messages...), got.Messages)
	same(t, d.Records, got.Records)
	same(t, d.Records[1:2], got.Entries)
	edits, err := s.Edits(t.Context(), d.Ref(), 0, 1)
	require.NoError(t, err)
	same(t, d.Records[2].GetRecord().GetPrune().GetEdits()[0], edits[0].Edits[0])
	request, err := s.Request(t.Context(), d.Ref(), "request")
	require.NoError(t, err)
	same(t, d.Request.Stored, request)
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
}

// A range of any length is returned completely.
func testMessagesMany(t *testing.T, s storage.Store) {
	t.Helper()
	d := NewSession("", "s", "u")
	for range 3000 {
		d.Text("m").Policy()
	}
	create(t, s, d)
	messages, err := s.Messages(t.Context(), d.Ref(), 0, last, 0)
	require.NoError(t, err)
	sameAll(t, d.Messages, messages)
	messages, err = s.Messages(t.Context(), d.Ref(), 700, 2900, 0)
	require.NoError(t, err)
	sameAll(t, d.Messages[700:2900], messages)
	records, err := s.Records(t.Context(), d.Ref(), 0, last, 0)
	require.NoError(t, err)
	sameAll(t, d.Records, records)
	records, err = s.Records(t.Context(), d.Ref(), 0, last, 1500)
	require.NoError(t, err)
	sameAll(t, d.Records[:1500], records)
}

// Records returns the records from start to end (exclusive) in order, at most limit.
func testRecords(t *testing.T, s storage.Store) {
	t.Helper()
	create(t, s, NewSession("", "r", "u").Policy())
	d := NewSession("", "s", "u").Text("1").Policy().Compaction(0, "3").Texts(2).Policy()
	create(t, s, d)
	create(t, s, NewSession("", "t", "u").Policy())
	at := map[uint32]bool{0: true, 2: true, 3: true, 6: true}
	for start := range uint32(8) {
		for _, end := range []uint32{0, 1, 2, 3, 4, 6, 7, 8, last} {
			for limit := range 5 {
				var want []uint32
				for sequence := start; sequence < min(end, 8); sequence++ {
					if at[sequence] && (limit == 0 || len(want) < limit) {
						want = append(want, sequence)
					}
				}
				got, err := s.Records(t.Context(), d.Ref(), start, end, limit)
				require.NoError(t, err)
				var sequences []uint32
				for _, r := range got {
					sequences = append(sequences, r.GetRecord().GetSequence())
				}
				require.Equal(t, want, sequences, "from %d to %d, limit %d", start, end, limit)
			}
		}
	}
}

// RecordAtOrBefore returns the newest record with this sequence or a lower one.
func testRecordAtOrBefore(t *testing.T, s storage.Store) {
	t.Helper()
	create(t, s, NewSession("", "r", "u").Policy())
	d := NewSession("", "s", "u").Text("1").Policy().Compaction(0, "3").Texts(2)
	create(t, s, d)
	check := func() {
		for sequence, want := range map[uint32]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 2, 6: 2, 100: 2, last: 2} {
			got, err := s.RecordAtOrBefore(t.Context(), d.Ref(), sequence)
			require.NoError(t, err)
			same(t, d.Records[want], got)
		}
	}
	check()
	create(t, s, NewSession("", "t", "u").Policy())
	check()
}

// Compactions returns compaction entries by descending sequence, whatever they keep.
func testCompactions(t *testing.T, s storage.Store) {
	t.Helper()
	d := NewSession("", "s", "u").Texts(9).
		Compaction(5, "1").Policy().Compaction(8, "2").Compaction(2, "3").Prune(0).Compaction(5, "4").Text("m")
	create(t, s, d)
	create(t, s, NewSession("", "t", "u").Texts(9).Compaction(3, "other"))
	for before, want := range map[uint32]string{0: "4321", 100: "4321", 15: "321", 14: "321", 13: "21", 12: "1", 11: "1", 10: "", 1: ""} {
		for limit := range 6 {
			wanted := want
			if limit > 0 && len(wanted) > limit {
				wanted = wanted[:limit]
			}
			got, err := s.Compactions(t.Context(), d.Ref(), before, limit)
			require.NoError(t, err)
			var summaries strings.Builder
			for _, r := range got {
				summaries.WriteString(r.GetRecord().GetCompaction().GetSummary())
				stored, err := s.Records(t.Context(), d.Ref(), r.GetRecord().GetSequence(), last, 1)
				require.NoError(t, err)
				same(t, stored[0], r)
			}
			require.Equal(t, wanted, summaries.String(), "before %d, limit %d", before, limit)
		}
	}
}

// Edits returns all edits of the messages from start to end (exclusive), by index and then sequence.
func testEdits(t *testing.T, s storage.Store) {
	t.Helper()
	create(t, s, NewSession("", "r", "u").Texts(6).Prune(0, 5))
	first := NewSession("", "s", "u").Texts(6).Prune(4, 1, 4, 0)
	create(t, s, first)
	second := Next(first.Session).Prune(1, 3, 1).Prune()
	commit(t, s, second)
	create(t, s, NewSession("", "t", "u").Texts(6).Prune(0, 5))

	one, two := first.Records[1].GetRecord().GetPrune(), second.Records[0].GetRecord().GetPrune()
	list := []storage.IndexedEdits{
		{Index: 0, Sequence: one.GetSequence(), Edits: []*compactordv1.Edit{one.GetEdits()[3]}},
		{Index: 1, Sequence: one.GetSequence(), Edits: []*compactordv1.Edit{one.GetEdits()[1]}},
		{Index: 1, Sequence: two.GetSequence(), Edits: []*compactordv1.Edit{two.GetEdits()[0], two.GetEdits()[2]}},
		{Index: 3, Sequence: two.GetSequence(), Edits: []*compactordv1.Edit{two.GetEdits()[1]}},
		{Index: 4, Sequence: one.GetSequence(), Edits: []*compactordv1.Edit{one.GetEdits()[0], one.GetEdits()[2]}},
	}
	for start := range uint32(7) {
		for _, end := range []uint32{0, 1, 2, 3, 4, 5, 6, last} {
			var want []storage.IndexedEdits
			for _, edits := range list {
				if edits.Index >= start && edits.Index < end {
					want = append(want, edits)
				}
			}
			got, err := s.Edits(t.Context(), first.Ref(), start, end)
			require.NoError(t, err)
			same(t, want, got)
		}
	}
}

// Any number of edits is returned completely.
func testEditsMany(t *testing.T, s storage.Store) {
	t.Helper()
	const messages, records = 1500, 3
	d := NewSession("", "s", "u").Texts(messages)
	var indexes []uint32
	for i := range uint32(messages) {
		indexes = append(indexes, i)
	}
	for range records {
		d.Prune(indexes...)
	}
	create(t, s, d)
	got, err := s.Edits(t.Context(), d.Ref(), 0, last)
	require.NoError(t, err)
	require.Len(t, got, records*messages)
	for i, edits := range got {
		require.Equal(t, uint32(i/records), edits.Index)
		require.Equal(t, uint32(messages+1+i%records), edits.Sequence)
	}
}

// Request returns a remembered request, and ErrNotFound where there is no such request.
func testRequests(t *testing.T, s storage.Store) {
	t.Helper()
	d := NewSession("", "s", "u").Remember("a")
	create(t, s, d)
	second := Next(d.Session).Remember("ab")
	commit(t, s, second)
	create(t, s, NewSession("", "t", "u").Remember("b"))
	for id, want := range map[string]*Draft{"a": d, "ab": second} {
		got, err := s.Request(t.Context(), d.Ref(), id)
		require.NoError(t, err)
		same(t, want.Request.Stored, got)
	}
	for _, id := range []string{"", "b", "abc"} {
		_, err := s.Request(t.Context(), d.Ref(), id)
		require.ErrorIs(t, err, storage.ErrNotFound, id)
	}
}

// All requests that are remembered are listed, page by page, those of other sessions not, and none of another incarnation.
func testRequestsListed(t *testing.T, s storage.Store) {
	t.Helper()
	d := NewSession("", "s", "u").Remember("b")
	create(t, s, d)
	want := map[string]*storagev1.StoredRequest{"b": d.Request.Stored}
	row := d.Session
	for _, id := range []string{"ab", "a", "c", "b ", "zz"} {
		next := Next(row).Remember(id)
		if id == "c" {
			next.Request.Stored.Response = bytes.Repeat([]byte("large "), 50_000)
		}
		row = commit(t, s, next)
		want[id] = next.Request.Stored
	}
	create(t, s, NewSession("", "t", "u").Remember("b0"))
	for _, limit := range []int{1, 2, 5, 6, 100} {
		var ids []string
		for after := ""; ; {
			page, err := s.Requests(t.Context(), storage.RefOf(row), after, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), limit)
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				same(t, want[r.ID], r.Stored)
				after, ids = r.ID, append(ids, r.ID)
			}
		}
		require.Equal(t, []string{"a", "ab", "b", "b ", "c", "zz"}, ids)
	}
	_, err := s.Requests(t.Context(), storage.RefOf(row), "", 0)
	require.ErrorIs(t, err, storage.ErrInvalid)
	other := storage.RefOf(row)
	other.UID = "another"
	_, err = s.Requests(t.Context(), other, "", 1)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// The newest RememberedRequests requests are remembered, whatever came before them.
func testRequestsForgotten(t *testing.T, s storage.Store) {
	t.Helper()
	remember(t, s, storage.RememberedRequests+300)
}

// remember commits n requests and requires the newest ones.
func remember(t *testing.T, s storage.Store, n int) storage.Ref {
	t.Helper()
	row := create(t, s, NewSession("", "s", "u"))
	for i := range n {
		d := Next(row).Remember(fmt.Sprint(i))
		if i == 0 {
			// A large request is forgotten like the others.
			d.Request.Stored.Digest = make([]byte, 200000)
		}
		row = commit(t, s, d)
		if oldest := i + 1 - storage.RememberedRequests; oldest >= 0 {
			_, err := s.Request(t.Context(), storage.RefOf(row), fmt.Sprint(oldest))
			require.NoError(t, err, "request %d after %d", oldest, i+1)
		}
	}
	remembered(t, s, storage.RefOf(row), n)
	return storage.RefOf(row)
}

func remembered(t *testing.T, s storage.Store, ref storage.Ref, n int) {
	t.Helper()
	for i := n - storage.RememberedRequests; i < n; i++ {
		got, err := s.Request(t.Context(), ref, fmt.Sprint(i))
		require.NoError(t, err, "request %d of %d", i, n)
		require.Equal(t, "response to "+fmt.Sprint(i), string(got.GetResponse()))
	}
}

// What was acknowledged exists when the store is opened again.
func testReopen(t *testing.T, b Backend) {
	t.Helper()
	if b.Reopen == nil {
		t.Skip("this backend keeps nothing beyond Close")
	}
	s := b.Open(t)
	ref := remember(t, s, storage.RememberedRequests+1)
	d := NewSession("t", "full", "u").Labels("k", "v").Texts(5).Prune(1).Compaction(2, "summary").
		Text(strings.Repeat("large ", 50000))
	create(t, s, d)
	deleted := create(t, s, NewSession("", "deleted", "u").Texts(9000))
	require.NoError(t, s.DeleteSession(t.Context(), "", "deleted"))
	before := read(t, s, d.Ref())
	page, cursor, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 1})
	require.NoError(t, err)
	require.Empty(t, cursor)

	s = b.Reopen(t, s)
	same(t, before, read(t, s, d.Ref()))
	remembered(t, s, ref, storage.RememberedRequests+1)
	gone(t, s, deleted)
	again, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 1})
	require.NoError(t, err)
	same(t, page, again)
	commit(t, s, Next(d.Session).Text("more"))
}
