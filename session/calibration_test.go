package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

const calibrated = compactordv1.Estimator_ESTIMATOR_CALIBRATED

// calibratedLog is a calibrated log. Its provider counts perMille tokens for each 1,000 estimated, and outside more
// tokens.
type calibratedLog struct {
	*sessiontest.Writer
	perMille, outside uint32
}

func newCalibratedLog(perMille, outside uint32) *calibratedLog {
	return &calibratedLog{sessiontest.NewWriterBy(calibrated, &compactordv1.Policy{}), perMille, outside}
}

// turn appends a question with this many tokens, and an answer with a usage report.
func (k *calibratedLog) turn(tokens uint32) {
	k.Append(user(strings.Repeat("x", int(4*tokens))), nil)
	k.Append(used(says(""), &compactordv1.Usage{InputTokens: k.outside + k.Head.GetViewTokens()*k.perMille/1000}), nil)
}

func (k *calibratedLog) factor() uint32 { return session.Calibration(k.Head) }

// Where the overhead is not known, only the growth from one report to the next is used: the first report alone shows
// nothing.
func TestCalibrationByGrowth(t *testing.T) {
	k := newCalibratedLog(1400, 5000)
	for _, want := range []uint32{1000, 1150, 1300, 1400, 1400} {
		k.turn(1000)
		require.Equal(t, want, k.factor())
	}
	require.Equal(t, uint32(4), k.Head.GetCalibration().GetSamples())
	require.Equal(t, uint32(5000), k.Head.GetLearntOverhead(), "what is not the log's, and nothing of what is")
	r := session.Measure(k.Head, &compactordv1.Policy{})
	require.Equal(t, uint32(1400), r.GetCalibrationPermille())
	require.Equal(t, r.GetOverheadTokens(), k.Head.GetLearntOverhead())
}

// An estimate that is half of the real tokens is off by more with every turn, and one such report says nothing about
// the overhead. The report for the smallest view counts.
func TestOverheadOfTheSmallestView(t *testing.T) {
	k := &calibratedLog{sessiontest.NewWriterBy(compactordv1.Estimator_ESTIMATOR_CHARS4, &compactordv1.Policy{}), 1500, 5000}
	k.turn(1000)
	require.Equal(t, uint32(5500), k.Head.GetLearntOverhead())
	for range 5 {
		k.turn(10_000)
	}
	k.Append(used(says(""), &compactordv1.Usage{InputTokens: 2500}), nil)
	require.Equal(t, uint32(5500), k.Head.GetLearntOverhead())
	// A compaction makes the view smaller.
	k.Append(user("x"), nil)
	k.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: "c", FirstKeptIndex: k.Head.GetNextIndex() - 1, Summary: "short",
	}}})
	k.outside = 9000
	k.turn(1)
	require.InDelta(t, 9000, k.Head.GetLearntOverhead(), 100, "tools came along")
}

// A revert to before the first report does not remove tools and prompts.
func TestOverheadSurvivesARevert(t *testing.T) {
	for _, estimator := range []compactordv1.Estimator{compactordv1.Estimator_ESTIMATOR_CHARS4, calibrated} {
		k := &calibratedLog{sessiontest.NewWriterBy(estimator, &compactordv1.Policy{}), 1000, 12_000}
		k.turn(5)
		k.turn(5)
		k.Write(&compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{Point: 0}}})
		r := session.Measure(k.Head, &compactordv1.Policy{})
		require.Equal(t, uint32(12_000), r.GetOverheadTokens())
		require.Equal(t, uint32(12_000), r.GetTokens())
	}
}

// Small turns are used together, once they are large enough.
func TestCalibrationOfSmallTurns(t *testing.T) {
	k := newCalibratedLog(1100, 500)
	k.turn(1000)
	for range 2 {
		k.turn(100)
		require.Equal(t, uint32(1000), k.factor())
	}
	k.turn(100)
	require.Equal(t, uint32(1100), k.factor())
}

