package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage/memory"
)

const (
	chars4     = compactordv1.Estimator_ESTIMATOR_CHARS4
	o200k      = compactordv1.Estimator_ESTIMATOR_O200K_BASE
	cl100k     = compactordv1.Estimator_ESTIMATOR_CL100K_BASE
	calibrated = compactordv1.Estimator_ESTIMATOR_CALIBRATED
)

// createBy creates a session with an estimator.
func (d *daemon) createBy(id string, e compactordv1.Estimator, policy *compactordv1.Policy) {
	d.t.Helper()
	answer, err := d.sessions.CreateSession(d.t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: id, Estimator: e, Policy: policy,
	})
	require.NoError(d.t, err)
	require.Equal(d.t, e, answer.GetSession().GetEstimator())
}

func (d *daemon) countTokens(req *compactordv1.CountTokensRequest) *compactordv1.CountTokensResponse {
	d.t.Helper()
	answer, err := d.compactions.CountTokens(d.t.Context(), req)
	require.NoError(d.t, err)
	return answer
}

func countText(text string, e compactordv1.Estimator) *compactordv1.CountTokensRequest {
	return &compactordv1.CountTokensRequest{What: &compactordv1.CountTokensRequest_Text{Text: text}, Estimator: e}
}

func countMessages(e compactordv1.Estimator, messages ...*compactordv1.Message) *compactordv1.CountTokensRequest {
	return &compactordv1.CountTokensRequest{Estimator: e, What: &compactordv1.CountTokensRequest_Messages{
		Messages: &compactordv1.CountedMessages{Messages: messages},
	}}
}

func countSession(id string, e compactordv1.Estimator) *compactordv1.CountTokensRequest {
	return &compactordv1.CountTokensRequest{What: &compactordv1.CountTokensRequest_SessionId{SessionId: id}, Estimator: e}
}

func (d *daemon) reportOf(id string) *compactordv1.ContextReport {
	d.t.Helper()
	answer, err := d.sessions.GetSession(d.t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
	require.NoError(d.t, err)
	return answer.GetReport()
}

// reported returns an answer with a usage report.
func reported(text string, input uint32) *compactordv1.Message {
	m := assistant(text)
	m.Usage = &compactordv1.Usage{InputTokens: input, OutputTokens: 1}
	return m
}

func picture(bytes int) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
		MimeType: "image/png", Source: &compactordv1.MediaPart_Data{Data: make([]byte, bytes)},
	}}}
}

func TestCountText(t *testing.T) {
	t.Parallel()
	d := start(t)
	answer := d.countTokens(countText("hello world", compactordv1.Estimator_ESTIMATOR_UNSPECIFIED))
	require.Equal(t, uint32(3), answer.GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, answer.GetSource())
	require.Equal(t, chars4, answer.GetEstimator())
	require.Equal(t, uint32(1), answer.GetErrorBoundTokens())
	require.Equal(t, uint32(11), answer.GetTextBytes())
	for _, e := range []compactordv1.Estimator{o200k, cl100k} {
		answer = d.countTokens(countText("hello world", e))
		require.Equal(t, uint32(2), answer.GetTokens())
		require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_EXACT, answer.GetSource())
		require.Zero(t, answer.GetErrorBoundTokens(), "a text is in no message")
		require.Equal(t, e, answer.GetEstimator())
	}
	require.Zero(t, d.countTokens(countText("", o200k)).GetTokens())
}

func TestCountMessages(t *testing.T) {
	t.Parallel()
	d := start(t)
	seen := user("What is this?")
	seen.Parts = append(seen.Parts, picture(1000))
	answer := d.countTokens(countMessages(o200k, system("You see."), seen, assistant("", call("c", "look", `{"at":1}`)), toolResult("c", "a ship")))
	require.Len(t, answer.GetMessages(), 4)
	var sum uint32
	for i, m := range answer.GetMessages() {
		require.Equal(t, uint32(i), m.GetIndex())
		sum += m.GetTokens()
	}
	require.Equal(t, sum, answer.GetTokens())
	require.Equal(t, uint32(1200), answer.GetMediaTokens())
	require.Equal(t, uint32(1000), answer.GetMediaBytes())
	require.Equal(t, uint32(len("You see.What is this?look{\"at\":1}a ship")), answer.GetTextBytes())
	require.Equal(t, uint32(13+1000), answer.GetMessages()[1].GetBytes())
	require.Equal(t, uint32(1200+4*4), answer.GetErrorBoundTokens(), "what stands around messages, and the image")
}

