package serve

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// leftOutOnTerminals are the attributes of a call that a person who watches the log does not look for.
var leftOutOnTerminals = []string{
	"protocol", "grpc.component", "grpc.method_type", "peer.address", "grpc.start_time", "grpc.request.deadline", "event",
}

// shorten makes the lines of the log short for a terminal. Other readers get them whole, since they may search for any of it.
func shorten(_ []string, a slog.Attr) slog.Attr {
	switch {
	case slices.Contains(leftOutOnTerminals, a.Key):
		return slog.Attr{}
	case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
		return slog.String(a.Key, a.Value.Time().Format(time.TimeOnly))
	case a.Key == "grpc.service":
		service, _ := strings.CutPrefix(a.Value.String(), string(compactordv1.File_compactord_v1_session_service_proto.Package())+".")
		return slog.String("service", service)
	default:
		a.Key = strings.TrimPrefix(a.Key, "grpc.")
		return a
	}
}
