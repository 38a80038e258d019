// Package storagetest holds the conformance suite of storage.Store: a test for each sentence of its contract.
package storagetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// Backend is the backend under test.
type Backend struct {
	// Open returns a new, empty store. The suite may close it.
	Open func(t *testing.T) storage.Store
	// Reopen closes a store that Open returned, and opens it again. It is nil for a backend that keeps nothing after
	// Close: the tests of that are then skipped.
	Reopen func(t *testing.T, s storage.Store) storage.Store
}

// Run runs the suite, each test on its own store.
func Run(t *testing.T, b Backend) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, s storage.Store)
	}{
		{"Context", testContext},
		{"Closed", testClosed},
		{"CloseWaits", testCloseWaits},
		{"Ownership", testOwnership},
		{"OneSessionAtOnce", testOneSessionAtOnce},
		{"ManySessionsAtOnce", testManySessionsAtOnce},

		{"Create", testCreate},
		{"CreateExisting", testCreateExisting},
		{"CreateInvalid", testCreateInvalid},
		{"SessionNotFound", testSessionNotFound},
		{"Delete", testDelete},
		{"DeleteLarge", testDeleteLarge},
		{"NewIncarnation", testNewIncarnation},

		{"CommitWhole", testCommitWhole},
		{"CommitConflict", testCommitConflict},
		{"CommitOnAnotherChange", testCommitOnAnotherChange},
		{"CommitOrderOfErrors", testCommitOrderOfErrors},
		{"CommitInvalid", testCommitInvalid},
		{"CommitUnreadable", testCommitUnreadable},

		{"Messages", testMessages},
		{"MessagesMaxBytes", testMessagesMaxBytes},
		{"MessagesLarge", testMessagesLarge},
		{"MessagesMany", testMessagesMany},
		{"Records", testRecords},
		{"RecordAtOrBefore", testRecordAtOrBefore},
		{"Compactions", testCompactions},
		{"Edits", testEdits},
		{"EditsMany", testEditsMany},
		{"Requests", testRequests},
		{"RequestsListed", testRequestsListed},
		{"RequestsForgotten", testRequestsForgotten},

		{"Opening", testOpening},
		{"Abandoned", testAbandoned},
		{"Revisions", testRevisions},
		{"Ended", testEnded},

		{"Draft", testDraft},
		{"DraftDiscarded", testDraftDiscarded},
		{"DraftExists", testDraftExists},
		{"DraftInvalid", testDraftInvalid},
		{"DraftEnds", testDraftEnds},
		{"DraftsAtOnce", testDraftsAtOnce},

		{"Receive", testReceive},
		{"ReceiveInvalid", testReceiveInvalid},
		{"Receiving", testReceiving},

		{"ListOrders", testListOrders},
		{"ListPages", testListPages},
		{"ListPagesWhileChanging", testListPagesWhileChanging},
		{"ListTenants", testListTenants},
		{"CountSessions", testCountSessions},
		{"ListLabels", testListLabels},
		{"ListCursors", testListCursors},
		{"ListChildren", testListChildren},
		{"ParentFixed", testParentFixed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, b.Open(t))
		})
	}
	t.Run("Reopen", func(t *testing.T) { testReopen(t, b) })
	t.Run("ReopenAbandons", func(t *testing.T) { testReopenAbandons(t, b) })
	t.Run("ReopenDraft", func(t *testing.T) { testReopenDraft(t, b) })
	t.Run("Model", func(t *testing.T) { testModel(t, b) })
}

// create writes the draft of a new session.
func create(t *testing.T, s storage.Store, d *Draft) *storagev1.Session {
	t.Helper()
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	return d.Session
}

// commit writes the draft and returns its row.
func commit(t *testing.T, s storage.Store, d *Draft) *storagev1.Session {
	t.Helper()
	require.NoError(t, s.Commit(t.Context(), &d.Commit))
	return d.Session
}

// content is everything that a store returns for a session.
type content struct {
	Row      *storagev1.Session
	Messages any
	Records  any
	Entries  any
	Edits    any
}

// read returns everything of a session except its requests.
func read(t *testing.T, s storage.Store, ref storage.Ref) content {
	t.Helper()
	row, err := s.Session(t.Context(), ref.Tenant, ref.SessionID)
	require.NoError(t, err)
	messages, err := s.Messages(t.Context(), ref, 0, 1<<32-1, 0)
	require.NoError(t, err)
	records, err := s.Records(t.Context(), ref, 0, 1<<32-1, 0)
	require.NoError(t, err)
	entries, err := s.Compactions(t.Context(), ref, 0, 0)
	require.NoError(t, err)
	edits, err := s.Edits(t.Context(), ref, 0, 1<<32-1)
	require.NoError(t, err)
	return content{Row: row, Messages: messages, Records: records, Entries: entries, Edits: edits}
}

// same fails the test where two values differ.
func same(t require.TestingT, want, got any) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("not the same (-want +got):\n%s", diff)
		t.FailNow()
	}
}

// calls returns a call of each method on a session.
func calls(s storage.Store, row *storagev1.Session) map[string]func(context.Context) error {
	ref := storage.RefOf(row)
	return map[string]func(context.Context) error{
		"CreateSession": func(ctx context.Context) error {
			return s.CreateSession(ctx, &NewSession(ref.Tenant, "another", "u").Commit)
		},
		"Session": func(ctx context.Context) error {
			_, err := s.Session(ctx, ref.Tenant, ref.SessionID)
			return err
		},
		"Sessions": func(ctx context.Context) error {
			_, _, err := s.Sessions(ctx, storage.SessionQuery{Tenant: ref.Tenant, Limit: 1})
			return err
		},
		"Children": func(ctx context.Context) error {
			_, err := s.Children(ctx, ref.Tenant, ref.UID)
			return err
		},
		"CountSessions": func(ctx context.Context) error {
			_, err := s.CountSessions(ctx)
			return err
		},
		"Commit": func(ctx context.Context) error { return s.Commit(ctx, &Next(row).Text("more").Commit) },
		"DeleteSession": func(ctx context.Context) error {
			return s.DeleteSession(ctx, ref.Tenant, ref.SessionID)
		},
		"Messages": func(ctx context.Context) error {
			_, err := s.Messages(ctx, ref, 0, 1, 0)
			return err
		},
		"Records": func(ctx context.Context) error {
			_, err := s.Records(ctx, ref, 0, 1, 0)
			return err
		},
		"RecordAtOrBefore": func(ctx context.Context) error {
			_, err := s.RecordAtOrBefore(ctx, ref, 0)
			return err
		},
		"Compactions": func(ctx context.Context) error {
			_, err := s.Compactions(ctx, ref, 0, 0)
			return err
		},
		"Edits": func(ctx context.Context) error {
			_, err := s.Edits(ctx, ref, 0, 1)
			return err
		},
		"Request": func(ctx context.Context) error {
			_, err := s.Request(ctx, ref, "request")
			return err
		},
		"Abandoned": func(ctx context.Context) error {
			_, err := s.Abandoned(ctx)
			return err
		},
	}
}

// sameAll fails the test where two long lists differ; same would be slow.
func sameAll[M proto.Message](t *testing.T, want, got []M) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if !proto.Equal(want[i], got[i]) {
			same(t, want[i], got[i])
		}
	}
}

// name returns a name; the names sort in the order of n.
func name(n int) string {
	return fmt.Sprintf("s%04d", n)
}
