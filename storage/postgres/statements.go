package postgres

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/compactord/compactord/storage"
)

// The statements. Their parameters have names.
var (
	//go:embed sql/advance.sql
	advanceSQL string
	//go:embed sql/alive.sql
	aliveSQL string
	//go:embed sql/append.sql
	appendSQL string
	//go:embed sql/append_chunks.sql
	appendChunksSQL string
	//go:embed sql/append_edits.sql
	appendEditsSQL string
	//go:embed sql/append_messages.sql
	appendMessagesSQL string
	//go:embed sql/append_records.sql
	appendRecordsSQL string
	//go:embed sql/bury.sql
	burySQL string
	//go:embed sql/children.sql
	childrenSQL string
	//go:embed sql/compactions.sql
	compactionsSQL string
	//go:embed sql/count.sql
	countSQL string
	//go:embed sql/create.sql
	createSQL string
	//go:embed sql/dead.sql
	deadSQL string
	//go:embed sql/delete.sql
	deleteSQL string
	//go:embed sql/edits.sql
	editsSQL string
	//go:embed sql/forget.sql
	forgetSQL string
	//go:embed sql/label.sql
	labelSQL string
	//go:embed sql/leave.sql
	leaveSQL string
	//go:embed sql/list.sql
	listSQL string
	//go:embed sql/lock.sql
	lockSQL string
	//go:embed sql/messages.sql
	messagesSQL string
	//go:embed sql/outcome.sql
	outcomeSQL string
	//go:embed sql/alone.sql
	aloneSQL string
	//go:embed sql/begin_receiving.sql
	beginReceivingSQL string
	//go:embed sql/end_receiving.sql
	endReceivingSQL string
	//go:embed sql/receive_requests.sql
	receiveRequestsSQL string
	//go:embed sql/record_before.sql
	recordBeforeSQL string
	//go:embed sql/records.sql
	recordsSQL string
	//go:embed sql/remember.sql
	rememberSQL string
	//go:embed sql/request.sql
	requestSQL string
	//go:embed sql/requests.sql
	requestsSQL string
	//go:embed sql/revisions.sql
	revisionsSQL string
	//go:embed sql/running.sql
	runningSQL string
	//go:embed sql/session.sql
	sessionSQL string
	//go:embed sql/stay.sql
	staySQL string
	//go:embed sql/sweep_chunks.sql
	sweepChunksSQL string
	//go:embed sql/sweep_edits.sql
	sweepEditsSQL string
	//go:embed sql/sweep_messages.sql
	sweepMessagesSQL string
	//go:embed sql/sweep_records.sql
	sweepRecordsSQL string
	//go:embed sql/sweep_requests.sql
	sweepRequestsSQL string
	//go:embed sql/uid.sql
	uidSQL string
	//go:embed sql/unlabel.sql
	unlabelSQL string
	//go:embed sql/version.sql
	versionSQL string
)

// The statements on drafts.
var (
	//go:embed sql/begin_draft.sql
	beginDraftSQL string
	//go:embed sql/lock_draft.sql
	lockDraftSQL string
	//go:embed sql/create_of_draft.sql
	createOfDraftSQL string
	//go:embed sql/end_draft.sql
	endDraftSQL string
	//go:embed sql/drafts.sql
	draftsSQL string
	//go:embed sql/has_draft.sql
	hasDraftSQL string
	//go:embed sql/discard_draft.sql
	discardDraftSQL string
	//go:embed sql/abandon_drafts.sql
	abandonDraftsSQL string
)

// appendForm is what a commit that appends messages has.
type appendForm struct{ one, remembers bool }

// appendStatements are those of commits that append messages.
var appendStatements = map[appendForm]string{
	{one: false, remembers: false}: appending(manyMessages, ""),
	{one: false, remembers: true}:  appending(manyMessages, rememberAdvanced),
	{one: true, remembers: false}:  appending(oneMessage, ""),
	{one: true, remembers: true}:   appending(oneMessage, rememberAdvanced),
}

const (
	manyMessages = `m.number, m.size, m.body
FROM advanced a, unnest(@numbers::bigint[], @sizes::bigint[], @bodies::bytea[]) AS m (number, size, body)`
	// oneMessage spares the server the making of a table for one row.
	oneMessage       = "@number::bigint, @size::bigint, @message_body::bytea FROM advanced a"
	rememberAdvanced = `, remembered AS (
	INSERT INTO requests (ordinal, id, revision, body)
	SELECT a.ordinal, @request, a.revision, @request_body FROM advanced a
)`
)

func appending(messages, remember string) string {
	return strings.NewReplacer("{advance}", advanceSQL, "{remember}", remember, "{messages}", messages).Replace(appendSQL)
}

// forgetStatement forgets all but the newest requests of a session.
var forgetStatement = strings.NewReplacer(
	"{remembered}", strconv.Itoa(storage.RememberedRequests), "{kind}", strconv.Itoa(int(requestBody)),
).Replace(forgetSQL)
