package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

func counterOf(t require.TestingT, e compactordv1.Estimator) session.Counter {
	counter, err := session.CounterFor(e)
	require.NoError(t, err)
	return counter
}

func TestUnknownEstimator(t *testing.T) {
	_, err := session.CounterFor(99)
	require.ErrorIs(t, err, session.ErrEstimator)
}

// The exact estimators count texts, names, arguments and results separately and add them up.
func TestExactMessages(t *testing.T) {
	o200k := counterOf(t, compactordv1.Estimator_ESTIMATOR_O200K_BASE)
	require.Equal(t, uint32(2), session.TextTokens(o200k, "hello world"))
	require.Equal(t, uint32(9), session.TextTokens(counterOf(t, compactordv1.Estimator_ESTIMATOR_CL100K_BASE), "お誕生日おめでとう"))
	m := assistant(thinking("hello"), session.TextPart("hello world"), calling("id", "read", ""))
	require.Equal(t, []uint32{1, 2, 2}, session.PartSizes(o200k, m), "the name and {}")
	require.Equal(t, uint32(5), session.MessageTokens(o200k, m))
	require.Equal(t, uint32(1203), session.MessageTokens(o200k, answering("a", resultText("hello world"), resultText("hi"), resultPicture("p"))))
}

// The size of a message is the sum of its parts' sizes, for every estimator.
func TestSumOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGeneratorBy(t, estimator(t), make(sessiontest.Counts))
		for range 10 {
			g.Message(t)
		}
		c := counterOf(t, g.W.Log.Estimator)
		for _, l := range g.W.Messages {
			require.Equal(t, session.PartSizes(c, l.GetMessage()), l.GetPartSizes())
			require.Equal(t, session.SizesTokens(c, l.GetPartSizes()), l.GetTokens())
			media, _ := session.MediaOf(c, l.GetMessage())
			require.LessOrEqual(t, media, l.GetTokens())
		}
	})
}

func medium(kind string, data string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
		MimeType: kind, Source: &compactordv1.MediaPart_Data{Data: []byte(data)},
	}}}
}

func elsewhere(kind string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
		MimeType: kind, Source: &compactordv1.MediaPart_FileId{FileId: "file-1"},
	}}}
}

// Media count by their kind, and by their size where it matters. All estimators count them alike, except those that are
// text.
func TestMediaByKind(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	for _, c := range []struct {
		name string
		part *compactordv1.Part
		want uint32
	}{
		{"an image of any size", medium("image/png", long), 1200},
		{"an image elsewhere", elsewhere("image/*"), 1200},
		{"a PDF that names its pages", medium("application/pdf", "/Type /Pages /Type /Page\n/Type/Page/Type\r\n/PageLabels"+long), 2 * 2300},
		{"a PDF that does not", medium("application/pdf", long), 20 * 2300},
		{"a small PDF", medium("application/pdf", "%PDF"), 2300},
		{"a PDF elsewhere", elsewhere("application/pdf"), 2300},
		{"a document", medium("application/vnd.openxmlformats-officedocument.wordprocessingml.document", long), 20 * 2300},
		{"a minute of compressed sound", medium("audio/mpeg", strings.Repeat("x", 960_000)), 60 * 32},
		{"half a minute of samples", medium("audio/wav", strings.Repeat("x", 960_000)), 30 * 32},
		{"sound elsewhere", elsewhere("audio/mpeg"), 60 * 32},
		{"four seconds of pictures", medium("video/mp4", long), 4 * 263},
		{"pictures elsewhere", elsewhere("video/mp4"), 60 * 263},
		{"a text elsewhere", elsewhere("text/plain"), 1200},
		{"anything", medium("application/octet-stream", long), 1200},
	} {
		for _, e := range []compactordv1.Estimator{compactordv1.Estimator_ESTIMATOR_CHARS4, compactordv1.Estimator_ESTIMATOR_O200K_BASE} {
			m := message(compactordv1.Role_ROLE_USER, c.part)
			require.Equal(t, c.want, session.MessageTokens(counterOf(t, e), m), "%s by %v", c.name, e)
			tokens, sent := session.MediaOf(counterOf(t, e), m)
			require.Equal(t, c.want, tokens, c.name)
			require.Equal(t, uint32(len(c.part.GetMedia().GetData())), sent, c.name)
		}
	}
	// A document counts no more pages than providers accept.
	require.Equal(t, uint32(1000*2300), session.MessageTokens(counterOf(t, 0),
		message(compactordv1.Role_ROLE_USER, medium("application/pdf", strings.Repeat("/Type/Page ", 5000)))))
}

