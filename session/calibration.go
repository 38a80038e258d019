package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A calibrated session stores the counts of chars4, and multiplies sums of them by the calibration factor. The bounds
// and the step are those of Gemini CLI's adaptive calculator: a report can be for other content than the view, and one
// such report must not move the figures far.
const (
	// factorOne is the factor of figures that are not calibrated. All factors are in thousandths.
	factorOne   = 1000
	minPermille = 500
	maxPermille = 2000
	// maxStep is the most that one report moves the factor, in thousandths.
	maxStep = 150
	// minSample is the lowest estimate, or growth of it, that is used, in tokens. In a smaller one, what providers add
	// to each message is too large a part.
	minSample = 256
	// maxErrorPermille bounds the error that one report can show.
	maxErrorPermille = 10_000
)

// Calibration returns the calibration factor in thousandths: 500 to 2,000 where the session's estimator is CALIBRATED,
// else 1,000.
func Calibration(h *storagev1.Head) uint32 {
	if h.GetCalibration() == nil {
		return factorOne
	}
	return h.GetCalibration().GetPermille()
}

// Scaled turns a sum of stored counts into tokens of the model.
func Scaled(h *storagev1.Head, stored uint32) uint32 {
	return saturate(rounded(uint64(stored)*uint64(Calibration(h)), factorOne))
}

// Stored converts tokens of the model, such as a budget, into the unit of stored counts.
func Stored(h *storagev1.Head, tokens uint32) uint32 {
	return saturate(rounded(uint64(tokens)*factorOne, uint64(Calibration(h))))
}

// Scaled turns a sum of stored counts into tokens of the model.
func (s *State) Scaled(stored uint32) uint32 { return Scaled(s.Head, stored) }

// Stored converts tokens of the model, such as a budget, into the unit of stored counts.
func (s *State) Stored(tokens uint32) uint32 { return Stored(s.Head, tokens) }

// ModelCounter returns a counter of tokens of the model, as for the budgets of summaries. Its counts cannot be compared
// with the stored counts of messages and views.
func (s *State) ModelCounter() Counter { return scaled{s.Counter, s.Head} }

// scaled is a counter of tokens of the model.
type scaled struct {
	Counter
	head *storagev1.Head
}

func (c scaled) Tokens(size uint64) uint32 { return Scaled(c.head, c.Counter.Tokens(size)) }

// rounded divides to the nearest.
func rounded(n, by uint64) uint64 { return (n + by/2) / by }

// calibrate updates the factor from a report of input tokens for exactly the view at a point, whose stored count is
// estimate. The overhead must be known from the policy, or be the same in two reports so that it cancels out. Otherwise
// the report is only kept to compare the next one with.
func calibrate(h *storagev1.Head, p *compactordv1.Policy, input, estimate, point uint32) {
	if h.GetEstimator() != compactordv1.Estimator_ESTIMATOR_CALIBRATED {
		return
	}
	c := &storagev1.Calibration{Permille: factorOne}
	if h.GetCalibration() != nil {
		c = proto.CloneOf(h.GetCalibration())
	}
	switch {
	case p.OverheadTokens != nil:
		if outside := p.GetOverheadTokens(); input > outside && estimate >= minSample {
			adjustFactor(c, input-outside, estimate)
		}
	case c.GetEstimated() > 0 && lastContentChange(h) <= c.GetPoint():
		// The earlier view is a prefix of this one, so both reports contain the same overhead.
		if uint64(estimate) < uint64(c.GetEstimated())+minSample {
			return
		}
		if input > c.GetReported() {
			adjustFactor(c, input-c.GetReported(), estimate-c.GetEstimated())
		}
	}
	c.Estimated, c.Reported, c.Point = estimate, input, point
	h.Calibration = c
}

// adjustFactor moves the factor towards the ratio of a sample.
func adjustFactor(c *storagev1.Calibration, reported, estimated uint32) {
	shown, old := rounded(uint64(reported)*factorOne, uint64(estimated)), uint64(c.GetPermille())
	off := max(shown, old) - min(shown, old)
	c.ErrorPermille = uint32(min(rounded(off*factorOne, old), maxErrorPermille))
	next := min(max(shown, old-maxStep), old+maxStep)
	c.Permille = uint32(min(max(next, minPermille), maxPermille))
	c.Samples++
}
