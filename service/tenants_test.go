package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
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
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/summarizers"
)

// tenants is a daemon with several callers, by the names of their tokens.
type tenants struct {
	conn        *grpc.ClientConn
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
	tokens      map[string]string
}

// startTenants starts a daemon with a caller of each tenant, who has all rights.
func startTenants(t *testing.T, names []string, options ...option) *tenants {
	t.Helper()
	callers := make(map[string]access.Caller)
	for _, name := range names {
		callers[name] = access.Caller{Tenant: name, Role: access.Admin}
	}
	return startCallers(t, callers, options...)
}

func startCallers(t *testing.T, callers map[string]access.Caller, options ...option) *tenants {
	t.Helper()
	d := &tenants{tokens: make(map[string]string)}
	var entries []access.Entry
	for name, caller := range callers {
		d.tokens[name] = access.NewToken()
		hash, err := access.HashOf(d.tokens[name])
		require.NoError(t, err)
		entries = append(entries, access.Entry{Subject: "x", Tenant: caller.Tenant, Role: caller.Role, Hash: hash})
	}
	guard, err := access.New(access.Options{
		Files:  []access.File{{Flag: "tokens", Read: func(string) ([]access.Entry, error) { return entries, nil }}},
		Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	options = append(options, func(o *service.ServerOptions) { o.Access = guard })
	d.conn = connectTo(t, serveOn(t, "tcp", "127.0.0.1:0", options...))
	d.sessions, d.compactions = compactordv1.NewSessionServiceClient(d.conn), compactordv1.NewCompactionServiceClient(d.conn)
	return d
}

// as returns the context of the calls of a caller.
func (d *tenants) as(ctx context.Context, name string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+d.tokens[name])
}

// completions complete requests that name a session, so that only the session is missing. An RPC that is not here needs
// nothing else.
var completions = map[protoreflect.Name]string{
	"AppendMessages":      `{"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": "x"}}]}]}`,
	"ClassifyError":       `{"error_text": "prompt is too long"}`,
	"CommitCompaction":    `{"plan_token": "x", "summary": "x"}`,
	"PinMessages":         `{"indexes": [0]}`,
	"RecallContent":       `{"reference": "1"}`,
	"ReplaceInstructions": `{"messages": [{"role": "ROLE_SYSTEM", "parts": [{"text": {"text": "x"}}]}]}`,
	"RevertToCheckpoint":  `{"point": 0}`,
	"SearchMessages":      `{"words": "x"}`,
	"UnpinMessages":       `{"indexes": [0]}`,
	"UpdateContextBlocks": `{"remove": ["x"]}`,
	"UpdateSession":       `{"title": "x", "update_mask": "title"}`,
	"CreateCheckpoint":    `{"title": "x"}`,
}

// newNames are the fields that name a session to be made.
var newNames = map[protoreflect.FullName]bool{
	"compactord.v1.CreateSessionRequest.session_id":   true,
	"compactord.v1.ForkSessionRequest.new_session_id": true,
}

// namesSession says whether a field names a session that must exist.
func namesSession(f protoreflect.FieldDescriptor) bool {
	return strings.HasSuffix(string(f.Name()), "session_id") && !newNames[f.FullName()]
}

// naming returns a request in which each field that names a session names this one; nil where there is no such field.
func naming(t *testing.T, m protoreflect.MethodDescriptor, id string) proto.Message {
	t.Helper()
	req, names := dynamicpb.NewMessage(m.Input()), false
	if text := completions[m.Name()]; text != "" {
		require.NoError(t, protojson.Unmarshal([]byte(text), req), m.FullName())
	}
	for i := range m.Input().Fields().Len() {
		if f := m.Input().Fields().Get(i); namesSession(f) {
			req.Set(f, protoreflect.ValueOfString(id))
			names = true
		}
	}
	if !names {
		return nil
	}
	return req
}

// answerOf returns all of a status except the session's id.
func answerOf(err error, id string) string {
	st := status.Convert(err).Proto()
	text := fmt.Sprint(st.GetCode(), strings.ReplaceAll(st.GetMessage(), id, "ID"))
	for _, detail := range status.Convert(err).Details() {
		text += "\n" + strings.ReplaceAll(fmt.Sprint(detail), id, "ID")
	}
	return text
}

// absence is all that a call without an answer shows: status, details, headers and trailers, byte by byte, with the ids
// of sessions replaced by their length.
func absence(ctx context.Context, t *testing.T, conn *grpc.ClientConn, m protoreflect.MethodDescriptor, id string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "x-request-id", "the-same"))
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, fullName(m))
	require.NoError(t, err)
	require.NoError(t, stream.SendMsg(naming(t, m, id)))
	require.NoError(t, stream.CloseSend())
	err = stream.RecvMsg(dynamicpb.NewMessage(m.Output()))
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	header, _ := stream.Header()
	details, err := proto.MarshalOptions{Deterministic: true}.Marshal(status.Convert(err).Proto())
	require.NoError(t, err)
	trailer := stream.Trailer().Copy()
	// The library's own copy of the status. It encodes the maps of details in any order.
	delete(trailer, "grpc-status-details-bin")
	text := fmt.Sprintf("%q\n%v\n%v", details, map[string][]string(header), map[string][]string(trailer))
	return strings.ReplaceAll(text, id, fmt.Sprint("an id of ", len(id)))
}

