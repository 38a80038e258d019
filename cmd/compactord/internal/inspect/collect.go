package inspect

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxViews is how many views as of earlier points a file has, those of the newest points.
const maxViews = 200

// held is what a file shows: the answers of the API from which the page is made, in the form that service/inspector/file/api.js
// reads. Each message of a view is held once, however many views have it.
type held struct {
	About    []string                    `json:"about"`
	Session  any                         `json:"session"`
	Log      []any                       `json:"log"`
	Dialogue []uint32                    `json:"dialogue"`
	Records  []any                       `json:"records"`
	Messages []any                       `json:"messages"`
	Views    []heldView                  `json:"views"`
	Requests map[string]*renderedRequest `json:"requests"`

	// name is that of the conversation, for people, and uid names the session for placeholders of secrets.
	name, uid string
	// older is how many points have no view, since there are too many.
	older int
	// places are those of Messages, by their JSON.
	places map[string]int
}

// heldView is a view: the places of its messages, and its reports. AsOf is nil for the newest one.
type heldView struct {
	AsOf       *uint32 `json:"asOf,omitempty"`
	Messages   []int   `json:"messages"`
	Report     any     `json:"report"`
	ViewReport any     `json:"viewReport"`
}

// renderedRequest is the view in a dialect, or why there is none.
type renderedRequest struct {
	System   []string `json:"system,omitempty"`
	Messages []string `json:"messages,omitempty"`
	// Sources are for each of Messages the first and the end of the messages of the view that it was made from.
	Sources [][2]uint32 `json:"sources,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// collect reads all that a file shows of a conversation.
func collect(ctx context.Context, c *conversation.Conversation) (*held, error) {
	answer, err := c.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	if err != nil {
		return nil, api.RefusedFlags(err)
	}
	name := c.Name()
	if c.Transcript != nil {
		// Whoever gets the file need not know the folders of whoever sends it.
		name = filepath.Base(name)
	}
	h := &held{name: name, uid: answer.GetSession().GetUid(), places: make(map[string]int)}
	if h.Session, err = plain(answer); err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context, *conversation.Conversation) error{h.readLog, h.readRecords, h.readRequests} {
		if err := read(ctx, c); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// plain returns a message as the API has it in JSON.
func plain(m proto.Message) (value any, err error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	return value, json.Unmarshal(text, &value)
}

func (h *held) readLog(ctx context.Context, c *conversation.Conversation) error {
	request := &compactordv1.ListMessagesRequest{SessionId: c.Session, PageSize: 1000, MaxBytes: c.PageBytes}
	for {
		page, err := c.Sessions.ListMessages(ctx, request)
		if err != nil {
			return err
		}
		for _, logged := range page.GetMessages() {
			m, err := plain(logged)
			if err != nil {
				return err
			}
			h.Log = append(h.Log, m)
		}
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	request.Listing = compactordv1.MessageListing_MESSAGE_LISTING_DIALOGUE
	for {
		page, err := c.Sessions.ListMessages(ctx, request)
		if err != nil {
			return err
		}
		for _, logged := range page.GetMessages() {
			h.Dialogue = append(h.Dialogue, logged.GetIndex())
		}
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			return nil
		}
	}
}

// readRecords reads the records, and the views as of the points that the page lists: each record, and the end of the messages
// before it.
func (h *held) readRecords(ctx context.Context, c *conversation.Conversation) error {
	if err := h.addView(ctx, c, nil); err != nil {
		return err
	}
	request := &compactordv1.ListRecordsRequest{SessionId: c.Session, PageSize: 1000, MaxBytes: c.PageBytes}
	var points []uint32
	for {
		page, err := c.Sessions.ListRecords(ctx, request)
		if err != nil {
			return err
		}
		for _, record := range page.GetRecords() {
			r, err := plain(record)
			if err != nil {
				return err
			}
			h.Records = append(h.Records, r)
			if s := record.GetSequence(); s > 0 {
				points = append(points, s-1)
			}
			points = append(points, record.GetSequence())
		}
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	answer, err := c.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	if err != nil {
		return err
	}
	points = append(points, answer.GetSession().GetPoint())
	slices.Sort(points)
	points = slices.Compact(points)
	h.older = max(0, len(points)-maxViews)
	for _, point := range slices.Backward(points[h.older:]) {
		if err := h.addView(ctx, c, &point); err != nil {
			return err
		}
	}
	return nil
}

// addView reads the view as of a point, or the newest one.
func (h *held) addView(ctx context.Context, c *conversation.Conversation, asOf *uint32) error {
	view := heldView{AsOf: asOf, Messages: []int{}}
	request := &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.Session}, AsOf: asOf, MaxBytes: c.PageBytes,
	}
	for more := true; more; {
		answer, err := c.Compactions.GetLLMView(ctx, request)
		if err != nil {
			return err
		}
		view.Messages = view.Messages[:min(int(answer.GetUnchangedPrefix()), len(view.Messages))]
		for _, m := range answer.GetMessages() {
			place, err := h.placeOf(m)
			if err != nil {
				return err
			}
			view.Messages = append(view.Messages, place)
		}
		if view.Report, err = plain(answer.GetReport()); err != nil {
			return err
		}
		if view.ViewReport, err = plain(answer.GetViewReport()); err != nil {
			return err
		}
		request.ViewToken, more = answer.GetViewToken(), answer.GetHasMore()
	}
	h.Views = append(h.Views, view)
	return nil
}

// placeOf returns where a message of a view is held.
func (h *held) placeOf(m *compactordv1.ViewMessage) (int, error) {
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return 0, err
	}
	if place, known := h.places[string(wire)]; known {
		return place, nil
	}
	value, err := plain(m)
	if err != nil {
		return 0, err
	}
	h.places[string(wire)] = len(h.Messages)
	h.Messages = append(h.Messages, value)
	return len(h.Messages) - 1, nil
}

// readRequests reads the newest view in each dialect. Some have none while a tool call is open.
func (h *held) readRequests(ctx context.Context, c *conversation.Conversation) error {
	h.Requests = make(map[string]*renderedRequest)
	for number, name := range compactordv1.Dialect_name {
		if number == 0 {
			continue
		}
		rendered := &renderedRequest{}
		request := &compactordv1.GetLLMViewRequest{
			Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.Session},
			Dialect: compactordv1.Dialect(number), MaxBytes: c.PageBytes, WithSources: true,
		}
		for more := true; more; {
			answer, err := c.Compactions.GetLLMView(ctx, request)
			if err != nil && ctx.Err() == nil {
				rendered = &renderedRequest{Error: err.Error()}
				break
			}
			if err != nil {
				return err
			}
			kept := min(int(answer.GetUnchangedPrefix()), len(rendered.Messages))
			rendered.Messages = append(rendered.Messages[:kept], answer.GetMessagesJson()...)
			rendered.Sources = rendered.Sources[:kept]
			for _, source := range answer.GetSources() {
				rendered.Sources = append(rendered.Sources, [2]uint32{source.GetStart(), source.GetEnd()})
			}
			if len(answer.GetSystemJson()) > 0 {
				rendered.System = answer.GetSystemJson()
			}
			request.ViewToken, more = answer.GetViewToken(), answer.GetHasMore()
		}
		h.Requests[name] = rendered
	}
	return nil
}
