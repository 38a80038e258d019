package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/audit"
)

// audited opens an audit log for a daemon.
func audited(t *testing.T) (path string, auditing option) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.log")
	log, err := audit.Open(path, slog.New(slog.DiscardHandler), audit.NewFailures(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return path, func(o *service.ServerOptions) { o.Audit = log }
}

// entriesIn reads an audit log, and requires that each line has only what it may have.
func entriesIn(t *testing.T, path string) (all []audit.Entry) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		var e audit.Entry
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&e), line)
		require.False(t, e.Time.IsZero())
		all = append(all, e)
	}
	return all
}

// afterwards has a test read the audit log of a daemon that is started later, once that has stopped.
func afterwards(t *testing.T, path string, read func([]audit.Entry)) {
	t.Helper()
	t.Cleanup(func() { read(entriesIn(t, path)) })
}

// Each call of each RPC has one line, also those that are refused, and a line says who called. A new RPC has one, too.
func TestEveryCallIsAudited(t *testing.T) {
	t.Parallel()
	type want struct {
		rpc, subject, role, session string
		err                         error
		streams                     bool
	}
	wanted := map[string]want{}
	path, auditing := audited(t)
	afterwards(t, path, func(entries []audit.Entry) {
		for _, e := range entries {
			w, found := wanted[e.RequestID]
			require.True(t, found, "%v: of a call that is not audited, or twice", e)
			delete(wanted, e.RequestID)
			got := []string{e.RPC, e.Subject, e.Role, e.Session}
			require.Equal(t, []string{w.rpc, w.subject, w.role, w.session}, got, e.RequestID)
			if w.err != nil || !w.streams {
				require.Equal(t, code.Code(status.Code(w.err)).String(), e.Code, e.RequestID)
			}
		}
		require.Empty(t, wanted, "calls without a line")
	})
	guard, tokens := guardWithTokens(t, slog.New(slog.DiscardHandler))
	conn := connectTo(t, serveOn(t, "tcp", "127.0.0.1:0", auditing, func(o *service.ServerOptions) {
		o.Access, o.Reflection = guard, true
	}))
	for _, m := range methods(t) {
		for who, token := range tokens {
			id := string(m.Name()) + "-" + strings.ReplaceAll(who, " ", "-")
			req, w := naming(t, m, "absent"), want{streams: m.IsStreamingServer()}
			if req == nil {
				made := dynamicpb.NewMessage(m.Input())
				if f := m.Input().Fields().ByName("session_id"); f != nil {
					// The daemon would name it.
					made.Set(f, protoreflect.ValueOfString("made"))
				}
				req = made
			}
			ctx := withID(t.Context(), token, id)
			w.err = callWith(ctx, conn, m, req)
			if role, err := access.ParseRole(who); err == nil {
				w.subject, w.role = "x", role.String()
				if named := req.ProtoReflect().Descriptor().Fields().ByName("session_id"); role >= access.Roles[fullName(m)] && named != nil {
					w.session = req.ProtoReflect().Get(named).String()
				}
			}
			if w.rpc = strings.TrimPrefix(fullName(m), "/compactord.v1."); w.rpc != fullName(m) {
				wanted[id] = w
			}
		}
	}
	require.Greater(t, len(wanted), 7*25)
}

// withID returns the context of a call with a token and a request id.
func withID(ctx context.Context, token, id string) context.Context {
	return metadata.AppendToOutgoingContext(with(ctx, token), "x-request-id", id)
}