func TestCountProviderJSON(t *testing.T) {
	t.Parallel()
	d := start(t)
	raw := `[{"role":"user","content":"hello world"},{"role":"assistant","content":"hello"}]`
	answer := d.countTokens(&compactordv1.CountTokensRequest{Estimator: o200k, What: &compactordv1.CountTokensRequest_Messages{
		Messages: &compactordv1.CountedMessages{ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: raw}},
	}})
	require.Equal(t, uint32(3), answer.GetTokens())
	_, err := d.compactions.CountTokens(t.Context(), &compactordv1.CountTokensRequest{What: &compactordv1.CountTokensRequest_Messages{
		Messages: &compactordv1.CountedMessages{ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: "{"}},
	}})
	require.ErrorContains(t, err, "messages.")
}

// A session is counted by its own estimator or by another one. Its log stays as it is.
func TestCountSession(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.createBy("s", o200k, small(200))
	d.append("s", working(10, 400)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	point := d.reportOf("s").GetTokens()
	own := d.countTokens(countSession("s", compactordv1.Estimator_ESTIMATOR_UNSPECIFIED))
	require.Equal(t, point, own.GetTokens())
	require.Equal(t, o200k, own.GetEstimator())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_EXACT, own.GetSource())
	require.Equal(t, uint32(4*len(d.view("s"))), own.GetErrorBoundTokens())
	require.Nil(t, own.GetMessages()[1].Index, "the summary has no index")

	other := d.countTokens(countSession("s", chars4))
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, other.GetSource())
	require.NotEqual(t, own.GetTokens(), other.GetTokens())
	require.Equal(t, own.GetTextBytes(), other.GetTextBytes())
	again := d.countTokens(countMessages(chars4, messagesOf(d.view("s"))...))
	require.Equal(t, again.GetTokens(), other.GetTokens())
	require.Equal(t, point, d.reportOf("s").GetTokens())
}

func messagesOf(view []*compactordv1.ViewMessage) []*compactordv1.Message {
	messages := make([]*compactordv1.Message, len(view))
	for i, vm := range view {
		messages[i] = vm.GetMessage()
	}
	return messages
}

func TestCalibratedNeedsASessionThatIs(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for _, req := range []*compactordv1.CountTokensRequest{
		countText("x", calibrated), countMessages(calibrated, user("x")), countSession("s", calibrated),
	} {
		_, err := d.compactions.CountTokens(t.Context(), req)
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		require.ErrorContains(t, err, "estimator")
	}
	_, err := d.compactions.CountTokens(t.Context(), countSession("none", chars4))
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	_, err = d.compactions.CountTokens(t.Context(), &compactordv1.CountTokensRequest{})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	both := countMessages(chars4, user("x"))
	both.GetMessages().ProviderJson = &compactordv1.ProviderJson{Dialect: chat, Json: "[]"}
	_, err = d.compactions.CountTokens(t.Context(), both)
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "messages.messages")
}

// A calibrated session learns from usage reports how far its estimates are off. It stores that, and asks for compaction
// by it.
func TestCalibrationIsLearntAndKept(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/store.db"
	d := start(t, withStore(openStore(t, path)))
	d.createBy("s", calibrated, &compactordv1.Policy{OverheadTokens: proto.Uint32(100)})
	// Each estimated token of this text is 1.4 of the model's.
	estimate := uint32(0)
	for range 4 {
		d.append("s", user(strings.Repeat("x", 4000)))
		estimate += 1000
		d.append("s", reported("1234", 100+estimate*14/10))
		estimate++
	}
	r := d.reportOf("s")
	require.Equal(t, uint32(1400), r.GetCalibrationPermille())
	d.append("s", user("wait"))
	_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"),
		Policy: &compactordv1.Policy{
			OverheadTokens: proto.Uint32(100), Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP.Enum(),
		},
	})
	require.NoError(t, err)
	r = d.reportOf("s")
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_CALIBRATED, r.GetSource())
	require.Equal(t, uint32(100+4005*14/10), r.GetTokens())
	require.Equal(t, uint32(4005*14/10*5/100), r.GetErrorBoundTokens())
	counted := d.countTokens(countSession("s", calibrated))
	require.Equal(t, uint32(4005*14/10), counted.GetTokens())
	require.Equal(t, uint32(4005), d.countTokens(countSession("s", chars4)).GetTokens())
	require.Equal(t, uint32(1000), counted.GetMessages()[0].GetTokens(), "those of single messages are not scaled")

	d.stop()
	again := start(t, withStore(openStore(t, path)))
	require.True(t, proto.Equal(r, again.reportOf("s")), "the same after a restart")
	_, err = again.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
	require.NoError(t, err)
	require.Equal(t, r.GetTokens(), again.reportOf("fork").GetTokens())
	require.Equal(t, uint32(1400), again.reportOf("fork").GetCalibrationPermille())
	problems, err := sessionlog.Check(t.Context(), again.store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
}

