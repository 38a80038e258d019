package postgres

import (
	"context"
	"errors"
	"maps"

	"github.com/jackc/pgx/v5"
)

// forgetEvery is after how many revisions of a session its oldest requests are forgotten. For that all that it remembers are read.
const forgetEvery = 512

// commitID names one try of one commit.
type commitID [8]byte

// batch returns the statements of a commit, which are one transaction. The first changes or makes the row, and says that it
// affects none where it does not; then the others append nothing.
func (e *encoded) batch(ctx context.Context, id commitID, create, changesTraits bool) (*pgx.Batch, error) {
	b := &pgx.Batch{}
	var failed error
	common := pgx.NamedArgs{"tenant": []byte(e.ref.Tenant), "id": []byte(e.ref.SessionID), "commit": id[:]}
	queue := func(statement string, args pgx.NamedArgs) {
		maps.Copy(args, common)
		text, values, err := numberedOf(ctx, statement, args)
		failed = errors.Join(failed, err)
		b.Queue(text, values...)
	}
	if create {
		queue(e.create())
		e.queueMessages(queue)
	} else {
		queue(e.advance(changesTraits))
	}
	if changesTraits && !create {
		queue(unlabelSQL, pgx.NamedArgs{})
	}
	if changesTraits && len(e.row.GetLabels()) > 0 {
		queue(labelSQL, e.labelArgs())
	}
	e.queueLog(queue, !create && len(e.messages.numbers) > 0)
	if e.draft != "" {
		queue(endDraftSQL, pgx.NamedArgs{"draft": e.draft})
	}
	return b, failed
}

// create returns the statement that makes the row.
func (e *encoded) create() (statement string, args pgx.NamedArgs) {
	args = e.rowArgs()
	if e.draft == "" {
		return createSQL, args
	}
	args["draft"] = e.draft
	return createOfDraftSQL, args
}

// advance returns the statement that replaces the row. It appends the messages, and remembers the request, where there are
// some.
func (e *encoded) advance(changesTraits bool) (statement string, args pgx.NamedArgs) {
	args = e.rowArgs()
	args["start_index"], args["start_sequence"] = e.startIndex, e.startSequence
	args["changes_traits"] = changesTraits
	args["previous_seconds"], args["previous_nanos"] = nil, nil
	if e.changed != nil {
		args["previous_seconds"], args["previous_nanos"] = e.changed.GetSeconds(), e.changed.GetNanos()
	}
	if len(e.messages.numbers) == 0 {
		return advanceSQL, args
	}
	one := len(e.messages.numbers) == 1
	if one {
		args["number"], args["size"], args["message_body"] = e.messages.numbers[0], e.messages.sizes[0], e.messages.bodies[0]
	} else {
		maps.Copy(args, e.messageArgs())
	}
	if e.requestID != nil {
		args["request"], args["request_body"] = e.requestID, e.requestBody
	}
	return appendStatements[appendForm{one: one, remembers: e.requestID != nil}], args
}

// queueMessages queues the messages of a new session.
func (e *encoded) queueMessages(queue func(statement string, args pgx.NamedArgs)) {
	if len(e.messages.numbers) > 0 {
		queue(appendMessagesSQL, e.messageArgs())
	}
}

func (e *encoded) messageArgs() pgx.NamedArgs {
	return pgx.NamedArgs{"numbers": e.messages.numbers, "sizes": e.messages.sizes, "bodies": e.messages.bodies}
}

// queueLog queues what the commit appends to the log beside messages. remembered says that its request is queued.
func (e *encoded) queueLog(queue func(statement string, args pgx.NamedArgs), remembered bool) {
	if len(e.records.sequences) > 0 {
		queue(appendRecordsSQL, pgx.NamedArgs{
			"sequences": e.records.sequences, "first_kept": e.records.firstKept, "bodies": e.records.bodies,
		})
	}
	if len(e.edits.numbers) > 0 {
		queue(appendEditsSQL, pgx.NamedArgs{
			"numbers": e.edits.numbers, "sequences": e.edits.sequences, "bodies": e.edits.bodies,
		})
	}
	if len(e.chunks.kinds) > 0 {
		queue(appendChunksSQL, pgx.NamedArgs{
			"kinds": e.chunks.kinds, "numbers": e.chunks.numbers, "sequences": e.chunks.sequences,
			"chunks": e.chunks.chunks, "bodies": e.chunks.bodies,
		})
	}
	if e.requestID != nil && !remembered {
		queue(rememberSQL, pgx.NamedArgs{"request": e.requestID, "body": e.requestBody})
	}
	if len(e.received.ids) > 0 {
		queue(receiveRequestsSQL, pgx.NamedArgs{
			"ids": e.received.ids, "revisions": e.received.revisions, "bodies": e.received.bodies,
		})
	}
	if e.row.GetRevision()%forgetEvery == 0 && !e.receives {
		queue(forgetStatement, pgx.NamedArgs{})
	}
}

// rowArgs returns the columns of the row.
func (e *encoded) rowArgs() pgx.NamedArgs {
	head := e.row.GetHead()
	args := pgx.NamedArgs{
		"uid": []byte(e.ref.UID), "revision": int64(e.row.GetRevision()), "previous": e.previous,
		"next_index": int64(head.GetNextIndex()), "next_sequence": int64(head.GetNextSequence()),
		"created_seconds": e.row.GetCreatedAt().GetSeconds(), "created_nanos": e.row.GetCreatedAt().GetNanos(),
		"changed_seconds": e.row.GetChangedAt().GetSeconds(), "changed_nanos": e.row.GetChangedAt().GetNanos(),
		"running": len(e.row.GetRunning()) > 0, "traits": e.traits, "body": e.body, "parent_uid": []byte(nil),
	}
	if parent := e.row.GetParent(); parent != nil {
		args["parent_uid"] = []byte(parent.GetUid())
	}
	return args
}

func (e *encoded) labelArgs() pgx.NamedArgs {
	count := len(e.row.GetLabels())
	names, values := make([][]byte, 0, count), make([][]byte, 0, count)
	for name, value := range e.row.GetLabels() {
		names, values = append(names, []byte(name)), append(values, []byte(value))
	}
	return pgx.NamedArgs{"names": names, "values": values}
}
