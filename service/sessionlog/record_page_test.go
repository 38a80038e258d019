package sessionlog_test

import (
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// The pages of a listing hold each selected record once and in order, whichever limit ends the pages.
func TestPagesHoldTheSelectedRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs, row, records := generatedLog(t)
		for range 5 {
			q := recordQuery(t, records)
			want := wantedRecords(row.GetHead(), records, q)
			listed := followPages(t, logs, row, q, len(records))
			require.Len(t, listed, len(want))
			for i := range want {
				require.True(t, proto.Equal(want[i], listed[i]), "record %d", want[i].GetSequence())
			}
		}
	})
}

// A page with a compaction that was named by its id is the last one, also where the read limit ends pages.
func TestACompactionByItsIDEndsTheListing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs, row, records := generatedLog(t)
		for _, r := range records {
			if r.GetCompaction() == nil {
				continue
			}
			page, err := logs.RecordPage(t.Context(), row, sessionlog.RecordQuery{
				CompactionID: r.GetCompaction().GetId(), From: proto.Uint32(r.GetSequence()),
				Limit: 5, MaxBytes: 1, MaxRead: 1,
			})
			require.NoError(t, err)
			require.Len(t, page.Records, 1)
			require.Equal(t, r.GetSequence(), page.Records[0].GetSequence())
			require.Nil(t, page.Next, "sequence %d", r.GetSequence())
		}
	})
}

// A full page is not followed by reading more: the record after it may be far.
func TestAFullPageEndsTheReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs, row, records := generatedLog(t)
		at := rapid.IntRange(0, len(records)-1).Draw(t, "record")
		first := records[at].GetSequence()
		for _, newestFirst := range []bool{false, true} {
			next, more := first+1, first+1 < row.GetHead().GetNextSequence()
			if newestFirst {
				next, more = first-1, first > 0
			}
			page, err := logs.RecordPage(t.Context(), row, sessionlog.RecordQuery{
				NewestFirst: newestFirst, From: &first, Limit: 1, MaxBytes: 1 << 20, MaxRead: 1 << 20,
			})
			require.NoError(t, err)
			require.Len(t, page.Records, 1)
			if more {
				require.Equal(t, &next, page.Next)
			} else {
				require.Nil(t, page.Next)
			}
		}
	})
}

// followPages reads all pages of a log with this many records, and checks the limits of each. The last page can be
// empty.
func followPages(
	t *rapid.T, logs *sessionlog.Logs, row *storagev1.Session, q sessionlog.RecordQuery, records int,
) []*compactordv1.Record {
	var listed []*compactordv1.Record
	for range records + 1 {
		page, err := logs.RecordPage(t.Context(), row, q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Records), q.Limit)
		size := 0
		for _, r := range page.Records {
			size += proto.Size(r)
		}
		if len(page.Records) > 1 {
			require.LessOrEqual(t, size, q.MaxBytes)
			require.Greater(t, q.MaxRead, 1, "each record that is read ends a page")
		}
		listed = append(listed, page.Records...)
		if page.Next == nil {
			return listed
		}
		q.From = page.Next
	}
	require.Fail(t, "the pages do not come to an end")
	return nil
}

// generatedLog writes a generated log into a store, and returns its records too.
func generatedLog(t *rapid.T) (*sessionlog.Logs, *storagev1.Session, []*compactordv1.Record) {
	g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
	for range sessiontest.Steps(t, 30) {
		g.Step(t)
		g.Record(t)
	}
	g.Message(t)
	s := store(t, g.W, nil)
	logs := sessionlog.New(sessionlog.Options{Store: s, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	row, err := logs.Row(t.Context(), "s")
	require.NoError(t, err)
	stored, err := logs.RecordsUpTo(t.Context(), row, math.MaxUint32-1)
	require.NoError(t, err)
	records := make([]*compactordv1.Record, len(stored))
	for i, each := range stored {
		records[i] = each.GetRecord()
	}
	return logs, row, records
}

func recordQuery(t *rapid.T, records []*compactordv1.Record) sessionlog.RecordQuery {
	q := sessionlog.RecordQuery{
		NewestFirst: rapid.Bool().Draw(t, "newest first"),
		Limit:       rapid.IntRange(1, 5).Draw(t, "limit"),
		MaxBytes:    rapid.SampledFrom([]int{1, 100, 1000, 1 << 20}).Draw(t, "bytes"),
		MaxRead:     rapid.SampledFrom([]int{1, 1000, 10_000, 1 << 20}).Draw(t, "read"),
	}
	if rapid.Bool().Draw(t, "from") {
		q.From = proto.Uint32(rapid.Uint32Range(0, records[len(records)-1].GetSequence()+3).Draw(t, "sequence"))
	}
	switch rapid.IntRange(0, 4).Draw(t, "wanted") {
	case 0:
		q.Kinds = []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_CHECKPOINT}
	case 1:
		q.Kinds = []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_COMPACTION}
	case 2:
		ids := []string{"none"}
		for _, r := range records {
			if r.GetCompaction() != nil {
				ids = append(ids, r.GetCompaction().GetId())
			}
		}
		q.CompactionID = rapid.SampledFrom(ids).Draw(t, "id")
	case 3:
		kind := rapid.IntRange(1, len(compactordv1.RecordKind_name)-1)
		for _, each := range rapid.SliceOfN(kind, 1, 3).Draw(t, "kinds") {
			q.Kinds = append(q.Kinds, compactordv1.RecordKind(each))
		}
	default:
	}
	return q
}

// wantedRecords returns the records that the query selects, by looking at each.
func wantedRecords(
	h *storagev1.Head, records []*compactordv1.Record, q sessionlog.RecordQuery,
) []*compactordv1.Record {
	newestFirst := q.NewestFirst || q.CompactionID != ""
	var wanted []*compactordv1.Record
	for _, r := range records {
		before := q.From != nil && r.GetSequence() < *q.From && !newestFirst
		behind := q.From != nil && r.GetSequence() > *q.From && newestFirst
		if before || behind || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, kindByName(r)) ||
			q.CompactionID != "" && r.GetCompaction().GetId() != q.CompactionID {
			continue
		}
		each := proto.CloneOf(r)
		each.PutAside = !session.InForce(h, r.GetSequence())
		wanted = append(wanted, each)
	}
	if newestFirst {
		slices.Reverse(wanted)
	}
	return wanted
}

// kindByName returns the kind that has the name of the record's set field.
func kindByName(r *compactordv1.Record) compactordv1.RecordKind {
	m := r.ProtoReflect()
	return kindOfField(m.WhichOneof(m.Descriptor().Oneofs().ByName("kind")))
}

func kindOfField(field protoreflect.FieldDescriptor) compactordv1.RecordKind {
	return compactordv1.RecordKind(compactordv1.RecordKind_value["RECORD_KIND_"+strings.ToUpper(string(field.Name()))])
}

// Each kind of record has a RecordKind.
func TestEachKindOfRecordHasAName(t *testing.T) {
	kinds := (&compactordv1.Record{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	require.Equal(t, len(compactordv1.RecordKind_name)-1, kinds.Len())
	for i := range kinds.Len() {
		require.NotZero(t, kindOfField(kinds.Get(i)), kinds.Get(i).Name())
	}
}