// No answer tells whether another tenant has a session: it is, to the byte, the one for a session that does not exist, and
// the store is used alike. That holds for every RPC that names a session, a new one too.
func TestNoAnswerTellsOfSessionsOfOtherTenants(t *testing.T) {
	t.Parallel()
	store := &usedStore{Store: memory.New()}
	d := startTenants(t, []string{"", "a", "b"}, withStore(store))
	named := 0
	owners := map[string]string{"theirs0": "", "theirs1": "a"}
	for id, owner := range owners {
		_, err := d.sessions.CreateSession(d.as(t.Context(), owner), &compactordv1.CreateSessionRequest{SessionId: id})
		require.NoError(t, err)
	}
	for _, m := range methods(t) {
		if naming(t, m, "x") == nil {
			continue
		}
		named++
		store.taken()
		absent := absence(d.as(t.Context(), "b"), t, d.conn, m, "absent0")
		uses := store.taken()
		require.NotEmpty(t, uses, m.FullName())
		for id := range owners {
			require.Equal(t, absent, absence(d.as(t.Context(), "b"), t, d.conn, m, id), m.FullName())
			require.Equal(t, uses, store.taken(), m.FullName())
		}
	}
	require.Greater(t, named, 20)
}

// talk is what two tenants do alike, with the same ids and request ids.
func talk(t *testing.T, d *tenants, name string) (viewToken, pageToken, planToken string) {
	t.Helper()
	ctx := d.as(t.Context(), name)
	for _, id := range []string{"s", "second"} {
		created, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
			SessionId: id, RequestId: "create", Title: "of " + name, Labels: map[string]string{"k": "v"},
		})
		require.NoError(t, err)
		require.Equal(t, "of "+name, created.GetSession().GetTitle())
	}
	for i := range 6 {
		answer, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
			SessionId: "s", RequestId: fmt.Sprint("append", i),
			Messages: []*compactordv1.Message{user("needle of " + name + strings.Repeat(" words", 200)), assistant("done by " + name)},
		})
		require.NoError(t, err)
		require.Equal(t, uint32(2*i), answer.GetFirstIndex())
	}
	_, err := d.sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{SessionId: "s", RequestId: "checkpoint", Title: name})
	require.NoError(t, err)
	_, err = d.sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork", RequestId: "fork"})
	require.NoError(t, err)
	_, err = d.sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{
		SessionId: "s", NewSessionId: "child", Child: &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_NOTHING},
	})
	require.NoError(t, err)
	_, err = d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: "child", Messages: []*compactordv1.Message{user("needle of the child of " + name)},
	})
	require.NoError(t, err)
	plan, err := d.compactions.PlanCompaction(ctx, &compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.NoError(t, err)
	view, err := d.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}})
	require.NoError(t, err)
	page, err := d.sessions.ListSessions(ctx, &compactordv1.ListSessionsRequest{PageSize: 1})
	require.NoError(t, err)
	return view.GetViewToken(), page.GetNextPageToken(), plan.GetPlanToken()
}

// seen is all that a tenant's calls show.
func seen(t *testing.T, d *tenants, name string) string {
	t.Helper()
	ctx := d.as(t.Context(), name)
	var all []proto.Message
	add := func(m proto.Message, err error) {
		t.Helper()
		require.NoError(t, err)
		all = append(all, m)
	}
	list := &compactordv1.ListSessionsRequest{Labels: map[string]string{"k": "v"}, PageSize: 1}
	for {
		page, err := d.sessions.ListSessions(ctx, list)
		add(page, err)
		if list.PageToken = page.GetNextPageToken(); list.GetPageToken() == "" {
			break
		}
	}
	for _, id := range []string{"s", "second", "fork", "child"} {
		got, err := d.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: id})
		add(got, err)
		messages, err := d.sessions.ListMessages(ctx, &compactordv1.ListMessagesRequest{SessionId: id})
		add(messages, err)
		records, err := d.sessions.ListRecords(ctx, &compactordv1.ListRecordsRequest{SessionId: id})
		add(records, err)
		view, err := d.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}})
		add(view, err)
	}
	children, err := d.sessions.ListSessions(ctx, &compactordv1.ListSessionsRequest{ParentSessionId: "s"})
	add(children, err)
	require.Len(t, children.GetSessions(), 1)
	found, err := d.sessions.SearchMessages(ctx, &compactordv1.SearchMessagesRequest{SessionId: "s", Query: &compactordv1.SearchMessagesRequest_Words{Words: "needle"}, IncludeChildren: true})
	add(found, err)
	require.Len(t, found.GetHits(), 7)
	recalled, err := d.sessions.RecallContent(ctx, &compactordv1.RecallContentRequest{
		SessionId: "s", What: &compactordv1.RecallContentRequest_Reference{Reference: "0"},
	})
	add(recalled, err)
	var text strings.Builder
	for _, m := range all {
		text.WriteString(protojson.Format(m))
	}
	return text.String()
}

