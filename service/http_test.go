package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
)

// contractRPCs are all RPCs of the contract.
func contractRPCs() (all []protoreflect.MethodDescriptor) {
	protoregistry.GlobalFiles.RangeFilesByPackage("compactord.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for n := range file.Services().Get(i).Methods().Len() {
				all = append(all, file.Services().Get(i).Methods().Get(n))
			}
		}
		return true
	})
	return all
}

// firstAnswer calls an RPC of any kind, and returns its first answer, or its error.
func firstAnswer(
	ctx context.Context, conn grpc.ClientConnInterface, m protoreflect.MethodDescriptor, request proto.Message,
) (proto.Message, error) {
	name, answer := "/"+string(m.Parent().FullName())+"/"+string(m.Name()), dynamicpb.NewMessage(m.Output())
	if !m.IsStreamingServer() {
		return answer, conn.Invoke(ctx, name, request, answer)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, name)
	if err == nil {
		err = errors.Join(stream.SendMsg(request), stream.CloseSend())
	}
	if err == nil {
		err = stream.RecvMsg(answer)
	}
	return answer, err
}

// requestFor returns a request that names a session, where the RPC takes one.
func requestFor(m protoreflect.MethodDescriptor, session string) proto.Message {
	request := dynamicpb.NewMessage(m.Input())
	if field := m.Input().Fields().ByName("session_id"); field != nil {
		request.Set(field, protoreflect.ValueOfString(session))
	}
	return request
}

// Every RPC answers over HTTP what it answers over gRPC, in each protocol, also where it fails: with the same status, text
// and details.
func TestEveryRPCAnswersOverHTTPAsOverGRPC(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", turnsWithTools(2)...)
	reference := d.connect()
	defer func() { require.NoError(t, reference.Close()) }()
	for _, m := range contractRPCs() {
		for _, id := range []string{"s", "none", "not valid"} {
			if !onlyReads(m) && id == "s" || m.Name() == "CreateSession" && id == "none" {
				continue
			}
			request := requestFor(m, id)
			want, wanted := firstAnswer(t.Context(), reference, m, request)
			for _, protocol := range httpapitest.Protocols {
				got, err := firstAnswer(t.Context(), d.web.conn(protocol), m, request)
				what := string(protocol) + " " + string(m.FullName()) + " " + id
				if wanted == nil {
					require.NoError(t, err, what)
					require.Equal(t, protojson.Format(want), protojson.Format(got), what)
					continue
				}
				require.Equal(t, status.Code(wanted).String(), status.Code(err).String(), what)
				require.Equal(t, status.Convert(wanted).Message(), status.Convert(err).Message(), what)
				require.Equal(t, detailsText(status.Convert(wanted).Details()), detailsText(status.Convert(err).Details()), what)
			}
		}
	}
}

func onlyReads(m protoreflect.MethodDescriptor) bool {
	options, is := m.Options().(*descriptorpb.MethodOptions)
	return is && options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS
}

func detailsText(details []any) string {
	var text strings.Builder
	for _, detail := range details {
		if m, is := detail.(proto.Message); is {
			text.WriteString(protojson.Format(m))
		}
	}
	return text.String()
}

// A stream over HTTP ends its work when its client goes, as one over gRPC does.
func TestStreamOverHTTPIsCancelledWhenItsClientGoes(t *testing.T) {
	t.Parallel()
	for _, protocol := range httpapitest.Protocols {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			begun := make(chan struct{})
			d := start(t, withSummarizer(chatty(begun)))
			d.create("s", by("chatty", noFallback, small(1000)))
			d.append("s", working(10, 2000)...)
			ctx, cancel := context.WithCancel(t.Context())
			stream, err := compactordv1.NewCompactionServiceClient(d.web.conn(protocol)).Compact(ctx, compactRequest("s", nil))
			require.NoError(t, err)
			_, err = stream.Recv()
			require.NoError(t, err)
			<-begun
			cancel()
			for err == nil {
				_, err = stream.Recv()
			}
			// The next one waits for the end of this one, or would fail with COMPACTION_RUNNING.
			req := compactRequest("s", nil)
			req.Preempt = true
			events, err := d.compact(req)
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
			records, err := d.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s"})
			require.NoError(t, err)
			require.Equal(t, codes.Canceled, codes.Code(attemptsOf(records.GetRecords())[0].GetStatusCode()))
		})
	}
}