// Where the policy gives the overhead, each report is used, from the first one on.
func TestCalibrationWithOverheadGiven(t *testing.T) {
	k := newCalibratedLog(900, 700)
	setPolicy(k.Writer, &compactordv1.Policy{OverheadTokens: proto.Uint32(700)})
	k.turn(100)
	require.Equal(t, uint32(1000), k.factor(), "too little to tell")
	k.turn(1000)
	require.Equal(t, uint32(900), k.factor())
	require.Equal(t, uint32(100), k.Head.GetCalibration().GetErrorPermille(), "as far as it was off")
	k.perMille = 450
	k.turn(1000)
	require.Equal(t, uint32(750), k.factor())
	require.Equal(t, uint32(500), k.Head.GetCalibration().GetErrorPermille(), "in thousandths of what was estimated")
}

func TestCalibrationIsClamped(t *testing.T) {
	for perMille, want := range map[uint32]uint32{100: 500, 9000: 2000} {
		k := newCalibratedLog(perMille, 0)
		last := k.factor()
		for range 12 {
			k.turn(2000)
			require.LessOrEqual(t, max(last, k.factor())-min(last, k.factor()), uint32(150))
			last = k.factor()
		}
		require.Equal(t, want, last)
	}
}

// Reports before and after a change of the view are not compared, and a Revert keeps the factor.
func TestCalibrationAcrossChanges(t *testing.T) {
	k := newCalibratedLog(1100, 0)
	k.turn(1000)
	k.turn(1000)
	require.Equal(t, uint32(1100), k.factor())
	// From here on the provider counts fewer tokens. A compaction comes between the two reports.
	k.perMille = 600
	compact(k.Writer, 2, "s")
	k.turn(1000)
	require.Equal(t, uint32(1100), k.factor())
	k.turn(1000)
	require.Equal(t, uint32(950), k.factor(), "two reports of one run tell")
	point := session.Point(k.Head)
	learnt := proto.CloneOf(k.Head.GetCalibration())
	revert(k.Writer, 2)
	sameMessage(t, learnt, k.Head.GetCalibration(), "calibration")
	k.perMille = 2000
	k.turn(5000)
	require.Equal(t, uint32(950), k.factor(), "nor are those across a revert")
	require.NotEqual(t, point, k.Head.GetCalibration().GetPoint())
	require.Zero(t, k.HeadAt(1).GetCalibration().GetSamples(), "at an earlier point it is what was known then")
}

// Reports for another view than the estimated one, or of failed answers, are not used.
func TestCalibrationOfOtherReports(t *testing.T) {
	k := newCalibratedLog(1100, 0)
	k.turn(1000)
	before := session.Point(k.Head)
	k.Append(user(strings.Repeat("x", 8000)), nil)
	k.Append(used(says("1"), &compactordv1.Usage{InputTokens: 90_000}), &before)
	k.Append(stopped(used(says("1"), &compactordv1.Usage{InputTokens: 90_000}), compactordv1.StopReason_STOP_REASON_ERROR), nil)
	k.Append(used(says("1"), &compactordv1.Usage{TotalTokens: 90_000}), nil)
	require.Zero(t, k.Head.GetCalibration().GetSamples())
	// A report with fewer tokens than the one before is not used either.
	k.Append(used(says("1"), &compactordv1.Usage{InputTokens: 5}), nil)
	require.Equal(t, uint32(1000), k.factor())
}

// Other estimators are not calibrated.
func TestOthersAreNotCalibrated(t *testing.T) {
	for _, e := range []compactordv1.Estimator{0, compactordv1.Estimator_ESTIMATOR_CHARS4, compactordv1.Estimator_ESTIMATOR_O200K_BASE} {
		k := &calibratedLog{sessiontest.NewWriterBy(e, &compactordv1.Policy{}), 1500, 0}
		for range 3 {
			k.turn(1000)
		}
		require.Nil(t, k.Head.GetCalibration())
		require.Nil(t, session.Measure(k.Head, &compactordv1.Policy{}).CalibrationPermille)
	}
}

