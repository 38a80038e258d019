package service_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/summarizers"
)

// checkpoints is how many checkpoints the other tenants' sessions have; the caller's have one.
const checkpoints = 77

// things makes a session and all that a tenant can have in it, and returns what names them in requests. What the tenant
// chooses itself begins with the prefix.
func things(t *testing.T, d *tenants, tenant, prefix string) map[string]string {
	t.Helper()
	ctx, has := d.as(t.Context(), tenant), map[string]string{
		"session": prefix + "-s", "child": prefix + "-c", "block": prefix + "-block", "call": prefix + "-call", "label": prefix,
		"request": prefix + "-request", "checkpoint": fmt.Sprint(checkpoints),
	}
	do := func(rpc, request string, answer proto.Message) {
		t.Helper()
		m := methodNamed(t, rpc)
		answers, err := callToEnd(ctx, d.conn, m, requestOf(t, m, filledIn(request, has, "")))
		require.NoError(t, err, rpc)
		if answer != nil {
			content, err := proto.Marshal(answers[0])
			require.NoError(t, err)
			require.NoError(t, proto.Unmarshal(content, answer))
		}
	}
	created := &compactordv1.CreateSessionResponse{}
	do("CreateSession", `{"session_id": "SESSION", "labels": {"of": "`+prefix+`"}}`, created)
	has["uid"] = created.GetSession().GetUid()
	messages := append(working(4, 2000), user("needle"), assistant("needle", call(has["call"], "task", "{}")))
	_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: has["session"], Messages: messages})
	require.NoError(t, err)
	text := `"parts": [{"text": {"text": "text"}}]`
	do("UpdateContextBlocks", `{"session_id": "SESSION", "set": [{"name": "`+has["block"]+`", `+text+`}, {"name": "z", `+text+`}]}`, nil)
	do("CreateCheckpoint", `{"session_id": "SESSION"}`, nil)
	do("ForkSession", `{"session_id": "SESSION", "new_session_id": "CHILD", "child": {"sees": "CHILD_SEES_NOTHING"}}`, nil)
	do("AppendMessages", `{"session_id": "CHILD", "messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": "needle"}}]}]}`, nil)
	plan, view := &compactordv1.PlanCompactionResponse{}, &compactordv1.GetLLMViewResponse{}
	do("PlanCompaction", `{"session_id": "SESSION", "client_plan": {"strategy": "x", "first_kept_index": 17}}`, plan)
	do("GetLLMView", `{"session_id": "SESSION"}`, view)
	has["plan"], has["view"] = plan.GetPlanToken(), view.GetViewToken()
	page := func(name, rpc, request string) {
		t.Helper()
		answer := dynamicpb.NewMessage(methodNamed(t, rpc).Output())
		do(rpc, request, answer)
		has[name] = answer.Get(answer.Descriptor().Fields().ByName("next_page_token")).String()
		require.NotEmpty(t, has[name], name)
	}
	page("page of sessions", "ListSessions", `{"page_size": 1}`)
	page("page of messages", "ListMessages", `{"session_id": "SESSION", "page_size": 1}`)
	page("page of records", "ListRecords", `{"session_id": "SESSION", "page_size": 1}`)
	page("page of blocks", "ListContextBlocks", `{"session_id": "SESSION", "max_bytes": 1}`)
	page("page of hits", "SearchMessages", `{"session_id": "SESSION", "words": "needle", "page_size": 1}`)
	in := "page of hits in a child"
	for request := `{"session_id": "SESSION", "words": "needle", "include_children": true, "page_size": 1`; ; {
		page(in, "SearchMessages", request+`, "page_token": "`+has[in]+`"}`)
		if token, err := base64.RawURLEncoding.DecodeString(has[in]); err == nil && bytes.Contains(token, []byte(has["child"])) {
			break
		}
	}
	return has
}

// compacted adds what a pruning and a compaction leave, and operation, the id of the compaction.
func compacted(t *testing.T, d *tenants, tenant string, has map[string]string) {
	t.Helper()
	ctx := d.as(t.Context(), tenant)
	for range checkpoints - 1 {
		_, err := d.sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{SessionId: has["session"]})
		require.NoError(t, err)
	}
	pruned, err := d.compactions.Prune(ctx, &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: has["session"]}, Policy: hideAllBut(0),
	})
	require.NoError(t, err)
	has["prune"] = pruned.GetPrune().GetId()
	stream, err := d.compactions.Compact(ctx, compactRequest(has["session"], small(100)))
	require.NoError(t, err)
	events, err := eventsOf(stream)
	require.NoError(t, err)
	entry := last(t, events).GetCompleted().GetCompaction()
	has["compaction"], has["operation"] = entry.GetId(), entry.GetProvenance().GetOperationId()
	for name, value := range has {
		require.NotEmpty(t, value, name)
	}
}

// filledIn returns a request in which the words in capitals are replaced by a caller's things, and VALUE.
func filledIn(request string, own map[string]string, value string) string {
	return strings.NewReplacer("SESSION", own["session"], "CHILD_SEES", "CHILD_SEES", "CHILD", own["child"], "PLAN", own["plan"], "VALUE", value).Replace(request)
}