// A line names the session that the daemon named, a fork, and how many children were deleted; and whose they are.
func TestAuditNamesSessions(t *testing.T) {
	t.Parallel()
	path, auditing := audited(t)
	var made string
	afterwards(t, path, func(entries []audit.Entry) {
		type line struct {
			tenant, rpc, session, made string
			children                   uint32
			code                       string
		}
		var got []line
		for _, e := range entries {
			got = append(got, line{e.Tenant, e.RPC, e.Session, e.NewSession, e.Children, e.Code})
		}
		require.Equal(t, []line{
			{"one", "SessionService/CreateSession", made, "", 0, "OK"},
			{"one", "SessionService/ForkSession", made, "child", 0, "OK"},
			{"two", "SessionService/DeleteSession", "child", "", 0, "NOT_FOUND"},
			{"one", "SessionService/DeleteSession", made, "", 1, "OK"},
			{"one", "SessionService/DeleteSession", "", "", 0, "INVALID_ARGUMENT"},
		}, got)
	})
	d := startTenants(t, []string{"one", "two"}, auditing)
	one, two := d.as(t.Context(), "one"), d.as(t.Context(), "two")
	created, err := d.sessions.CreateSession(one, &compactordv1.CreateSessionRequest{})
	require.NoError(t, err)
	made = created.GetSession().GetSessionId()
	_, err = d.sessions.ForkSession(one, &compactordv1.ForkSessionRequest{
		SessionId: made, NewSessionId: "child", Child: &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_NOTHING},
	})
	require.NoError(t, err)
	_, err = d.sessions.DeleteSession(two, &compactordv1.DeleteSessionRequest{SessionId: "child"})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = d.sessions.DeleteSession(one, &compactordv1.DeleteSessionRequest{
		SessionId: made, Children: compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_DELETE,
	})
	require.NoError(t, err)
	_, err = d.sessions.DeleteSession(one, &compactordv1.DeleteSessionRequest{SessionId: "not an id\nof a session"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

// The markers are planted in every text of every request. That of sessions is where the name of one is allowed.
const (
	contentMarker = "tell-nobody"
	sessionMarker = "my-session"
)

// fillTexts sets every text of a message, and of the messages in it, to the marker. Sessions have their own.
func fillTexts(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		text := protoreflect.ValueOfString(contentMarker)
		switch {
		case strings.HasSuffix(string(f.Name()), "session_id"):
			text = protoreflect.ValueOfString(sessionMarker)
		case f.Name() == "request_id" || f.Name() == "operation_id":
			// Errors name them.
			text = protoreflect.ValueOfString("my-id")
		}
		switch {
		case f.IsMap():
			if f.MapKey().Kind() == protoreflect.StringKind && f.MapValue().Kind() == protoreflect.StringKind {
				m.Mutable(f).Map().Set(text.MapKey(), text)
			}
		case f.Kind() == protoreflect.StringKind && f.IsList():
			m.Mutable(f).List().Append(text)
		case f.Kind() == protoreflect.BytesKind && !f.IsList():
			m.Set(f, protoreflect.ValueOfBytes([]byte(contentMarker)))
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, text)
		case f.Message() != nil && f.IsList() && depth > 0:
			list := m.Mutable(f).List()
			fillTexts(list.AppendMutable().Message(), depth-1)
		case f.Message() != nil && !f.IsMap() && depth > 0:
			fillTexts(m.Mutable(f).Message(), depth-1)
		}
	}
}

// plantedIn returns a request that passes the rules, with the marker in the texts that are free.
func plantedIn(t *testing.T, m protoreflect.MethodDescriptor) proto.Message {
	t.Helper()
	req := naming(t, m, sessionMarker)
	if req == nil {
		return nil
	}
	if text := completions[m.Name()]; text != "" {
		planted := dynamicpb.NewMessage(m.Input())
		require.NoError(t, protojson.Unmarshal([]byte(strings.ReplaceAll(text, `"x"`, `"`+contentMarker+`"`)), planted))
		proto.Merge(req, planted)
	}
	return req
}

// No text of a request, nor of a session, is in what the daemon tells operators: the audit log, the log, the metrics, and the
// spans. Only the names of sessions are there, where they belong; the metrics have not even these.
func TestOperatorsSeeNoContent(t *testing.T) {
	t.Parallel()
	path, auditing := audited(t)
	log, metrics := &journal{}, prometheus.NewRegistry()
	spans, tracing := traced()
	afterwards(t, path, func(entries []audit.Entry) {
		ended := map[string]bool{}
		for _, e := range entries {
			ended[e.Code] = true
			e.Session, e.NewSession = "", ""
			require.NotContains(t, fmt.Sprint(e), sessionMarker)
		}
		require.True(t, ended["OK"] && ended["INVALID_ARGUMENT"], "%v", ended)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(content), sessionMarker)
		families, err := metrics.Gather()
		require.NoError(t, err)
		measured := fmt.Sprint(families)
		require.NotContains(t, measured, sessionMarker)
		require.Contains(t, strings.SplitN(log.String(), "\n", 2)[0], "compactord.v1.SessionService")
		recorded := recordedIn(spans)
		require.Contains(t, recorded, sessionMarker)
		for name, text := range map[string]string{
			"audit log": string(content), "log": log.String(), "metrics": measured, "spans": recorded,
		} {
			for line := range strings.Lines(text) {
				require.NotContains(t, line, contentMarker, name)
			}
		}
	})
	conn := connectTo(t, serveOn(t, "tcp", "127.0.0.1:0", auditing, tracing, func(o *service.ServerOptions) {
		o.Metrics, o.Logger = metrics, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}))
	sessions := compactordv1.NewSessionServiceClient(conn)
	for _, m := range methods(t) {
		_, err := sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: sessionMarker, Title: contentMarker})
		require.True(t, err == nil || status.Code(err) == codes.AlreadyExists)
		_, err = sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: sessionMarker, Messages: []*compactordv1.Message{user(contentMarker), assistant(contentMarker)},
		})
		require.NoError(t, err)
		for depth := range 5 {
			req := dynamicpb.NewMessage(m.Input())
			fillTexts(req, depth)
			_ = callWith(t.Context(), conn, m, req)
		}
		if req := plantedIn(t, m); req != nil {
			_ = callWith(t.Context(), conn, m, req)
		}
	}
}
