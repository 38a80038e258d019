// Package listsync brings the log of a session in line with the complete list of messages that an agent holds: it
// appends what is new, and goes back by a Revert where the agent changed or dropped the end.
//
// It compares what the list says with pieces of what the session holds. A piece is a message of the log, or what a view
// shows in its place; a list may hold it in either form, since a framework may store the views that it gets. The
// comparison is done on parts, not on messages: providers' shapes merge and divide messages.
//
// A list is compared as a whole only once. From then on the session's row stands for it: the next list that begins with
// the same elements is compared from there on. Elements that the log has are named by a digest, so that a client need
// not send them again.
package listsync

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/intake"
	"github.com/compactord/compactord/service/sessionlog"
)

// Syncer syncs lists with the sessions of Logs.
type Syncer struct {
	Logs   *sessionlog.Logs
	Intake *intake.Intake
	// View returns a view of a session, as GetLLMView does.
	View func(context.Context, *compactordv1.GetLLMViewRequest) (*compactordv1.GetLLMViewResponse, error)
}
