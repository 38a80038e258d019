// Package inspector_test walks through the inspector of a daemon in a real browser.
package inspector_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/storage/anystore"
)

// program is the path of the program that is tested.
var program string

func TestMain(m *testing.M) { os.Exit(daemontest.RunWithProgram(m, &program)) }

const (
	// hostileID is a session id of characters that mean something in HTML and in addresses.
	hostileID = `<img/src=x>&"'#/?%41`
	// hostileChild is one for a child, which begins and ends with a letter or digit.
	hostileChild = `a<img/src=x>&"'/?%41z`
	// hostileFork is one for a fork.
	hostileFork = `<img/src=x>&"'/?%41f`
	longLog     = 100_000
)

// hostileText has what would run in a page that parses it, what turns the order of characters, and what is not seen.
const hostileText = `<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script> [x](javascript:globalThis.hacked=1) ` +
	"\u202eright to left\u202c zero\u200bwidth \x1b[31mred\x1b[0m"

// The inspector shows sessions as they are, runs nothing of a conversation, asks nobody but its daemon, and passes axe, in
// both themes and from 360 pixels to 4k; a short run looks at two of these. COMPACTORD_SCREENSHOTS names a folder for pictures of it.
func TestInspector(t *testing.T) {
	t.Parallel()
	walk := walker(t)
	page, address := serve(t)
	fillStore(t, address)
	walk("walk.mjs", page, tokenOf(t, address), looks())
}

// With --inspect-write, and as the page of inspect --write, it also changes sessions. It says before what it is going to do, and after how to take it back.
func TestInspectorWrites(t *testing.T) {
	t.Parallel()
	walk := walker(t)
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(
		"summarizers:\n  slow:\n    kind: openai\n    model: m\n    base_url: "+unending(t)+"\n"), 0o600))
	page, address := serve(t, "--inspect-write", "--config", config)
	f := newFiller(t, address)
	f.points("points")
	for _, look := range looks() {
		name := fmt.Sprintf("%s-%d", look.ColorScheme, look.Width)
		f.create("quick-"+name, "", nil, daemontest.Working(60, 2000)...)
		f.create("slow-"+name, "", nil, daemontest.Working(60, 2000)...)
		f.summarizeBy("slow-"+name, "slow")
	}
	all := looks()
	last := len(all) - 1
	walk("write.mjs", page, tokenOf(t, address), all[:last])
	// The last look is at the page of another program, which may change the same sessions.
	shown := inspect(t, "--session", "points", "--addr", address, "--write")
	base, token, _ := strings.Cut(shown, "?token=")
	base, _, _ = strings.Cut(base, "#")
	walk("write.mjs", base, token, all[last:])
}

// All of it works by the keyboard alone: the focus is always seen, nothing keeps it, and dialogs give it back. At 360 pixels in a
// short run, else on 4k.
func TestInspectorByKeyboard(t *testing.T) {
	t.Parallel()
	walk := walker(t)
	page, address := serve(t, "--inspect-write")
	newFiller(t, address).points("points")
	// The order of the focus does not depend on the theme, and hardly on the size.
	all := looks()
	walk("keyboard.mjs", page, tokenOf(t, address), all[len(all)-1:])
}

