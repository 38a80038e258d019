package sessiontest

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// media returns the figures of the media in a view.
func (m *Model) media(view []*compactordv1.ViewMessage) (tokens, sent, count uint32) {
	for _, vm := range view {
		var size uint64
		for _, p := range vm.GetMessage().GetParts() {
			found := []*compactordv1.MediaPart{p.GetMedia()}
			for _, rp := range p.GetToolResult().GetParts() {
				found = append(found, rp.GetMedia())
			}
			for _, medium := range found {
				if medium != nil {
					size += uint64(m.counter.MediaSize(medium))
					sent += uint32(len(medium.GetData()))
					count++
				}
			}
		}
		tokens += m.counter.Tokens(size)
	}
	return tokens, sent, count
}

// calibration computes the calibration from all reports up to the point, put aside or not; nil where none could be
// used.
func (m *Model) calibration() *storagev1.Calibration {
	if m.log.Estimator != compactordv1.Estimator_ESTIMATOR_CALIBRATED {
		return nil
	}
	var c *storagev1.Calibration
	for sequence := uint32(1); sequence <= m.Point; sequence++ {
		point := sequence - 1
		input, reports := m.log.reportedInput(sequence)
		if !reports {
			continue
		}
		if c == nil {
			c = &storagev1.Calibration{Permille: 1000}
		}
		estimate := m.log.estimateSeen(sequence)
		took, estimated := int64(input), int64(estimate)
		switch outside := m.log.PolicyAt(point).OverheadTokens; {
		case outside != nil:
			took -= int64(*outside)
		case c.GetEstimated() > 0 && !m.log.changesWithin(c.GetPoint(), sequence):
			took, estimated = took-int64(c.GetReported()), estimated-int64(c.GetEstimated())
			if estimated < 256 {
				continue
			}
		default:
			estimated = 0
		}
		if took > 0 && estimated >= 256 {
			shown := (took*1000 + estimated/2) / estimated
			old := int64(c.GetPermille())
			off := shown - old
			if off < 0 {
				off = -off
			}
			c.ErrorPermille = uint32(min(10_000, (off*1000+old/2)/old))
			c.Permille = uint32(clamp(clamp(shown, old-150, old+150), 500, 2000))
			c.Samples++
		}
		c.Estimated, c.Reported, c.Point = estimate, input, point
	}
	return c
}

func clamp(n, low, high int64) int64 { return min(max(n, low), high) }

// reportedInput returns the input that the message with this sequence reports, if it did not fail and was made from the
// view directly before it.
func (l *Log) reportedInput(sequence uint32) (uint32, bool) {
	item := l.Items[sequence]
	a := &Active{Message: item.Message}
	if !a.is(compactordv1.Role_ROLE_ASSISTANT) || a.Failed() || item.MadeFrom != nil && *item.MadeFrom < sequence-1 {
		return 0, false
	}
	u := item.Message.GetUsage()
	input := u.GetInputTokens() + u.GetCacheReadTokens() + u.GetCacheWriteTokens()
	return input, input > 0
}

// estimateSeen returns the estimate of the view that the message with this sequence was made from, with its extra blocks,
// if it was made from the view directly before it.
func (l *Log) estimateSeen(sequence uint32) uint32 {
	return l.estimateAt(sequence-1) + l.Items[sequence].ExtraTokens
}

// estimateAt returns the estimate of the view at a point. A log only grows, so each is computed once.
func (l *Log) estimateAt(point uint32) uint32 {
	if tokens, known := l.estimates[point]; known {
		return tokens
	}
	if l.estimates == nil {
		l.estimates = make(map[uint32]uint32)
	}
	l.estimates[point] = NewModel(l, point, l.PolicyAt(point)).View(session.ViewOptions{}).Tokens
	return l.estimates[point]
}

// changesWithin reports whether a record between two sequences changes views.
func (l *Log) changesWithin(after, before uint32) bool {
	for _, item := range l.Items[after+1 : before] {
		if item.ChangesViews() {
			return true
		}
	}
	return l.contextAt(before-1).expired > after
}

// Scaled converts an estimate into tokens of the model.
func (m *Model) Scaled(tokens uint32) uint32 {
	c := m.calibration()
	if c == nil {
		return tokens
	}
	return uint32((uint64(tokens)*uint64(c.GetPermille()) + 500) / 1000)
}