func methodNamed(t *testing.T, name string) protoreflect.MethodDescriptor {
	t.Helper()
	all := methods(t)
	i := slices.IndexFunc(all, func(m protoreflect.MethodDescriptor) bool { return string(m.Name()) == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

func requestOf(t *testing.T, m protoreflect.MethodDescriptor, text string) proto.Message {
	t.Helper()
	req := dynamicpb.NewMessage(m.Input())
	require.NoError(t, protojson.Unmarshal([]byte(text), req), text)
	return req
}

// callToEnd calls an RPC to its end.
func callToEnd(
	ctx context.Context, conn *grpc.ClientConn, m protoreflect.MethodDescriptor, req proto.Message, options ...grpc.CallOption,
) (answers []proto.Message, err error) {
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, fullName(m), options...)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(req); err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	for {
		answer := dynamicpb.NewMessage(m.Output())
		if err := stream.RecvMsg(answer); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return answers, err
		}
		answers = append(answers, answer)
	}
}

// ownTokens are tokens in answers, which hold the uid of the caller's session, and randomIDs those that the daemon makes.
var (
	ownTokens = regexp.MustCompile(`"(viewToken|planToken|nextPageToken)":"[^"]+"`)
	randomIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// allOf is all that a call shows: answers, status, details, headers and trailers. prefix and value, which the caller knows
// itself, are replaced.
func allOf(
	ctx context.Context, t *testing.T, conn *grpc.ClientConn, m protoreflect.MethodDescriptor, req proto.Message, prefix, value string,
) string {
	t.Helper()
	var header, trailer metadata.MD
	ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", "the-same")
	answers, err := callToEnd(ctx, conn, m, req, grpc.Header(&header), grpc.Trailer(&trailer))
	var text bytes.Buffer
	for _, answer := range answers {
		content, err := protojson.Marshal(answer)
		require.NoError(t, err)
		require.NoError(t, json.Compact(&text, content))
	}
	delete(trailer, "grpc-status-details-bin")
	fmt.Fprintln(&text, map[string][]string(header), map[string][]string(trailer), status.Code(err), status.Convert(err).Message())
	for _, detail := range status.Convert(err).Details() {
		message, ok := detail.(proto.Message)
		require.True(t, ok)
		content, err := protojson.Marshal(message)
		require.NoError(t, err)
		require.NoError(t, json.Compact(&text, content))
	}
	all := regexp.MustCompile(`\b`+regexp.QuoteMeta(value)+`\b`).ReplaceAllString(text.String(), "VALUE")
	all = ownTokens.ReplaceAllString(strings.ReplaceAll(all, prefix, "PREFIX"), `"$1":"TOKEN"`)
	return randomIDs.ReplaceAllString(all, "ID")
}

// No answer tells whether another tenant has what a request names, be it a request that is remembered, a compaction, a page
// or a child: it is, byte by byte, the one for a thing that does not exist, and the store is used alike. So neither the
// answer nor the time it takes depends on what others have.
func TestNoAnswerTellsOfThingsOfOtherTenants(t *testing.T) {
	t.Parallel()
	store := &usedStore{Store: memory.New()}
	held, release := make(chan struct{}), make(chan struct{})
	writer := &scripted{name: "held", do: func(ctx context.Context, _ *summarizers.Request, _ summarizers.Progress) (*summarizers.Summary, error) {
		close(held)
		select {
		case <-release:
			return &summarizers.Summary{Text: "A summary.", Calls: 1}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
	clock := time.Now()
	d := startTenants(t, []string{"other", "gone", "caller"}, withStore(store), withSummarizer(writer),
		withHooks(service.Hooks{Now: func() time.Time { return clock }}))
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	theirs, absent := things(t, d, "other", "theirs"), things(t, d, "gone", "absent")
	compacted(t, d, "other", theirs)
	compacted(t, d, "gone", absent)
	absent["checkpoint"] = fmt.Sprint(checkpoints + 1)
	_, err := d.sessions.DeleteSession(d.as(t.Context(), "gone"), &compactordv1.DeleteSessionRequest{
		SessionId: absent["session"], Children: compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_DELETE,
	})
	require.NoError(t, err)
	// The other tenant's operation runs while its id is tried.
	policy := small(100)
	policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String("held")}
	_, err = d.sessions.AppendMessages(d.as(t.Context(), "other"), &compactordv1.AppendMessagesRequest{SessionId: theirs["session"], Messages: []*compactordv1.Message{
		toolResult(theirs["call"], "x"), assistant("done"), user(strings.Repeat("more words ", 2000)), assistant("done"),
	}})
	require.NoError(t, err)
	running, err := d.compactions.Compact(d.as(t.Context(), "other"), compactRequest(theirs["session"], policy))
	require.NoError(t, err)
	started, err := running.Recv()
	require.NoError(t, err)
	theirs["operation"] = started.GetEvent().GetOperationId()
	require.NotEmpty(t, theirs["operation"])
	<-held
	tries := 0
	for field, all := range attempts {
		for _, a := range all {
			m := methodNamed(t, a.rpc)
			try := func(value string) (answer string, uses []string) {
				tries++
				prefix := fmt.Sprintf("mine%03d", tries)
				own := things(t, d, "caller", prefix)
				if a.kind == "request" {
					// The other tenant has a session of the same name, where the same request was carried out.
					others := things(t, d, "other", prefix)
					_, err := callToEnd(d.as(t.Context(), "other"), d.conn, m, requestOf(t, m, filledIn(a.request, others, theirs["request"])))
					require.NoError(t, err, field)
				}
				store.taken()
				answer = allOf(d.as(t.Context(), "caller"), t, d.conn, m, requestOf(t, m, filledIn(a.request, own, value)), prefix, value)
				return answer, store.taken()
			}
			answer, uses := try(theirs[a.kind])
			expected, expectedUses := try(absent[a.kind])
			require.Equal(t, expected, answer, "%s: %s", field, a.kind)
			require.Equal(t, expectedUses, uses, "%s: %s", field, a.kind)
			for _, use := range uses {
				require.Contains(t, use, " for caller", field)
			}
		}
	}
	end()
	require.NoError(t, drained(running))
}
