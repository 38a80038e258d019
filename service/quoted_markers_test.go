package service_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// plantOne calls try for each text of a request, at most so deep, while that text alone is the marker.
func plantOne(req protoreflect.Message, depth int, try func(field protoreflect.FieldDescriptor)) {
	fields := req.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		marker := protoreflect.ValueOfString(contentMarker)
		if f.Kind() == protoreflect.BytesKind {
			marker = protoreflect.ValueOfBytes([]byte(contentMarker))
		}
		text := f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BytesKind
		if f.IsMap() || !text && (f.Message() == nil || depth == 0) {
			continue
		}
		put := inPlaceOf(req, f)
		value := req.NewField(f)
		switch {
		case text && f.IsList():
			value.List().Append(marker)
		case text:
			value = marker
		case f.IsList():
			value.List().AppendMutable()
		case req.Has(f):
			value = protoreflect.ValueOfMessage(proto.Clone(req.Get(f).Message().Interface()).ProtoReflect())
		default:
		}
		req.Set(f, value)
		switch {
		case text:
			try(f)
		case f.IsList():
			plantOne(value.List().Get(0).Message(), depth-1, try)
		default:
			plantOne(value.Message(), depth-1, try)
		}
		put()
	}
}

// inPlaceOf returns a function that undoes a change of a field, and of the others of its oneof.
func inPlaceOf(m protoreflect.Message, f protoreflect.FieldDescriptor) (undo func()) {
	if one := f.ContainingOneof(); one != nil && m.WhichOneof(one) != nil {
		if other := m.WhichOneof(one); other != f {
			before := m.Get(other)
			return func() { m.Set(other, before) }
		}
	}
	if !m.Has(f) {
		return func() { m.Clear(f) }
	}
	before := m.Get(f)
	return func() { m.Set(f, before) }
}

// Errors quote ids and names of things of the operator, also in the log: they are short, and no place for content.
func quotedByErrors(f protoreflect.FieldDescriptor) bool {
	switch withoutPackage(f.FullName()) {
	case "Policy.preset", "SummaryPolicy.summarizer", "CustomStrategy.name":
		return true
	default:
		return strings.HasSuffix(string(f.Name()), "session_id") || f.Name() == "request_id" || f.Name() == "operation_id"
	}
}

// saying are summarizers that fail, each in another way, and quote the conversation.
func saying() (all []summarizers.Summarizer) {
	for name, fail := range map[string]func() (*summarizers.Summary, error){
		"fails":    func() (*summarizers.Summary, error) { return nil, errors.New(contentMarker) },
		"panics":   func() (*summarizers.Summary, error) { panic(contentMarker) },
		"rejected": func() (*summarizers.Summary, error) { return &summarizers.Summary{Text: contentMarker, Calls: 1}, nil },
		"refuses": func() (*summarizers.Summary, error) {
			return nil, fmt.Errorf("%s: %w", contentMarker, &summarizers.ProviderError{Status: 400, Err: errors.New(contentMarker)})
		},
	} {
		all = append(all, &scripted{name: name, do: func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
			return fail()
		}})
	}
	return all
}

// Requests that are right but for one text, or that are refused because of it, leave nothing of that text with operators.
// Neither does a summarizer whose errors quote the conversation.
func TestOperatorsSeeNothingOfASingleText(t *testing.T) {
	t.Parallel()
	path, auditing := audited(t)
	log, metrics := &journal{}, prometheus.NewRegistry()
	spans, tracing := traced()
	afterwards(t, path, func([]audit.Entry) {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		families, err := metrics.Gather()
		require.NoError(t, err)
		for name, text := range map[string]string{
			"audit log": string(content), "log": log.String(), "metrics": fmt.Sprint(families), "spans": recordedIn(spans),
		} {
			require.NotEmpty(t, text, name)
			for line := range strings.Lines(text) {
				require.NotContains(t, line, contentMarker, name)
			}
		}
		for _, code := range []string{"InvalidArgument", "NotFound", "FailedPrecondition", "Internal", "Unavailable"} {
			require.Contains(t, log.String(), `"grpc.code":"`+code+`"`)
		}
	})
	d := startTenants(t, []string{"caller"}, auditing, tracing, func(o *service.ServerOptions) {
		o.Metrics, o.Logger = metrics, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		registry, err := summarizers.NewRegistry(append(saying(), extractive.New())...)
		require.NoError(t, err)
		o.Summarizers = registry
	})
	own, ctx := things(t, d, "caller", "mine"), d.as(t.Context(), "caller")
	for _, by := range saying() {
		policy := small(100)
		policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String(by.Name()), Fallback: noFallback.Enum()}
		stream, err := d.compactions.Compact(ctx, compactRequest(own["session"], policy))
		require.NoError(t, err)
		require.Error(t, drained(stream), by.Name())
	}
	compacted(t, d, "caller", own)
	calls := 0
	for _, all := range attempts {
		m := methodNamed(t, all[0].rpc)
		req := requestOf(t, m, filledIn(all[0].request, own, own[all[0].kind]))
		plantOne(req.ProtoReflect(), 2, func(f protoreflect.FieldDescriptor) {
			if !quotedByErrors(f) {
				calls++
				_ = callWith(ctx, d.conn, m, proto.Clone(req))
			}
		})
	}
	require.Greater(t, calls, 100)
}