// A text that is sent as a file counts as text.
func TestTextFiles(t *testing.T) {
	for _, kind := range []string{"text/plain", "Text/Markdown; charset=utf-8", "application/json"} {
		m := message(compactordv1.Role_ROLE_USER, medium(kind, "hello world"))
		require.Equal(t, uint32(3), session.MessageTokens(counterOf(t, 0), m), kind)
		require.Equal(t, uint32(2), session.MessageTokens(counterOf(t, compactordv1.Estimator_ESTIMATOR_O200K_BASE), m), kind)
	}
}

// The figures of media follow the view: an edit or a summary that replaces media removes them from the figures.
func TestMediaOfTheView(t *testing.T) {
	w := newLog(user("look"), assistant(calling("a", "shot", "")), answering("a", resultText("see"), resultPicture("a")),
		message(compactordv1.Role_ROLE_USER, pictured("b"), elsewhere("image/png")), says("fine"), user("go on"))
	figures := func() []uint32 {
		r := session.Measure(w.Head, &compactordv1.Policy{})
		return []uint32{r.GetMediaTokens(), r.GetMediaBytes()}
	}
	require.Equal(t, []uint32{3600, 2}, figures())
	prune(w, &compactordv1.Edit{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, Replacement: "[a]"})
	require.Equal(t, []uint32{2400, 1}, figures())
	compact(w, 5, "s")
	require.Equal(t, []uint32{0, 0}, figures())
}

func tokensOf(t *testing.T, m *compactordv1.Message) uint32 {
	t.Helper()
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	return session.MessageTokens(counter, m)
}

func TestCase001EmptyText(t *testing.T) {
	require.Zero(t, tokensOf(t, user("")))
	require.Zero(t, tokensOf(t, message(compactordv1.Role_ROLE_USER)))
}

func TestCase002RoundedUp(t *testing.T) {
	for chars, want := range map[int]uint32{1: 1, 4: 1, 5: 2, 8: 2, 9: 3} {
		require.Equal(t, want, tokensOf(t, user(strings.Repeat("x", chars))), "%d characters", chars)
	}
	require.Equal(t, uint32(1), tokensOf(t, message(compactordv1.Role_ROLE_USER, session.TextPart("xx"), session.TextPart("yy"))),
		"rounded up once a message")
}

func TestCase003CJK(t *testing.T) { require.Equal(t, uint32(1), tokensOf(t, user("修复代码"))) }

func TestCase004AstralPlane(t *testing.T) {
	require.Equal(t, uint32(1), tokensOf(t, user("🙂🙂")))
	require.Equal(t, uint32(2), tokensOf(t, user("🙂🙂x")), "four UTF-16 units and one")
}

// An image counts 1,200 tokens wherever it is.
func TestCase005Images(t *testing.T) {
	require.Equal(t, uint32(1201), tokensOf(t, message(compactordv1.Role_ROLE_USER, session.TextPart("abcd"), pictured("a"))))
	require.Equal(t, uint32(1201), tokensOf(t, answering("a", resultText("abcd"), resultPicture("a"))))
	require.Equal(t, uint32(1200), tokensOf(t, answering("a", resultPicture("a"))))
}

func TestCase006TextThinkingAndCall(t *testing.T) {
	m := assistant(thinking("hm"), session.TextPart("ok"), calling("some-id", "read", `{"path":"a"}`))
	require.Equal(t, uint32(5), tokensOf(t, m))
}

func TestCase007CallWithoutArguments(t *testing.T) {
	require.Equal(t, uint32(2), tokensOf(t, assistant(calling("a", "read", ""))), "six units: name and {}")
	require.Equal(t, tokensOf(t, assistant(calling("a", "read", "{}"))), tokensOf(t, assistant(calling("a", "read", ""))))
	require.Equal(t, uint32(2), tokensOf(t, assistant(calling("a", "reads", ""))), "seven units")
}

// A message that repairs leave out of the view still has an estimate.
func TestCase008LeftOutStillHasAnEstimate(t *testing.T) {
	w := newLog(user("1234"), stopped(says("12345678"), compactordv1.StopReason_STOP_REASON_ABORTED))
	require.Equal(t, uint32(2), w.Messages[1].GetTokens())
	require.Equal(t, uint32(1), w.Head.GetViewTokens())
}

// A live state and a restored one have the same counts.
func TestCase009LiveAndRestored(t *testing.T) {
	w := newLog(user("123"), user("123"), user("123"), user("123"))
	require.Equal(t, uint32(4), w.Head.GetViewTokens())
	require.Equal(t, uint32(4), w.State().WithMetrics().GetViewTokens())
}

func TestCase011OnlyMedia(t *testing.T) {
	w := newLog(message(compactordv1.Role_ROLE_USER, pictured("a")))
	require.Equal(t, uint32(1200), w.Head.GetViewTokens())
}
