package corpus_test

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// story is an invented transcript of a coding agent: turns with one step and with many, parallel, failing, aborted and
// open calls, media, thinking, to-dos, developer messages in the middle, and results of all sizes.
func story() []*compactordv1.Message {
	s := &storyWriter{}
	s.says(compactordv1.Role_ROLE_SYSTEM, prose("You are a coding agent.", 200))
	s.says(compactordv1.Role_ROLE_DEVELOPER, prose("Tests run by make test.", 40))
	s.firstTurn()
	s.screenshots()
	s.migration()
	s.brokenOff()
	s.smallTalk()
	s.review()
	s.unfinished()
	return s.messages
}

// firstTurn is an ordinary task that begins with a picture: to-dos, parallel reads, an error and its fix.
func (s *storyWriter) firstTurn() {
	s.says(compactordv1.Role_ROLE_USER, prose("The list command needs --json, as in the sketch.", 60), picture("sketch.png"))
	s.steps("todo_write", `{"todos":[{"content":"write --json","status":"in_progress"},{"content":"test it","status":"pending"}]}`)
	s.answered(10)
	s.thinks(120, "read cmd/list.go", "read cmd/print.go", "read go.mod")
	s.answered(900)
	s.answered(640)
	s.answered(90)
	s.thinks(60, "edit cmd/list.go")
	s.answered(12)
	s.thinks(0, "bash make test")
	s.fails(700)
	s.thinks(200, "edit cmd/print.go", "bash make test")
	s.answered(12)
	s.answered(260)
	s.says(compactordv1.Role_ROLE_ASSISTANT, prose("The list command writes JSON now.", 90))
}

// screenshots has results with media.
func (s *storyWriter) screenshots() {
	s.says(compactordv1.Role_ROLE_USER, prose("Look at how the table is drawn.", 30))
	for _, name := range []string{"wide.png", "narrow.png", "fixed.png"} {
		s.thinks(80, "screenshot table")
		s.answered(15, name)
	}
	s.says(compactordv1.Role_ROLE_ASSISTANT, prose("The columns align again.", 50))
}

// migration is one request with many steps, and a developer message in the middle.
func (s *storyWriter) migration() {
	s.says(compactordv1.Role_ROLE_USER, prose("Move the store to the new schema, file by file.", 120))
	s.steps("todo_write", `{"todos":[{"content":"move 14 files","status":"in_progress"}]}`)
	s.answered(10)
	for i, tokens := range []int{1200, 700, 3000, 450, 820, 1500, 300} {
		s.thinks(40*(i%3), fmt.Sprintf("read store/file%d.go", i))
		s.answered(tokens)
		s.thinks(0, fmt.Sprintf("edit store/file%d.go", i))
		s.answered(8)
	}
	s.says(compactordv1.Role_ROLE_DEVELOPER, prose("Half of the time is gone.", 20))
	s.thinks(90, "bash make test")
	s.fails(1900)
	s.thinks(30, "read store/file2.go", "bash git diff")
	s.answered(3000)
	s.answered(2200)
	s.steps("todo_write", `{"todos":[{"content":"move 14 files","status":"completed"},{"content":"run the tests","status":"pending"}]}`)
	s.answered(10)
	s.thinks(0, "bash make test")
	s.answered(500)
	s.says(compactordv1.Role_ROLE_ASSISTANT, prose("All files are moved.", 140))
}

// brokenOff ends with an aborted call, which the next message of the user gives up.
func (s *storyWriter) brokenOff() {
	s.says(compactordv1.Role_ROLE_USER, prose("Now delete the old schema.", 20))
	s.thinks(20, "bash rm -r old")
	s.messages[len(s.messages)-1].StopReason = compactordv1.StopReason_STOP_REASON_ABORTED
	s.says(compactordv1.Role_ROLE_USER, prose("Stop, keep it for one release.", 25))
	s.thinks(10, "bash git log old")
	s.says(compactordv1.Role_ROLE_USER, prose("Never mind the log.", 10))
	s.says(compactordv1.Role_ROLE_ASSISTANT, prose("The old schema stays.", 30))
}

// smallTalk has turns without tools.
func (s *storyWriter) smallTalk() {
	for _, about := range []string{"the name", "the release"} {
		s.says(compactordv1.Role_ROLE_USER, prose("A question on "+about+".", 40))
		s.says(compactordv1.Role_ROLE_ASSISTANT, prose("An answer on "+about+".", 350))
	}
}

