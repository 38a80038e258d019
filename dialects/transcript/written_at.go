package transcript

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var errTime = errors.New("is not a point in time")

// writtenAt reads `timestamp`: a number of units since 1970, or a text. A text without a zone counts as UTC, since the
// file does not say where it was written. It returns nil where the field is missing.
func writtenAt(o rawjson.Object, unit time.Duration) (*timestamppb.Timestamp, error) {
	var t time.Time
	var err error
	switch raw := o["timestamp"]; rawjson.KindOf(raw) {
	case rawjson.Missing, rawjson.Null:
		return nil, nil
	case rawjson.Number:
		t, err = timeOfNumber(raw, unit)
	case rawjson.String:
		t, err = timeOfText(raw)
	default:
		err = errTime
	}
	stamp := timestamppb.New(t)
	// The packages' own errors quote the input.
	if err != nil || stamp.CheckValid() != nil {
		return nil, rawjson.In("timestamp", errTime)
	}
	return stamp, nil
}

// orUntimed returns no time where it cannot be read, unless strict is set: the message matters more than its time.
func (r *noteCounter) orUntimed(at *timestamppb.Timestamp, err error, line int) (*timestamppb.Timestamp, error) {
	if err == nil || r.strict {
		return at, err
	}
	r.addAt(unreadField, line)
	return nil, nil
}

func timeOfNumber(raw json.RawMessage, unit time.Duration) (time.Time, error) {
	var n float64
	if err := json.Unmarshal(raw, &n); err != nil {
		return time.Time{}, err
	}
	seconds, fraction := math.Modf(n * unit.Seconds())
	// A time after the year 9999 is not valid, and would not fit.
	if math.Abs(seconds) > 1e12 {
		return time.Time{}, errTime
	}
	return time.Unix(int64(seconds), int64(fraction*1e9)).Round(time.Microsecond), nil
}

func timeOfText(raw json.RawMessage) (time.Time, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, err
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02T15:04:05.999999999", text)
}
