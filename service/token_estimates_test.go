package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What users of other tools complain about: token figures that are far off, and requests that are too large in bytes
// while their tokens are few. Each test is named after what broke.

// For Chinese, Japanese and Korean, four characters a token gives two to four times too few. An exact session counts
// them.
func TestCJKIsNotCountedInFourths(t *testing.T) {
	t.Parallel()
	d := start(t)
	text := strings.Repeat("为了统计用量，我们只在写入时计算一次。", 100)
	d.createBy("fourths", chars4, nil)
	d.createBy("exact", cl100k, nil)
	fourths := d.append("fourths", user(text)).GetReport()
	counted := d.append("exact", user(text)).GetReport()
	require.Greater(t, counted.GetTokens(), 2*fourths.GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_EXACT, counted.GetSource())
	require.Equal(t, uint32(4), counted.GetErrorBoundTokens())
}

// A model with another tokenizer needs far more tokens than the estimate. A calibrated session learns that, up to twice
// as many, and the next report is within its error bound.
func TestCalibrationLearnsATokenizer(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.createBy("s", calibrated, nil)
	var estimate uint32
	for range 12 {
		d.append("s", user(strings.Repeat("x", 4000)))
		estimate += 1000
		d.append("s", reported("", 3000+estimate*18/10))
	}
	d.strip("s", &compactordv1.Policy{})
	r := d.reportOf("s")
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_CALIBRATED, r.GetSource())
	require.InDelta(t, 3000+estimate*18/10, r.GetTokens(), float64(r.GetErrorBoundTokens()))
	require.Less(t, r.GetErrorBoundTokens(), r.GetTokens()/10)
}

// Tools and the provider's own prompts are not in the log but count, also after a compaction, when the last report does
// not hold any more.
func TestToolsOutsideTheLogAreCounted(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, e := range []compactordv1.Estimator{chars4, o200k, calibrated} {
		id := e.String()
		d.createBy(id, e, small(100))
		d.append(id, working(5, 400)...)
		view := d.countTokens(countSession(id, compactordv1.Estimator_ESTIMATOR_UNSPECIFIED)).GetTokens()
		d.append(id, reported("done", view+7000))
		_, err := d.compact(compactRequest(id, nil))
		require.NoError(t, err)
		r := d.reportOf(id)
		require.Equal(t, uint32(7000), r.GetOverheadTokens(), id)
		require.Equal(t, d.countTokens(countSession(id, 0)).GetTokens()+7000, r.GetTokens(), id)
	}
}

// A report is the whole context, not a part of it: the last one counts, and reports are not added up.
func TestReportsAreNotAddedUp(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{ContextWindow: proto.Uint32(10_000)})
	for _, input := range []uint32{3000, 3500, 4000} {
		d.append("s", user("more"), reported("fine", input))
	}
	r := d.reportOf("s")
	require.Equal(t, uint32(4001), r.GetTokens())
	require.False(t, r.GetShouldCompact())
}

// Images, documents and recordings are counted differently, and the report says how much of the context is media.
func TestMediaAreNotAllAlike(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	file := func(kind string, size int) *compactordv1.Message {
		m := user("")
		m.GetParts()[0] = &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
			MimeType: kind, Source: &compactordv1.MediaPart_Data{Data: make([]byte, size)},
		}}}
		return m
	}
	seen := make(map[uint32]bool)
	for _, kind := range []string{"image/png", "application/pdf", "audio/mpeg", "video/mp4"} {
		before := d.reportOf("s").GetMediaTokens()
		r := d.append("s", file(kind, 1<<20)).GetReport()
		require.Equal(t, r.GetTokens(), r.GetMediaTokens())
		seen[r.GetMediaTokens()-before] = true
	}
	require.Len(t, seen, 4)
	require.Equal(t, uint32(4<<20), d.reportOf("s").GetMediaBytes())
}

// A user's message between view and answer is counted, although the provider's report does not include it.
func TestReportThatMissedAMessageIsNotTrusted(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", user("begin"))
	h := &holder{daemon: d}
	h.refresh(0)
	d.append("s", user(long(30_000)))
	answer := assistant("done")
	answer.Usage = &compactordv1.Usage{InputTokens: 10, OutputTokens: 1}
	got, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{answer}, ViewToken: h.token,
	})
	require.NoError(t, err)
	require.Greater(t, got.GetReport().GetTokens(), uint32(29_000))
	require.True(t, got.GetReport().GetShouldCompact())
}