// review is a second long turn, with parallel calls.
func (s *storyWriter) review() {
	s.says(compactordv1.Role_ROLE_USER, prose("Review all commands.", 30))
	for i, tokens := range []int{600, 350, 1400, 800, 260, 950} {
		s.thinks(50, fmt.Sprintf("read cmd/a%d.go", i), fmt.Sprintf("grep TODO cmd/a%d.go", i))
		s.answered(tokens)
		s.answered(tokens / 3)
	}
	s.says(compactordv1.Role_ROLE_ASSISTANT, prose("Three commands lack a test.", 300))
}

// unfinished is a turn that has not ended when the story ends.
func (s *storyWriter) unfinished() {
	s.says(compactordv1.Role_ROLE_USER, prose("Write these tests.", 25))
	for i, tokens := range []int{700, 1100, 400} {
		s.thinks(35, fmt.Sprintf("bash go test ./cmd/a%d", i))
		s.answered(tokens)
	}
	s.thinks(25, "read cmd/a2_test.go", "bash make test")
	s.answered(540)
}

// storyWriter writes a transcript. Results answer the calls in their order.
type storyWriter struct {
	messages []*compactordv1.Message
	open     []*compactordv1.ToolCall
	calls    int
}

func (s *storyWriter) says(role compactordv1.Role, parts ...*compactordv1.Part) {
	if role == compactordv1.Role_ROLE_USER {
		s.open = nil
	}
	s.messages = append(s.messages, &compactordv1.Message{Role: role, Parts: parts})
}

// thinks adds a message with thinking of about this many tokens, and calls, each by the tool's name and its main
// argument.
func (s *storyWriter) thinks(tokens int, calls ...string) {
	var parts []*compactordv1.Part
	if tokens > 0 {
		parts = append(parts, &compactordv1.Part{Kind: &compactordv1.Part_Thinking{
			Thinking: &compactordv1.ThinkingPart{Text: filled("So the next step is clear.", tokens)},
		}})
	}
	for _, c := range calls {
		tool, argument, _ := strings.Cut(c, " ")
		key := map[string]string{"bash": "command", "screenshot": "what", "grep": "pattern"}[tool]
		if key == "" {
			key = "path"
		}
		parts = append(parts, s.call(tool, fmt.Sprintf(`{%q:%q}`, key, argument)))
	}
	s.says(compactordv1.Role_ROLE_ASSISTANT, parts...)
}

// steps adds a message with a single call.
func (s *storyWriter) steps(tool, arguments string) {
	s.says(compactordv1.Role_ROLE_ASSISTANT, s.call(tool, arguments))
}

func (s *storyWriter) call(tool, arguments string) *compactordv1.Part {
	s.calls++
	c := &compactordv1.ToolCall{Id: fmt.Sprintf("call%d", s.calls), Name: tool, Arguments: arguments}
	s.open = append(s.open, c)
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: c}}
}

// answered adds the result of the oldest open call, with pictures.
func (s *storyWriter) answered(tokens int, pictures ...string) *compactordv1.ToolResult {
	call := s.open[0]
	s.open = s.open[1:]
	r := &compactordv1.ToolResult{CallId: call.GetId(), Parts: []*compactordv1.ResultPart{
		{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: filled("This is what "+call.GetName()+" says.", tokens)}}},
	}}
	for _, name := range pictures {
		r.Parts = append(r.Parts, &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{
			Media: picture(name).GetMedia(),
		}})
	}
	s.says(compactordv1.Role_ROLE_TOOL, &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: r}})
	return r
}

func (s *storyWriter) fails(tokens int) { s.answered(tokens).IsError = true }

func picture(name string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
		MimeType: "image/png", Name: name, Source: &compactordv1.MediaPart_Uri{Uri: "https://host.example/" + name},
	}}}
}

func prose(sentence string, tokens int) *compactordv1.Part {
	return session.TextPart(filled(sentence, tokens))
}

// filled returns a sentence, followed by lines that fill it up to about this many tokens.
func filled(sentence string, tokens int) string {
	var b strings.Builder
	b.WriteString(sentence)
	for line := 1; b.Len() < 4*tokens; line++ {
		fmt.Fprintf(&b, "\nLine %d of it has nothing that matters.", line)
	}
	return b.String()
}