// attemptsOf returns the attempts among records.
func attemptsOf(records []*compactordv1.Record) (all []*compactordv1.CompactionAttempt) {
	for _, record := range records {
		if attempt := record.GetAttempt(); attempt != nil {
			all = append(all, attempt)
		}
	}
	return all
}

// post sends a body to an RPC, and returns the answer.
func (w *web) post(t *testing.T, rpc string, body io.Reader, header ...string) (status int, answer string, headers http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/compactord.v1."+rpc, body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := w.client.Do(request)
	require.NoError(t, err)
	content, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(content), response.Header
}

// JSON that no client means well gets an error that says what is wrong, and quotes nothing of what may be a conversation.
func TestHostileJSON(t *testing.T) {
	t.Parallel()
	d := start(t)
	deep := strings.Repeat(`{"ladder":{"rungs":[{"strategy":`, 5000)
	for name, c := range map[string]struct{ body, says string }{
		"no JSON":           {`secret`, "it is no JSON"},
		"nothing":           {``, "something is missing"},
		"cut off":           {`{"session_id":"secret`, "it is no JSON"},
		"a list":            {`["secret"]`, "a value has the wrong type"},
		"two documents":     {`{}{"secret":1}`, "wrong type"},
		"wrong type":        {`{"session_id":["secret"]}`, "the value of sessionId is no valid string"},
		"a number too big":  {`{"maxBytes":99999999999999999999999999999999999999999}`, "maxBytes is no valid uint32"},
		"a number with e":   {`{"maxBytes":1e400}`, "maxBytes is no valid uint32"},
		"negative":          {`{"maxBytes":-1}`, "maxBytes is no valid uint32"},
		"unknown":           {`{"secret":1}`, `there is no field secret`},
		"unknown, long":     {`{"` + strings.Repeat("secret ", 20000) + `":1}`, "a field that the contract does not have"},
		"twice":             {`{"session_id":"a","sessionId":"secret"}`, "the field sessionId is there twice"},
		"200,000 times":     {`{"session_id":"a"` + strings.Repeat(`,"session_id":"secret"`, 200_000) + `}`, "the field session_id is there twice"},
		"200,000 unknown":   {`{"x":[` + strings.Repeat(`{"secret":{}},`, 200_000) + `{}]}`, "there is no field x"},
		"deep":              {`{"x":` + strings.Repeat("[", 200_000), "there is no field x"},
		"deep and known":    {`{"policy":{"strategy":` + deep, "nest too deep"},
		"no UTF-8":          {"{\"session_id\":\"\xff\"}", "it is no JSON"},
		"half a surrogate":  {`{"session_id":"\ud800"}`, "it is no JSON"},
		"bytes, not base64": {`{"elements":[{"digest":"!!secret"}]}`, "digest is no valid bytes"},
		"time out of range": {`{"messages":[{"writtenAt":"secret 99999-01-01T00:00:00Z"}]}`, "a value is no valid google.protobuf.Timestamp"},
		"half a path":       {`{"updateMask":"policy.,secret"}`, "a mask names a path that no field can have"},
	} {
		rpc := "SessionService/ListMessages"
		switch {
		case strings.HasPrefix(c.body, `{"policy"`):
			rpc = "SessionService/CreateSession"
		case strings.HasPrefix(c.body, `{"elements"`):
			rpc = "SessionService/SyncMessages"
		case strings.HasPrefix(c.body, `{"messages"`):
			rpc = "SessionService/AppendMessages"
		case strings.HasPrefix(c.body, `{"updateMask"`):
			rpc = "SessionService/UpdateSession"
		}
		code, answer, _ := d.web.post(t, rpc, strings.NewReader(c.body))
		require.Equal(t, http.StatusBadRequest, code, "%s: %s", name, answer)
		var failure httpapitest.Failure
		require.NoError(t, json.Unmarshal([]byte(answer), &failure), name)
		require.Equal(t, "invalid_argument", failure.Code, name)
		require.Contains(t, failure.Message, c.says, name)
		require.Less(t, len(failure.Message), 300, name)
		if name != "unknown" {
			require.NotContains(t, answer, "secret", name)
		}
		require.Contains(t, answer, `"reason":"INVALID_FIELD"`, name)
	}
}

// chunked hides the length of a body.
type chunked struct{ io.Reader }

