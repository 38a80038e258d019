package sessions

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// everything is the value of --to for all that is stored.
const everything = "all"

// exportedJSON is a line of the export of all that is stored. It has one of the pieces.
type exportedJSON struct {
	SessionID string `json:"session_id"`
	// Kind names the piece.
	Kind    string            `json:"kind"`
	Session *terminal.APIJSON `json:"session,omitempty"`
	// Row is the row of the session in the store. Its form can change with each version.
	Row     json.RawMessage   `json:"row,omitempty"`
	Message *terminal.APIJSON `json:"message,omitempty"`
	Record  *terminal.APIJSON `json:"record,omitempty"`
	Request *terminal.APIJSON `json:"request,omitempty"`
	Child   *terminal.APIJSON `json:"child,omitempty"`
}

// exportAll writes all that is stored of the session, and then of each session below it.
func (c *Export) exportAll(ctx context.Context, a *api.App) (err error) {
	p := a.Progress(c.Quiet)
	defer p.Clear()
	client, err := c.Open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	out := bufio.NewWriter(a.Out)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	for left := []*compactordv1.Session{{SessionId: c.Session}}; len(left) > 0; {
		next := left[0]
		p.Stage("reading session "+next.GetSessionId(), "", 0)
		children, err := exportStored(ctx, client, next, to)
		if below := next.GetUid() != ""; below && api.HasReason(err, "SESSION_NOT_FOUND") {
			p.Say("session %s was deleted meanwhile", next.GetSessionId())
			err = nil
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		left = append(children, left[1:]...)
	}
	p.Clear()
	if err := out.Flush(); err != nil {
		return fmt.Errorf("cannot write the export: %w", err)
	}
	return nil
}

// exportStored writes all that is stored of one session, and returns its children. A session that was created anew in the
// place of a child is left out.
func exportStored(
	ctx context.Context, client *api.Client, s *compactordv1.Session, to *json.Encoder,
) (children []*compactordv1.Session, err error) {
	stream, err := client.Stores.ExportSession(ctx, &compactordv1.ExportSessionRequest{SessionId: s.GetSessionId()})
	for err == nil {
		var piece *compactordv1.ExportSessionResponse
		if piece, err = stream.Recv(); err != nil {
			break
		}
		if uid := piece.GetSession().GetSession().GetUid(); uid != "" && s.GetUid() != "" && uid != s.GetUid() {
			return nil, nil
		}
		if child := piece.GetChild(); child != nil {
			children = append(children, child)
		}
		line, err := lineOf(s.GetSessionId(), piece)
		if err != nil {
			return nil, err
		}
		if err := to.Encode(line); err != nil {
			return nil, fmt.Errorf("cannot write the export: %w", err)
		}
	}
	if errors.Is(err, io.EOF) {
		return children, nil
	}
	return nil, api.RefusedFlags(client.Explain(ctx, err))
}

func lineOf(id string, piece *compactordv1.ExportSessionResponse) (exportedJSON, error) {
	line := exportedJSON{SessionID: id}
	switch item := piece.GetItem().(type) {
	case *compactordv1.ExportSessionResponse_Session:
		line.Kind, line.Session = "session", terminal.Optional(item.Session.GetSession())
		line.Row = json.RawMessage(item.Session.GetRowJson())
	case *compactordv1.ExportSessionResponse_Message:
		line.Kind, line.Message = "message", terminal.Optional(item.Message)
	case *compactordv1.ExportSessionResponse_Record:
		line.Kind, line.Record = "record", terminal.Optional(item.Record)
	case *compactordv1.ExportSessionResponse_Request:
		line.Kind, line.Request = "request", terminal.Optional(item.Request)
	case *compactordv1.ExportSessionResponse_Child:
		line.Kind, line.Child = "child", terminal.Optional(item.Child)
	default:
		return line, errors.New("the daemon sent a piece that this version does not know: use a newer one")
	}
	return line, nil
}
