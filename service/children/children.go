// Package children has sessions apart for sub-agents. A child begins with what it may see of its parent's log. When it
// ends, its log is closed and its result is appended to its parent's. The parent can read what is below it, and never
// the other way.
package children

import (
	"context"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// Children begins and ends children, and finds them.
type Children struct {
	Logs     *sessionlog.Logs
	Policies *policies.Resolver
}

// Parent returns what a child of a session says of its parent. It refuses a child that would be too deep, and an id that
// references could not name.
func Parent(
	parent *storagev1.Session, point uint32, childID string, sees compactordv1.ChildSees,
) (*compactordv1.ParentSession, error) {
	depth := parent.GetParent().GetDepth() + 1
	if depth > session.MaxDepth {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_child_depth", "value": strconv.Itoa(session.MaxDepth)},
			"child: the child would be %d deep; it can be %d", depth, session.MaxDepth)
	}
	if !recall.Names(childID) {
		return nil, apierror.InvalidField("new_session_id",
			"the id of a child begins and ends with a letter or digit and has no `#`, so that references can name it")
	}
	return &compactordv1.ParentSession{
		SessionId: parent.GetSessionId(), Uid: parent.GetUid(), Point: point, Depth: depth, Sees: sees,
	}, nil
}

// Below returns the row of a session by its id, if it is below another one: a child of it, or a child of one below it.
// For any other session it returns SESSION_NOT_FOUND, as for one that does not exist.
func (c *Children) Below(ctx context.Context, root *storagev1.Session, id string) (*storagev1.Session, error) {
	path, err := c.path(ctx, root, id)
	if err != nil {
		return nil, err
	}
	return path[0], nil
}

// path returns the rows from a session up to the child of root that it belongs to.
func (c *Children) path(ctx context.Context, root *storagev1.Session, id string) ([]*storagev1.Session, error) {
	var path []*storagev1.Session
	for next, uid := id, ""; len(path) < session.MaxDepth; {
		row, err := c.Logs.Row(ctx, next)
		if apierror.IsSessionNotFound(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		parent := row.GetParent()
		if uid != "" && row.GetUid() != uid || parent == nil {
			break
		}
		path = append(path, row)
		if parent.GetUid() == root.GetUid() {
			return path, nil
		}
		next, uid = parent.GetSessionId(), parent.GetUid()
	}
	return nil, apierror.SessionNotFound(id)
}
