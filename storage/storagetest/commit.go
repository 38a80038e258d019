package storagetest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// Commit writes row, messages, records and request, and indexes entries and edits.
func testCommitWhole(t *testing.T, s storage.Store) {
	t.Helper()
	first := NewSession("", "s", "u").Text("zero")
	create(t, s, first)
	second := Next(first.Session).Text("one").Policy().Text("two").Prune(0, 2, 0).Compaction(1, "summary").Remember("request")
	second.Session.Title = "new"
	commit(t, s, second)

	got := read(t, s, first.Ref())
	same(t, second.Session, got.Row)
	same(t, append(first.Messages, second.Messages...), got.Messages)
	same(t, append(first.Records, second.Records...), got.Records)
	same(t, second.Records[2:], got.Entries)
	prune := second.Records[1].GetRecord().GetPrune()
	same(t, []storage.IndexedEdits{
		{Index: 0, Sequence: prune.GetSequence(), Edits: []*compactordv1.Edit{prune.GetEdits()[0], prune.GetEdits()[2]}},
		{Index: 2, Sequence: prune.GetSequence(), Edits: []*compactordv1.Edit{prune.GetEdits()[1]}},
	}, got.Edits)
	request, err := s.Request(t.Context(), first.Ref(), "request")
	require.NoError(t, err)
	same(t, second.Request.Stored, request)

	// Only the row.
	third := Next(second.Session)
	third.Session.Title = "newer"
	commit(t, s, third)
	same(t, third.Session, read(t, s, first.Ref()).Row)
}