// Two tenants with the same ids of sessions and requests do everything side by side, and neither sees, waits for or
// changes anything of the other.
func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	store := memory.New()
	held, release := make(chan struct{}), make(chan struct{})
	writer := &scripted{name: "held", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		select {
		case held <- struct{}{}:
			<-release
		case <-release:
		}
		return &summarizers.Summary{Text: "A summary.", Calls: 1}, nil
	}}
	d := startTenants(t, []string{"", "one", "two", "three"}, withStore(store), withSummarizer(writer))
	names := []string{"", "one", "two"}
	for _, name := range names {
		talk(t, d, name)
	}
	for _, name := range names {
		all := seen(t, d, name)
		for _, other := range names {
			if other != "" && other != name {
				require.NotContains(t, all, "of "+other)
			}
		}
		require.Contains(t, all, "needle of "+name)
	}

	// A compaction runs for one tenant. The other one neither meets nor cancels it, nor sees its events.
	one, two := d.as(t.Context(), "one"), d.as(t.Context(), "two")
	watch, err := d.sessions.WatchSession(two, &compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	require.NoError(t, err)
	next := func() *compactordv1.WatchSessionResponse {
		got, err := watch.Recv()
		require.NoError(t, err)
		return got
	}
	require.NotNil(t, next().GetStarted())
	compact := &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"},
		Policy: small(100),
	}
	compact.Policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String("held")}
	running, err := d.compactions.Compact(one, compact)
	require.NoError(t, err)
	<-held
	_, err = d.compactions.CancelCompaction(two, &compactordv1.CancelCompactionRequest{SessionId: "s"})
	requireReason(t, err, codes.NotFound, "OPERATION_NOT_FOUND")
	second, err := d.compactions.Compact(two, compact)
	require.NoError(t, err)
	<-held
	close(release)
	require.NoError(t, drained(running))
	require.NoError(t, drained(second))
	for {
		got := next()
		if got.GetEvent().GetCompleted() != nil {
			break
		}
		require.NotContains(t, protojson.Format(got), "of one")
	}
	_, err = d.sessions.DeleteSession(one, &compactordv1.DeleteSessionRequest{
		SessionId: "s", Children: compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_DELETE,
	})
	require.NoError(t, err)
	require.Contains(t, seen(t, d, "two"), "needle of two")
	_, err = d.sessions.GetSession(one, &compactordv1.GetSessionRequest{SessionId: "child"})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	problems, err := sessionlog.CheckAll(t.Context(), store)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// drained reads a compaction to its end.
func drained(stream grpc.ServerStreamingClient[compactordv1.CompactResponse]) error {
	for {
		if _, err := stream.Recv(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// What one tenant was given, another one cannot use, and learns nothing by trying: the answer is that for what a deleted
// session has left.
func TestTokensOfOtherTenantsMeanNothing(t *testing.T) {
	t.Parallel()
	d := startTenants(t, []string{"one", "two", "gone"})
	theirView, theirPage, theirPlan := talk(t, d, "one")
	talk(t, d, "two")
	goneView, _, gonePlan := talk(t, d, "gone")
	gone := d.as(t.Context(), "gone")
	_, err := d.sessions.DeleteSession(gone, &compactordv1.DeleteSessionRequest{
		SessionId: "s", Children: compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_DELETE,
	})
	require.NoError(t, err)

	two := d.as(t.Context(), "two")
	_, err = d.sessions.ListSessions(two, &compactordv1.ListSessionsRequest{PageSize: 1, PageToken: theirPage})
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
	view := func(token string) *compactordv1.GetLLMViewResponse {
		got, err := d.compactions.GetLLMView(two, &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: token})
		require.NoError(t, err)
		require.NotContains(t, protojson.Format(got), "of one")
		return got
	}
	require.Equal(t, view(goneView).GetUnchangedPrefix(), view(theirView).GetUnchangedPrefix())
	commit := func(token string) string {
		_, err := d.compactions.CommitCompaction(two, &compactordv1.CommitCompactionRequest{
			SessionId: "s", PlanToken: token,
		})
		require.Error(t, err)
		return answerOf(err, "s")
	}
	require.Equal(t, commit(gonePlan), commit(theirPlan))
}
