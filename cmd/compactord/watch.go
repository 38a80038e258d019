package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// watchCommand is `compactord watch`.
type watchCommand struct {
	Session string  `help:"Session to watch." placeholder:"ID" required:""`
	Addr    string  `env:"COMPACTORD_ADDR" help:"Daemon to talk to (default: ${default_addr})." placeholder:"HOST:PORT|unix:PATH"`
	Store   string  `hidden:"" type:"path"`
	From    *uint32 `help:"Begin at this sequence, in place of now; 0 is the beginning of the log." placeholder:"SEQUENCE"`
	Events  bool    `help:"Show how running compactions go on."`
	JSON    bool    `help:"Print one JSON document a line, each as the API gives it." name:"json"`
}

// Help is printed below the flags.
func (c *watchCommand) Help() string {
	return `What is written to the session is shown as it comes, until Ctrl-C. This needs a daemon: a store that is watched would be
locked to all who write.`
}

// Run watches a session.
func (c *watchCommand) Run(ctx context.Context, a *app) (err error) {
	if c.Store != "" {
		return advise(usagef("--store: watching needs a daemon, since nobody else can write to a store while it is open here"),
			"Start one on this store: %s\nThen: %s", command("serve"), again("--addr", defaultListen).but("store"))
	}
	client, err := (&where{Addr: c.Addr}).open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.close()) }()
	stream, err := client.sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{
		SessionId: c.Session, FromSequence: c.From, Events: c.Events,
	})
	if err != nil {
		return client.wrong(ctx, err)
	}
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) || ctx.Err() != nil && errors.Is(context.Cause(ctx), errInterrupted) {
			// A person ends a watch by Ctrl-C: that is no failure.
			return nil
		}
		if err != nil {
			return refusedFlags(client.wrong(ctx, err))
		}
		err = c.show(a, answer)
		if errors.Is(err, syscall.EPIPE) {
			// Whoever read has seen enough: that ends a watch as a Ctrl-C does.
			a.out.Reset(io.Discard)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *watchCommand) show(a *app, answer *compactordv1.WatchSessionResponse) error {
	text := inLine(watchedText(answer))
	if c.JSON {
		line, err := json.Marshal(wholeAnswer(answer))
		if err != nil {
			return err
		}
		text = string(line)
	}
	if text == "" {
		return nil
	}
	fmt.Fprintln(a.out, text)
	// Whoever reads wants each line when it comes.
	if err := a.out.Flush(); err != nil {
		return asOutput(err)
	}
	return nil
}

// watchedText says in one line what happened; empty for what people need not see.
func watchedText(answer *compactordv1.WatchSessionResponse) string {
	switch k := answer.GetKind().(type) {
	case *compactordv1.WatchSessionResponse_Message:
		m := k.Message.GetMessage()
		return fmt.Sprintf("%5d  #%d %s  %s  %s", k.Message.GetSequence(), k.Message.GetIndex(), roleName(m.GetRole()),
			count(k.Message.GetTokens(), "token"), gist(m))
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
		texts[i] = partText(p)
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
		return before + "started, " + count(k.Started.GetPlan().GetTokensBefore(), "token")
	case *compactordv1.CompactionEvent_Progress:
		return fmt.Sprintf("%s%s %s of %s", before, enumName(k.Progress.GetStage(), "COMPACTION_STAGE_"),
			number(k.Progress.GetDone()), number(k.Progress.GetTotal()))
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
