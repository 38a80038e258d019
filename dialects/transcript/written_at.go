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

// writtenAt reads `timestamp`: a number of units since 1970, or a text. A text without a zone counts as UTC, since
// the file does not say where it was written. Nil where the field is missing.
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
	// The errors of the packages quote the input.
	if err != nil || stamp.CheckValid() != nil {
		return nil, rawjson.In("timestamp", errTime)
	}
	return stamp, nil
}

// orUntimed goes on without a time that cannot be read, unless that is to be refused: a message is worth more than its time.
func (r *remarks) orUntimed(at *timestamppb.Timestamp, err error, line int) (*timestamppb.Timestamp, error) {
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
	// What is farther away than the year 9999 is no time, and would not fit.
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
