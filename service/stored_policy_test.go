package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// withTexts returns a policy with so many texts of 64 KiB.
func withTexts(n int) *compactordv1.Policy {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat("t", 65536)
	}
	return &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{ExtraContext: &compactordv1.TextList{Texts: texts}}}
}

func (d *daemon) row(id string) *storagev1.Session {
	d.t.Helper()
	row, err := d.store.Session(d.t.Context(), "", id)
	require.NoError(d.t, err)
	return row
}

// ageRow gives a row the form in which earlier versions stored it: with the policies.
func (d *daemon) ageRow(id string, given, resolved *compactordv1.Policy) {
	d.t.Helper()
	row := d.row(id)
	row.Revision++
	row.Policy, row.ResolvedPolicy = given, resolved
	require.NoError(d.t, d.store.Commit(d.t.Context(), &storage.Commit{Session: row}))
}

// An append writes its session's row again, but not the policy.
func TestAppendDoesNotWriteThePolicyAgain(t *testing.T) {
	t.Parallel()
	d := start(t)
	created := d.create("s", withTexts(16))
	d.create("small", nil)
	for _, id := range []string{"s", "small"} {
		d.append(id, working(3, 100)...)
	}
	require.Nil(t, d.row("s").GetPolicy())
	require.Nil(t, d.row("s").GetResolvedPolicy())
	require.LessOrEqual(t, proto.Size(d.row("s")), proto.Size(d.row("small")))
	got := d.session("s").GetSession()
	require.True(t, proto.Equal(created.GetPolicy(), got.GetPolicy()))
	require.True(t, proto.Equal(created.GetResolvedPolicy(), got.GetResolvedPolicy()))
}

// The policies of a store that an earlier version wrote apply as they are, and leave the row with the next write.
func TestRowsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	d := start(t)
	created := d.create("s", small(1000))
	d.append("s", working(3, 100)...)
	d.ageRow("s", created.GetPolicy(), created.GetResolvedPolicy())
	require.NotNil(t, d.row("s").GetResolvedPolicy())
	for range 2 {
		got := d.session("s").GetSession()
		require.True(t, proto.Equal(created.GetPolicy(), got.GetPolicy()))
		require.True(t, proto.Equal(created.GetResolvedPolicy(), got.GetResolvedPolicy()))
		d.append("s", working(3, 100)...)
		require.Nil(t, d.row("s").GetResolvedPolicy())
	}
}

// A page of sessions stays below gRPC's usual limit of 4 MB, whatever their policies have.
func TestPagesOfSessionsWithLargePolicies(t *testing.T) {
	t.Parallel()
	d := start(t)
	for i := range 6 {
		d.create(fmt.Sprint("large-", i), withTexts(16))
	}
	// An earlier version took policies of any size.
	d.create("huge", nil)
	d.ageRow("huge", withTexts(40), withTexts(40))
	seen := map[string]*compactordv1.Session{}
	req := &compactordv1.ListSessionsRequest{PageSize: 1000}
	for {
		page, err := d.sessions.ListSessions(t.Context(), req)
		require.NoError(t, err)
		require.LessOrEqual(t, proto.Size(page), 3<<20+1<<10)
		for _, s := range page.GetSessions() {
			seen[s.GetSessionId()] = s
		}
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	require.Len(t, seen, 7)
	require.True(t, seen["huge"].GetPoliciesLeftOut())
	require.Nil(t, seen["huge"].GetPolicy())
	for i := range 6 {
		s := seen[fmt.Sprint("large-", i)]
		require.False(t, s.GetPoliciesLeftOut())
		require.True(t, proto.Equal(withTexts(16), s.GetPolicy()))
	}
}
