package openaichat

import (
	"encoding/json"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// recordedFields are added by tools to the messages that they record, or by the provider's SDK to those that it parses.
// They are read, kept, and left out of requests.
var recordedFields = []string{"usage", "model", "stop_reason", "finish_reason", "is_error", "timestamp", "parsed"}

// parsedArguments is added by the provider's SDK to the function of a call. It is kept, and left out of requests, too.
const parsedArguments = "parsed_arguments"

// parseRecorded reads the other fields of recorded messages of the assistant.
func (p *messageParser) parseRecorded() error {
	var err error
	if p.m.Model, err = p.BoundedText("model", dialect.MaxName); err != nil {
		return err
	}
	if p.m.Usage, err = parseUsage(p.Object); err != nil {
		return err
	}
	p.m.StopReason = stopReasonOf(p.Object)
	if p.m.GetStopReason() == compactordv1.StopReason_STOP_REASON_UNSPECIFIED && p.Has("refusal") && !isEmptyValue(p.Object["refusal"]) {
		p.m.StopReason = compactordv1.StopReason_STOP_REASON_REFUSAL
	}
	return nil
}

// firstMillisecond is the first number that counts milliseconds since 1970. Smaller ones count seconds.
const firstMillisecond = 1e11

// parseTimestamp returns when a message was written: RFC 3339, or a number of seconds or milliseconds since 1970. For
// any other value it returns nil.
func parseTimestamp(o rawjson.Object) *timestamppb.Timestamp {
	raw := o["timestamp"]
	var t time.Time
	switch rawjson.KindOf(raw) {
	case rawjson.String:
		text, err := o.Text("timestamp")
		if err != nil {
			return nil
		}
		if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return nil
		}
	case rawjson.Number:
		var n float64
		if err := json.Unmarshal(raw, &n); err != nil || n <= 0 || n > math.MaxInt64/1e3 {
			return nil
		}
		if n < firstMillisecond {
			n *= 1e3
		}
		t = time.UnixMilli(int64(n))
	default:
		return nil
	}
	stamp := timestamppb.New(t)
	if stamp.CheckValid() != nil {
		return nil
	}
	return stamp
}
