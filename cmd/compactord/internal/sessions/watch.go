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
	Session string `help:"Session to watch." placeholder:"ID" required:""`
	Addr    string `env:"COMPACTORD_ADDR" help:"Address of the daemon (default: ${default_addr})." placeholder:"HOST:PORT|unix:PATH"`
	api.Security
	Store  string  `hidden:"" type:"store"`
	From   *uint32 `help:"Begin at this sequence, instead of now; 0 is the beginning of the log." placeholder:"SEQUENCE"`
	Events bool    `help:"Show the progress of running compactions."`
	JSON   bool    `help:"Print one JSON document a line, each as the API returns it." name:"json"`
	terminal.QuietFlag
}

// Help is printed below the flags.
func (c *Watch) Help() string {
	return `It runs until Ctrl-C. It needs a daemon: a command that watched a store would lock it for all writers.`
}

// Run watches a session.
func (c *Watch) Run(ctx context.Context, a *api.App) (err error) {
	if c.Store != "" {
		return terminal.Advise(terminal.Usagef("--store: watching needs a daemon, since no other process can write to a store that is open here"),
			"Start one on this store: %s\nThen: %s", terminal.Command("serve"), terminal.Again("--addr", api.DefaultListen).But("store"))
	}
	client, err := (&api.Where{Addr: c.Addr, Security: c.Security}).Open(ctx, a, false)
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
			// Ctrl-C is the usual end of a watch and no failure.
			return nil
		}
		if err != nil {
			return api.RefusedFlags(client.Explain(ctx, err))
		}
		err = c.show(a, answer)
		if errors.Is(err, syscall.EPIPE) {
			// The reader has closed the pipe, which ends a watch like Ctrl-C.
			a.Out.Reset(io.Discard)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *Watch) show(a *api.App, answer *compactordv1.WatchSessionResponse) error {
	if started := answer.GetStarted(); started != nil && a.ErrTerminal && !c.Quiet {
		fmt.Fprintf(a.Stderr, "watching session %s from sequence %s on; Ctrl-C ends it\n", terminal.Printable(c.Session),
			terminal.Number(started.GetFromSequence()))
	}
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
	// A watcher needs each line at once.
	if err := a.Out.Flush(); err != nil {
		return terminal.AsOutput(err)
	}
	return nil
}

// watchedText describes in one line what happened. It is empty for events that people need not see.
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

// gistRunes is the length of a gist, in characters.
const gistRunes = 80

// gist returns the beginning of a message as one line.
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
