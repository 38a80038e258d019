package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A calibrated session stores what chars4 counts, and multiplies its figures by what the provider's reports have shown.
// The bounds and the step are those of Gemini CLI's adaptive calculator: a report can be for other content than the view,
// and one such report must not move the figures far.
const (
	// exactly is the factor of figures that are taken as they are, in thousandths as all factors.
	exactly     = 1000
	minPermille = 500
	maxPermille = 2000
	// maxStep is the most that one report moves the factor.
	maxStep = 150
	// minSample is the least estimate, or growth of it, that tells something: of less, what providers add to each message
	// is too large a part.
	minSample = 256
	// maxErrorPermille bounds what a report can make of the error.
	maxErrorPermille = 10_000
)

// Calibration returns what stored counts are multiplied by to become tokens, in thousandths: 500 to 2,000 where the
// session's estimator is CALIBRATED, else 1,000.
func Calibration(h *storagev1.Head) uint32 {
	if h.GetCalibration() == nil {
		return exactly
	}
	return h.GetCalibration().GetPermille()
}

// Scaled turns a sum of stored counts into tokens of the model.
func Scaled(h *storagev1.Head, stored uint32) uint32 {
	return saturate(rounded(uint64(stored)*uint64(Calibration(h)), exactly))
}

// Stored turns tokens of the model, such as a budget, into the unit of stored counts.
func Stored(h *storagev1.Head, tokens uint32) uint32 {
	return saturate(rounded(uint64(tokens)*exactly, uint64(Calibration(h))))
}

// Scaled turns a sum of stored counts into tokens of the model.
func (s *State) Scaled(stored uint32) uint32 { return Scaled(s.Head, stored) }

// Stored turns tokens of the model, such as a budget, into the unit of the counts of messages and views.
func (s *State) Stored(tokens uint32) uint32 { return Stored(s.Head, tokens) }

// ModelCounter counts in tokens of the model, as budgets of summaries are given. What it counts cannot be compared with
// the counts of messages and views.
func (s *State) ModelCounter() Counter { return scaled{s.Counter, s.Head} }

// scaled is a counter whose tokens are those of the model.
type scaled struct {
	Counter
	head *storagev1.Head
}

func (c scaled) Tokens(size uint64) uint32 { return Scaled(c.head, c.Counter.Tokens(size)) }

// rounded divides to the nearest.
func rounded(n, by uint64) uint64 { return (n + by/2) / by }

// calibrate learns from a report of input tokens that is for exactly the view at a point, of which estimate is the stored
// count. What the provider adds outside the log has to be known or to cancel out: without it a report tells nothing.
func calibrate(h *storagev1.Head, p *compactordv1.Policy, input, estimate, point uint32) {
	if h.GetEstimator() != compactordv1.Estimator_ESTIMATOR_CALIBRATED {
		return
	}
	c := &storagev1.Calibration{Permille: exactly}
	if h.GetCalibration() != nil {
		c = proto.CloneOf(h.GetCalibration())
	}
	switch {
	case p.OverheadTokens != nil:
		if outside := p.GetOverheadTokens(); input > outside && estimate >= minSample {
			learn(c, input-outside, estimate)
		}
	case c.GetEstimated() > 0 && h.GetLastViewChange() <= c.GetPoint():
		// The two views begin alike, so that the overhead is in both reports.
		if uint64(estimate) < uint64(c.GetEstimated())+minSample {
			return
		}
		if input > c.GetReported() {
			learn(c, input-c.GetReported(), estimate-c.GetEstimated())
		}
	}
	c.Estimated, c.Reported, c.Point = estimate, input, point
	h.Calibration = c
}

// learn moves the factor towards what a sample shows.
func learn(c *storagev1.Calibration, reported, estimated uint32) {
	shown, old := rounded(uint64(reported)*exactly, uint64(estimated)), uint64(c.GetPermille())
	off := max(shown, old) - min(shown, old)
	c.ErrorPermille = uint32(min(rounded(off*exactly, old), maxErrorPermille))
	next := min(max(shown, old-maxStep), old+maxStep)
	c.Permille = uint32(min(max(next, minPermille), maxPermille))
	c.Samples++
}