// Requests over HTTP are held to the same bounds, whether or not they say their length.
func TestBoundsOfRequestsOverHTTP(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	d := start(t, func(o *service.ServerOptions) { o.MaxMessageBytes = most })
	d.create("s", nil)
	large := func(bytes int) string {
		return `{"session_id":"s","messages":[{"role":"ROLE_USER","parts":[{"text":{"text":"` + strings.Repeat("x", bytes) + `"}}]}]}`
	}
	empty := `{"session_id":"s","messages":[` + strings.Repeat("{},", 300_000) + `{}]}`
	for name, c := range map[string]struct {
		body, limit string
		status      int
	}{
		"small":       {large(10), "", http.StatusOK},
		"large":       {large(most - 1000), "", http.StatusOK},
		"too large":   {large(most), "max_message_bytes", http.StatusTooManyRequests},
		"much larger": {large(3 * most), "max_message_bytes", http.StatusTooManyRequests},
		"too many":    {empty, "max_inflight_bytes_of_client", http.StatusTooManyRequests},
	} {
		for form, body := range map[string]io.Reader{"sized": strings.NewReader(c.body), "unsized": chunked{strings.NewReader(c.body)}} {
			code, answer, _ := d.web.post(t, "SessionService/AppendMessages", body)
			require.Equal(t, c.status, code, "%s, %s: %.300s", name, form, answer)
			if c.limit != "" {
				require.Contains(t, answer, `"limit":"`+c.limit+`"`, "%s, %s", name, form)
			}
		}
	}
}

// The request id of a client comes back, and that of a failure is in the answer, as over gRPC.
func TestRequestIDsOverHTTP(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, protocol := range httpapitest.Protocols {
		client := compactordv1.NewSessionServiceClient(d.web.conn(protocol))
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", "mine")
		var header, trailer metadata.MD
		_, err := client.ListSessions(ctx, &compactordv1.ListSessionsRequest{}, grpc.Header(&header))
		require.NoError(t, err)
		require.Equal(t, []string{"mine"}, header.Get("x-request-id"), protocol)
		_, err = client.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "none"}, grpc.Trailer(&trailer))
		require.Equal(t, codes.NotFound, status.Code(err))
		require.Len(t, trailer.Get("x-request-id"), 1, protocol)
	}
}

// A call has the time that its client gives it.
func TestDeadlinesOverHTTP(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for rpc, body := range map[string]string{"SessionService/WatchSession": `{"session_id":"s"}`} {
		code, answer, _ := d.web.post(t, rpc, strings.NewReader(body), "Connect-Timeout-Ms", "50")
		require.Contains(t, answer, "deadline_exceeded", "%d", code)
		code, answer, _ = d.web.post(t, rpc, strings.NewReader(body), "Connect-Timeout-Ms", "soon")
		require.Equal(t, http.StatusBadRequest, code, answer)
	}
}

// What is no call of an RPC says so.
func TestWhatIsNoRPC(t *testing.T) {
	t.Parallel()
	d := start(t)
	for name, c := range map[string]struct {
		method, path, kind string
		status             int
	}{
		"GET":          {http.MethodGet, "/compactord.v1.SessionService/ListSessions", "", http.StatusMethodNotAllowed},
		"GET, Connect": {http.MethodGet, "/compactord.v1.SessionService/ListSessions?connect=v1&encoding=json&message=%7B%7D", "", http.StatusMethodNotAllowed},
		"a form":       {http.MethodPost, "/compactord.v1.SessionService/ListSessions", "application/x-www-form-urlencoded", http.StatusUnsupportedMediaType},
		"plain text":   {http.MethodPost, "/compactord.v1.SessionService/ListSessions", "text/plain", http.StatusUnsupportedMediaType},
		"no type":      {http.MethodPost, "/compactord.v1.SessionService/ListSessions", "", http.StatusUnsupportedMediaType},
		"no RPC":       {http.MethodPost, "/compactord.v1.SessionService/None", "application/json", http.StatusNotImplemented},
		"no inspector": {http.MethodGet, "/inspect/", "", http.StatusNotFound},
		"no path":      {http.MethodGet, "/", "", http.StatusNotFound},
		"a longer one": {http.MethodPost, "/x/compactord.v1.SessionService/ListSessions", "application/json", http.StatusNotImplemented},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, strings.NewReader(""))
		require.NoError(t, err)
		if c.kind != "" {
			request.Header.Set("Content-Type", c.kind)
		}
		response, err := d.web.client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, c.status, response.StatusCode, name)
		require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), name)
	}
	code, _, _ := d.web.post(t, "SessionService/ListSessions", strings.NewReader("x"), "Content-Encoding", "gzip")
	require.Equal(t, http.StatusNotImplemented, code)
}