// All estimates in a report are multiplied by the factor; the provider's figures are not.
func TestReportIsScaled(t *testing.T) {
	k := newCalibratedLog(1500, 0)
	setPolicy(k.Writer, &compactordv1.Policy{OverheadTokens: proto.Uint32(0)})
	k.Append(system(strings.Repeat("x", 400)), nil)
	for range 5 {
		k.turn(1000)
	}
	require.Equal(t, uint32(1500), k.factor())
	k.Append(assistant(calling("a", "read", "{}")), nil)
	k.Append(answering("a", resultText(strings.Repeat("x", 4000)), resultPicture("a")), nil)
	r := session.Measure(k.Head, &compactordv1.Policy{OverheadTokens: proto.Uint32(10)})
	require.Equal(t, uint32(3300), r.GetPrunableTokens())
	require.Equal(t, uint32(1800), r.GetMediaTokens())
	require.Equal(t, uint32(1), r.GetMediaBytes())
	require.Equal(t, uint32(10), r.GetOverheadTokens())
	u := k.Head.GetUsage()
	require.Equal(t, u.GetTokens()+2202*3/2, r.GetTokens())
	require.Equal(t, uint32(2202*3/2*50/1000), r.GetErrorBoundTokens())
}

func TestScaledAndStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &storagev1.Head{Calibration: &storagev1.Calibration{Permille: rapid.Uint32Range(500, 2000).Draw(t, "factor")}}
		n := rapid.Uint32Range(0, 1<<30).Draw(t, "tokens")
		require.InDelta(t, n, session.Scaled(h, session.Stored(h, n)), 1)
		require.Equal(t, n, session.Scaled(&storagev1.Head{}, n))
		require.Equal(t, n, session.Stored(&storagev1.Head{}, n))
	})
	h := &storagev1.Head{Calibration: &storagev1.Calibration{Permille: 2000}}
	require.Equal(t, ^uint32(0), session.Scaled(h, 3<<30), "a figure that a client made up ends at the end")
}

// The breaker counts tokens of the model.
func TestBreakerClosesByTokensOfTheModel(t *testing.T) {
	h := session.NewHead(calibrated)
	h.AppendedTokens = 1400
	h.Breaker = &storagev1.Breaker{Failures: 3, OpenedAtTokens: 1000, SpanTokens: 900}
	require.Equal(t, uint32(500), session.BreakerClosesAfter(h))
	h.Calibration = &storagev1.Calibration{Permille: 2000}
	require.Equal(t, uint32(100), session.BreakerClosesAfter(h))
}

func TestErrorBounds(t *testing.T) {
	bound := func(e compactordv1.Estimator) uint32 {
		w := sessiontest.NewWriterBy(e, &compactordv1.Policy{})
		w.Append(user(strings.Repeat("word ", 400)), nil)
		w.Append(message(compactordv1.Role_ROLE_USER, pictured("a")), nil)
		r := session.Measure(w.Head, &compactordv1.Policy{})
		require.Equal(t, session.EstimateSource(e), r.GetSource())
		return r.GetErrorBoundTokens()
	}
	require.Equal(t, uint32((500+1200)/2), bound(compactordv1.Estimator_ESTIMATOR_CHARS4))
	require.Equal(t, uint32((500+1200)/2), bound(calibrated), "as long as nothing was learnt")
	require.Equal(t, uint32(1200+2*4), bound(compactordv1.Estimator_ESTIMATOR_O200K_BASE))

	w := sessiontest.NewWriterBy(compactordv1.Estimator_ESTIMATOR_O200K_BASE, &compactordv1.Policy{})
	w.Append(user("a question"), nil)
	w.Append(used(says("x"), total(700)), nil)
	require.Zero(t, session.Measure(w.Head, &compactordv1.Policy{}).GetErrorBoundTokens())
	w.Append(message(compactordv1.Role_ROLE_USER, pictured("a")), nil)
	require.Equal(t, uint32(1200+4), session.Measure(w.Head, &compactordv1.Policy{}).GetErrorBoundTokens(), "only of what came after")
}