// Budgets are in tokens of the model: where each estimated token is two of them, half as many messages are kept.
func TestBudgetsAreTokensOfTheModel(t *testing.T) {
	t.Parallel()
	kept := func(e compactordv1.Estimator) int {
		d := start(t)
		d.createBy("s", e, &compactordv1.Policy{OverheadTokens: proto.Uint32(0)})
		var estimate uint32
		for range 12 {
			d.append("s", user(strings.Repeat("y", 3996)))
			estimate += 999
			d.append("s", reported("1234", estimate*2))
			estimate++
		}
		_, err := d.compact(compactRequest("s", small(8000)))
		require.NoError(t, err)
		return len(d.view("s"))
	}
	require.Equal(t, 1+2*8, kept(chars4))
	require.Equal(t, 1+2*4, kept(calibrated))
}

// So are budgets of summaries: a summarizer counts its text like the model.
func TestSummariesAreCountedInTokensOfTheModel(t *testing.T) {
	t.Parallel()
	writer := &scripted{name: "writer", do: faithful}
	d := start(t, withSummarizer(writer))
	policy := by("writer", noFallback, small(0))
	policy.OverheadTokens = proto.Uint32(0)
	d.createBy("s", calibrated, policy)
	var estimate uint32
	for range 10 {
		d.append("s", user(strings.Repeat("y", 3996)))
		estimate += 999
		d.append("s", reported("1234", estimate*2))
		estimate++
	}
	require.Equal(t, uint32(2000), d.reportOf("s").GetCalibrationPermille())
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Equal(t, uint32(200), writer.seen()[0].Count(strings.Repeat("x", 400)))
}

// An inline history can be counted by any estimator.
func TestHistoryByAnyEstimator(t *testing.T) {
	t.Parallel()
	d := start(t)
	for e, source := range map[compactordv1.Estimator]compactordv1.TokenSource{
		chars4: compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, o200k: compactordv1.TokenSource_TOKEN_SOURCE_EXACT,
		cl100k: compactordv1.TokenSource_TOKEN_SOURCE_EXACT, calibrated: compactordv1.TokenSource_TOKEN_SOURCE_CALIBRATED,
	} {
		answer, err := d.compactions.GetLLMView(t.Context(), historyTarget(&compactordv1.InlineHistory{
			Messages: []*compactordv1.Message{user("hello world")}, Estimator: e,
		}))
		require.NoError(t, err)
		require.Equal(t, source, answer.GetReport().GetSource(), e)
		require.Equal(t, e == calibrated, answer.GetReport().CalibrationPermille != nil, e)
	}
}

// All messages of a log count, even those that the response has no room to list.
func TestCountsOfLongLogsAreBounded(t *testing.T) {
	inFull(t)
	t.Parallel()
	d := start(t, withStore(memory.New()))
	d.create("s", nil)
	messages := make([]*compactordv1.Message, 10_000)
	for i := range messages {
		messages[i] = user("word")
	}
	for range 10 {
		d.append("s", messages...)
	}
	d.append("s", user("word"), user("word"))
	answer := d.countTokens(countSession("s", chars4))
	require.Len(t, answer.GetMessages(), 100_000)
	require.Equal(t, uint32(99_999), answer.GetMessages()[99_999].GetIndex())
	require.Equal(t, uint32(100_002), answer.GetTokens())
}
