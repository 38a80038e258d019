package calls

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
)

func begin(t *testing.T, pairs ...string) *Call {
	t.Helper()
	_, c := Begin(metadata.NewIncomingContext(t.Context(), metadata.Pairs(pairs...)), func() string { return "made" })
	return c
}

func TestRequestIDs(t *testing.T) {
	for id, want := range map[string]string{
		"a":                           "a",
		"0192-ab.c_d:e/f+g=":          "0192-ab.c_d:e/f+g=",
		strings.Repeat("x", 128):      strings.Repeat("x", 128),
		strings.Repeat("x", 129):      "made",
		"":                            "made",
		"a b":                         "made",
		"a\nlevel=ERROR":              "made",
		"\u00e9":                      "made",
		"x=\"y\"":                     "made",
		"cptd_0123":                   "made",
		"Bearer/cptd_" + "0000000000": "made",
	} {
		require.Equal(t, want, begin(t, RequestIDHeader, id).RequestID, "%q", id)
	}
	require.Equal(t, "made", begin(t).RequestID)
	require.Equal(t, "made", begin(t, RequestIDHeader, "a", RequestIDHeader, "b").RequestID)
}

func TestTraceIDs(t *testing.T) {
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for header, want := range map[string]string{
		"00-" + id + "-" + parent + "-01":                      id,
		"cc-" + id + "-" + parent + "-01-later":                id,
		"00-" + strings.ToUpper(id) + "-" + parent + "-01":     "",
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01": "",
		"00-" + id[:31] + "\n-" + parent + "-01":               "",
		"00-" + id[:31] + "-" + parent + "-01":                 "",
		"":                                                     "",
	} {
		require.Equal(t, want, begin(t, traceHeader, header).TraceID, "%q", header)
	}
}

func TestLinesHaveWhatIsKnownOfTheirCall(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(Handler(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}})))
	logger.InfoContext(t.Context(), "no call")
	SetCaller(t.Context(), Caller{Tenant: "x", Subject: "y"})
	ctx, c := Begin(t.Context(), func() string { return "r" })
	logger.InfoContext(ctx, "begun")
	SetCaller(ctx, Caller{Tenant: "t", Subject: "owner", Role: "read"})
	c.SetSession("s")
	logger.With("a", 1).InfoContext(ctx, "known")
	logger.InfoContext(ctx, "own", "session_id", "other")
	require.Equal(t, `msg="no call"
msg=begun request_id=r
msg=known a=1 request_id=r tenant=t subject=owner session_id=s
msg=own session_id=other request_id=r tenant=t subject=owner
`, out.String())
}