// ErrConflict where the row's revision is not one less than the commit's.
func testCommitConflict(t *testing.T, s storage.Store) {
	t.Helper()
	first := create(t, s, NewSession("", "s", "u"))
	second := commit(t, s, Next(first).Text("mine"))
	before := read(t, s, storage.RefOf(first))
	late := Next(first).Text("late").Prune(0).Compaction(0, "").Remember("request")
	require.ErrorIs(t, s.Commit(t.Context(), &late.Commit), storage.ErrConflict)
	early := Next(second).Text("early").Remember("request")
	early.Session.Revision++
	require.ErrorIs(t, s.Commit(t.Context(), &early.Commit), storage.ErrConflict)
	same(t, before, read(t, s, storage.RefOf(first)))
	_, err := s.Request(t.Context(), storage.RefOf(first), "request")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// ErrConflict where the row was changed at another time than the one that the commit follows.
func testCommitOnAnotherChange(t *testing.T, s storage.Store) {
	t.Helper()
	first := create(t, s, NewSession("", "s", "u").ChangedAt(5))
	before := read(t, s, storage.RefOf(first))
	for _, changed := range []*timestamppb.Timestamp{At(4), {Seconds: At(5).GetSeconds(), Nanos: At(5).GetNanos() + 1}} {
		other := Next(first).Text("onto another row").Remember("request")
		other.Changed = changed
		require.ErrorIs(t, s.Commit(t.Context(), &other.Commit), storage.ErrConflict)
	}
	same(t, before, read(t, s, storage.RefOf(first)))
	second := Next(first).Text("onto this one")
	second.Changed = At(5)
	commit(t, s, second)
	third := Next(second.Session).Text("without a look at it")
	commit(t, s, third)
}

// ErrNotFound where this incarnation no longer exists, ErrRequestKnown where the request was committed before, else
// ErrConflict.
func testCommitOrderOfErrors(t *testing.T, s storage.Store) {
	t.Helper()
	first := create(t, s, NewSession("", "s", "u"))
	require.ErrorIs(t, s.Commit(t.Context(), &Next(NewSession("", "no", "u").Session).Commit), storage.ErrNotFound)
	second := commit(t, s, Next(first).Text("once").Remember("request"))
	before := read(t, s, storage.RefOf(first))

	again := Next(first).Text("once").Remember("request")
	require.ErrorIs(t, s.Commit(t.Context(), &again.Commit), storage.ErrRequestKnown, "on the old row")
	again = Next(second).Text("once").Remember("request")
	require.ErrorIs(t, s.Commit(t.Context(), &again.Commit), storage.ErrRequestKnown, "on the new row")
	other := Next(first).Text("once").Remember("request")
	other.Session.Uid = "other"
	require.ErrorIs(t, s.Commit(t.Context(), &other.Commit), storage.ErrNotFound)
	same(t, before, read(t, s, storage.RefOf(first)))
}

// ErrInvalid where messages and records do not have the log's next indexes and sequences.
func testCommitInvalid(t *testing.T, s storage.Store) {
	t.Helper()
	row := create(t, s, NewSession("", "s", "u").Texts(2))
	before := read(t, s, storage.RefOf(row))
	for name, spoil := range map[string]func(*Draft){
		"gap before":         func(d *Draft) { d.Session.Head.NextIndex++; d.Text("m") },
		"sequence gap":       func(d *Draft) { d.Session.Head.NextSequence++; d.Text("m") },
		"head too far":       func(d *Draft) { d.Text("m"); d.Session.Head.NextIndex++ },
		"head too short":     func(d *Draft) { d.Text("m"); d.Session.Head.NextSequence-- },
		"head goes back":     func(d *Draft) { d.Session.Head.NextIndex-- },
		"wrong order":        func(d *Draft) { d.Texts(2); d.Messages[0], d.Messages[1] = d.Messages[1], d.Messages[0] },
		"same index twice":   func(d *Draft) { d.Texts(2); d.Messages[1].Index = d.Messages[0].GetIndex() },
		"shared sequence":    func(d *Draft) { d.Text("m").Policy(); d.Records[0].Record.Sequence-- },
		"no head":            func(d *Draft) { d.Session.Head = nil },
		"no revision":        func(d *Draft) { d.Session.Revision = 0 },
		"time of creation":   func(d *Draft) { d.CreatedAt(9) },
		"edit of nothing":    func(d *Draft) { d.Prune(2) },
		"keeps from nowhere": func(d *Draft) { d.Compaction(3, "") },
		"request without id": func(d *Draft) { d.Remember("") },
		"empty request":      func(d *Draft) { d.Request = &storage.Request{ID: "r"} },
		"empty message":      func(d *Draft) { d.Message(nil) },
		"head below commit":  func(d *Draft) { d.Text("m"); d.Session.Head.NextIndex = 0 },
	} {
		d := Next(row)
		spoil(d)
		require.ErrorIs(t, s.Commit(t.Context(), &d.Commit), storage.ErrInvalid, name)
	}
	same(t, before, read(t, s, storage.RefOf(row)))
	commit(t, s, Next(row).Prune(1).Compaction(2, "").Text("valid"))
}

// ErrInvalid for what could not be read again: it must not be acknowledged and then unreadable for ever.
func testCommitUnreadable(t *testing.T, s storage.Store) {
	t.Helper()
	row := create(t, s, NewSession("", "s", "u").Texts(2))
	before := read(t, s, storage.RefOf(row))
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 9999, protowire.VarintType), 1)
	for name, spoil := range map[string]func(*Draft){
		"field of a row": func(d *Draft) { d.Session.GetHead().ProtoReflect().SetUnknown(unknown) },
		"field of a text": func(d *Draft) {
			d.Text("m")
			d.Messages[0].GetMessage().GetParts()[0].GetText().ProtoReflect().SetUnknown(unknown)
		},
		"kind of a part": func(d *Draft) {
			d.Text("m")
			d.Messages[0].Message.Parts[0] = &compactordv1.Part{}
		},
		"kind of a result": func(d *Draft) {
			d.Message(&compactordv1.Message{Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{
				ToolResult: &compactordv1.ToolResult{Parts: []*compactordv1.ResultPart{{}}},
			}}}})
		},
		"kind of a record":    func(d *Draft) { d.Record(&compactordv1.Record{}) },
		"field of a record":   func(d *Draft) { d.Policy(); d.Records[0].GetRecord().ProtoReflect().SetUnknown(unknown) },
		"version of a record": func(d *Draft) { d.Policy(); d.Records[0].Schema = 2 },
		"version of a request": func(d *Draft) {
			d.Request = &storage.Request{ID: "r", Stored: &storagev1.StoredRequest{Schema: 2}}
		},
		"text": func(d *Draft) { d.Text("\xff") },
	} {
		d := Next(row)
		spoil(d)
		require.ErrorIs(t, s.Commit(t.Context(), &d.Commit), storage.ErrInvalid, name)
	}
	same(t, before, read(t, s, storage.RefOf(row)))
}