// unending is a model that begins a hostile answer, and never ends it.
func unending(t *testing.T) (url string) {
	t.Helper()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range []string{"## Goal\n", hostileText, strings.Repeat("\nMore words of it.", 200)} {
			chunk, _ := json.Marshal(map[string]any{
				"object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text}}},
			})
			_, _ = fmt.Fprintf(w, "data: %s\n\n", chunk)
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL
}

// walker returns what drives a browser through the page of a daemon with a script of this folder, or skips the test.
func walker(t *testing.T) func(script, page, token string, looks []look) {
	t.Helper()
	// Before a daemon is started for it.
	needBrowser(t)
	return func(script, page, token string, looks []look) {
		t.Helper()
		browse(t, script, map[string]any{
			"base": page, "token": token, "hostile": hostileID, "child": hostileChild, "fork": hostileFork, "text": hostileText, "long": longLog, "looks": looks, "short": testing.Short(),
		})
	}
}

// tokenOf returns the token that a daemon has made for its own user.
func tokenOf(t *testing.T, address string) string {
	t.Helper()
	token, err := access.Find("", address, false)
	require.NoError(t, err)
	return token
}

// look is a theme and a size.
type look struct {
	ColorScheme string `json:"colorScheme"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
}

func looks() (all []look) {
	if testing.Short() {
		return []look{{"light", 1000, 900}, {"dark", 360, 900}}
	}
	for _, scheme := range []string{"light", "dark"} {
		all = append(all, look{scheme, 360, 900}, look{scheme, 1000, 900}, look{scheme, 3840, 2160})
	}
	return all
}

var (
	listensOn = regexp.MustCompile(`^compactord listens on (\S+),`)
	inspected = regexp.MustCompile(`^the inspector is at (\S+)`)
)

// serve starts a daemon with the inspector, and returns the addresses that it prints.
func serve(t *testing.T, flags ...string) (page, address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	args := []string{
		"serve", "--inspect", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0",
		"--store", anystore.Place(t),
	}
	cmd := exec.CommandContext(ctx, program, append(args, flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(stdout)
	return match(t, lines, listensOn, inspected)
}

// match reads a line for each pattern, and returns what they find, the last first.
func match(t *testing.T, lines *bufio.Reader, first, second *regexp.Regexp) (ofSecond, ofFirst string) {
	t.Helper()
	found := make([]string, 0, 2)
	for _, pattern := range []*regexp.Regexp{first, second} {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		match := pattern.FindStringSubmatch(line)
		require.NotNil(t, match, line)
		found = append(found, match[1])
	}
	return found[1], found[0]
}

// fillStore makes the sessions that the walk looks at: one that works, one that nothing has compacted, one with points of many
// kinds, a hostile one, and a long one.
func fillStore(t *testing.T, address string) {
	t.Helper()
	f := newFiller(t, address)

	f.create("work", "A day at the harbour", map[string]string{"team": "harbour"}, daemontest.Working(60, 2000)...)
	f.compact("work", 10)
	f.hideResults("work")
	f.create("full", "", nil, daemontest.Working(60, 2000)...)
	f.child("full")
	f.create(hostileID, hostileText, map[string]string{"label": hostileText}, said(compactordv1.Role_ROLE_USER, hostileText),
		said(compactordv1.Role_ROLE_ASSISTANT, strings.Repeat("x", 1_000_000)))
	f.append(hostileID, hostileCalls()...)
	f.fork("points", f.points("points"))
	f.create("long", "", nil, long()...)
}

// long returns many short messages.
func long() []*compactordv1.Message {
	messages := make([]*compactordv1.Message, 0, longLog)
	for i := range longLog - 1 {
		role := compactordv1.Role_ROLE_USER
		if i%2 == 1 {
			role = compactordv1.Role_ROLE_ASSISTANT
		}
		messages = append(messages, said(role, fmt.Sprintf("Message %d.", i)))
	}
	return append(messages, said(compactordv1.Role_ROLE_ASSISTANT, fmt.Sprintf("This is the last of %d.", longLog)))
}

func said(role compactordv1.Role, text string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
	}}
}

// filler makes sessions.
type filler struct {
	t           *testing.T
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
}

func newFiller(t *testing.T, address string) *filler {
	t.Helper()
	conn, err := daemontest.Dial(address, grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(64<<20)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &filler{t, compactordv1.NewSessionServiceClient(conn), compactordv1.NewCompactionServiceClient(conn)}
}

// summarizeBy has another summarizer write for a session.
func (f *filler) summarizeBy(id, summarizer string) {
	f.t.Helper()
	_, err := f.sessions.UpdateSession(f.t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: id, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy.summary"}},
		Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String(summarizer)}},
	})
	require.NoError(f.t, err)
}

func (f *filler) create(id, title string, labels map[string]string, messages ...*compactordv1.Message) {
	f.t.Helper()
	_, err := f.sessions.CreateSession(f.t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: id, Title: title, Labels: labels, Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(100_000)},
	})
	require.NoError(f.t, err)
	f.append(id, messages...)
}

func (f *filler) append(id string, messages ...*compactordv1.Message) {
	f.t.Helper()
	const atOnce = 1000
	for len(messages) > 0 {
		n := min(len(messages), atOnce)
		_, err := f.sessions.AppendMessages(f.t.Context(), &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages[:n]})
		require.NoError(f.t, err)
		messages = messages[n:]
	}
}

// points makes a session with a compaction that was skipped, one that was committed, a prune, a checkpoint with a hostile
// title, and a revert that puts two messages aside. It returns the checkpoint's point.
func (f *filler) points(id string) (point uint32) {
	f.t.Helper()
	f.create(id, "", nil, said(compactordv1.Role_ROLE_USER, "Hello."), said(compactordv1.Role_ROLE_ASSISTANT, "Hello."),
		said(compactordv1.Role_ROLE_USER, "Go on."))
	f.compact(id, 1)
	f.append(id, daemontest.Working(20, 2000)[1:]...)
	f.compact(id, 5)
	f.hideResults(id)
	checkpoint, err := f.sessions.CreateCheckpoint(f.t.Context(), &compactordv1.CreateCheckpointRequest{
		SessionId: id, Title: hostileText,
	})
	require.NoError(f.t, err)
	f.append(id, said(compactordv1.Role_ROLE_USER, "A wrong way."), said(compactordv1.Role_ROLE_ASSISTANT, "So it is."))
	_, err = f.sessions.RevertToCheckpoint(f.t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: id, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: checkpoint.GetCheckpoint().GetPoint()},
	})
	require.NoError(f.t, err)
	f.append(id, said(compactordv1.Role_ROLE_USER, "The right way."))
	return checkpoint.GetCheckpoint().GetPoint()
}

// fork makes a fork of a session as of a point.
func (f *filler) fork(of string, point uint32) {
	f.t.Helper()
	_, err := f.sessions.ForkSession(f.t.Context(), &compactordv1.ForkSessionRequest{
		SessionId: of, NewSessionId: hostileFork, At: &compactordv1.ForkSessionRequest_Point{Point: point}, Title: hostileText,
	})
	require.NoError(f.t, err)
}

// child makes a child of a session, with an image, what is none, and what must not be loaded.
func (f *filler) child(of string) {
	f.t.Helper()
	_, err := f.sessions.ForkSession(f.t.Context(), &compactordv1.ForkSessionRequest{
		SessionId: of, NewSessionId: hostileChild, Child: &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_NOTHING},
	})
	require.NoError(f.t, err)
	message := said(compactordv1.Role_ROLE_USER, "A zebra.")
	for _, media := range []*compactordv1.MediaPart{
		{MimeType: "image/png", Name: hostileText, Source: &compactordv1.MediaPart_Data{Data: pixel(f.t)}},
		{MimeType: "image/png", Source: &compactordv1.MediaPart_Data{Data: []byte("none")}},
		{MimeType: "image/svg+xml", Source: &compactordv1.MediaPart_Data{Data: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")}},
		{MimeType: "image/png", Source: &compactordv1.MediaPart_Uri{Uri: "https://elsewhere.example/x.png"}},
	} {
		message.Parts = append(message.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media}})
	}
	f.append(hostileChild, message)
}

// hostileCalls are a call and a result of a tool with a hostile name, after thinking, and a block of the provider's.
func hostileCalls() []*compactordv1.Message {
	return []*compactordv1.Message{
		{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{
			{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: hostileText}}},
			{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: hostileText, Name: hostileText, Arguments: hostileText}}},
		}},
		{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{
			ToolResult: &compactordv1.ToolResult{CallId: hostileText, Name: hostileText, Parts: []*compactordv1.ResultPart{
				{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: strings.Repeat(hostileText, 5000)}}},
			}},
		}}}},
		said(compactordv1.Role_ROLE_USER, "Go on."),
		said(compactordv1.Role_ROLE_ASSISTANT, hostileText),
	}
}

// pixel is an image.
func pixel(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))))
	return out.Bytes()
}

// compact summarizes all but the last turns of a session.
func (f *filler) compact(id string, turns uint32) {
	f.t.Helper()
	stream, err := f.compactions.Compact(f.t.Context(), &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: id},
		Policy: &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
			Summarize: &compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(turns)},
		}}},
	})
	require.NoError(f.t, err)
	for err == nil {
		_, err = stream.Recv()
	}
	require.ErrorIs(f.t, err, io.EOF)
}

// hideResults hides all results of tools but the newest one.
func (f *filler) hideResults(id string) {
	f.t.Helper()
	answer, err := f.compactions.Prune(f.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: id},
		Policy: &compactordv1.Policy{PruneStrategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{
			HideToolResults: &compactordv1.HideToolResultsStrategy{KeepGroups: proto.Uint32(1), MinimumTokens: proto.Uint32(0)},
		}}},
	})
	require.NoError(f.t, err)
	require.NotEmpty(f.t, answer.GetPrune().GetEdits())
}
