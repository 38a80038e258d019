package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Watch is `compactord watch`.
type Watch struct {
	Session string  `help:"Session to watch." placeholder:"ID" required:""`
	Addr    string  `env:"COMPACTORD_ADDR" help:"Daemon to talk to (default: ${default_addr})." placeholder:"HOST:PORT|unix:PATH"`
	Store   string  `hidden:"" type:"path"`
	From    *uint32 `help:"Begin at this sequence, in place of now; 0 is the beginning of the log." placeholder:"SEQUENCE"`
	Events  bool    `help:"Show how running compactions go on."`
	JSON    bool    `help:"Print one JSON document a line, each as the API gives it." name:"json"`
}

// Help is printed below the flags.
func (c *Watch) Help() string {
	return `What is written to the session is shown as it comes, until Ctrl-C. This needs a daemon: a store that is watched would be
locked to all who write.`
}

// Run watches a session.
func (c *Watch) Run(ctx context.Context, a *api.App) (err error) {
	if c.Store != "" {
		return terminal.Advise(terminal.Usagef("--store: watching needs a daemon, since nobody else can write to a store while it is open here"),
			"Start one on this store: %s\nThen: %s", terminal.Command("serve"), terminal.Again("--addr", api.DefaultListen).But("store"))
	}
	client, err := (&api.Where{Addr: c.Addr}).Open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	stream, err := client.Sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{
		SessionId: c.Session, FromSequence: c.From, Events: c.Events,
	})
	if err != nil {
		return client.Explain(ctx, err)
	}
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) || ctx.Err() != nil && errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
			// A person ends a watch by Ctrl-C: that is no failure.
			return nil
		}
		if err != nil {
			return api.RefusedFlags(client.Explain(ctx, err))
		}
		err = c.show(a, answer)
		if errors.Is(err, syscall.EPIPE) {
			// Whoever read has seen enough: that ends a watch as a Ctrl-C does.
			a.Out.Reset(io.Discard)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *Watch) show(a *api.App, answer *compactordv1.WatchSessionResponse) error {
	text := terminal.InLine(watchedText(answer))
	if c.JSON {
		line, err := json.Marshal(terminal.WholeAnswer(answer))
		if err != nil {
			return err
		}
		text = string(line)
	}
	if text == "" {
		return nil
	}
	fmt.Fprintln(a.Out, text)
	// Whoever reads wants each line when it comes.
	if err := a.Out.Flush(); err != nil {
		return terminal.AsOutput(err)
	}
	return nil
}

// watchedText says in one line what happened; empty for what people need not see.
func watchedText(answer *compactordv1.WatchSessionResponse) string {
	switch k := answer.GetKind().(type) {
	case *compactordv1.WatchSessionResponse_Message:
		m := k.Message.GetMessage()
		return fmt.Sprintf("%5d  #%d %s  %s  %s", k.Message.GetSequence(), k.Message.GetIndex(), roleName(m.GetRole()),
			terminal.Count(k.Message.GetTokens(), "token"), gist(m))
	case *compactordv1.WatchSessionResponse_Record:
		return fmt.Sprintf("%5d  %s", k.Record.GetSequence(), recordText(k.Record))
	case *compactordv1.WatchSessionResponse_Event:
		return eventText(k.Event)
	default:
		return ""
	}
}

// gistRunes is how much of a message one line shows.
const gistRunes = 80

// gist is the beginning of a message in one line.
func gist(m *compactordv1.Message) string {
	texts := make([]string, len(m.GetParts()))
	for i, p := range m.GetParts() {
		texts[i] = conversation.PartText(p)
	}
	runes := []rune(strings.Join(strings.Fields(strings.Join(texts, " ")), " "))
	if len(runes) > gistRunes {
		return string(runes[:gistRunes]) + " ..."
	}
	return string(runes)
}

func eventText(e *compactordv1.CompactionEvent) string {
	const before = "       compaction: "
	switch k := e.GetEvent().(type) {
	case *compactordv1.CompactionEvent_Started:
		return before + "started, " + terminal.Count(k.Started.GetPlan().GetTokensBefore(), "token")
	case *compactordv1.CompactionEvent_Progress:
		return fmt.Sprintf("%s%s %s of %s", before, terminal.EnumName(k.Progress.GetStage(), "COMPACTION_STAGE_"),
			terminal.Number(k.Progress.GetDone()), terminal.Number(k.Progress.GetTotal()))
	case *compactordv1.CompactionEvent_Completed:
		return before + "completed"
	case *compactordv1.CompactionEvent_Skipped:
		return before + "skipped: " + k.Skipped.GetMessage()
	case *compactordv1.CompactionEvent_Failed:
		return before + "failed: " + k.Failed.GetMessage()
	case *compactordv1.CompactionEvent_Cancelled:
		return before + "cancelled: " + k.Cancelled.GetMessage()
	default:
		return ""
	}
}
