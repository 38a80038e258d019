package storagetest

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// epoch is the time when the first session of a test is created.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// At returns the time this many seconds after epoch.
func At(seconds int) *timestamppb.Timestamp {
	return timestamppb.New(epoch.Add(time.Duration(seconds) * time.Second))
}

// Draft builds a commit. Its methods append to the log and keep the row's head up to date.
type Draft struct {
	storage.Commit
}

// NewSession returns the draft of a new session, with the first record of its log.
func NewSession(tenant, id, uid string) *Draft {
	d := &Draft{}
	d.Session = &storagev1.Session{
		Tenant:    tenant,
		SessionId: id,
		Uid:       uid,
		CreatedAt: At(0),
		ChangedAt: At(0),
		Head:      &storagev1.Head{},
		Revision:  1,
	}
	return d.Policy()
}

// Next returns the draft of a commit that follows a row. It does not change the row.
func Next(row *storagev1.Session) *Draft {
	d := &Draft{}
	d.Session = proto.CloneOf(row)
	d.Session.Revision++
	return d
}

// Text appends a USER message of one text part.
func (d *Draft) Text(text string) *Draft {
	return d.Message(&compactordv1.Message{
		Role:  compactordv1.Role_ROLE_USER,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}},
	})
}

// Texts appends n messages.
func (d *Draft) Texts(n int) *Draft {
	for range n {
		d.Text(fmt.Sprintf("message %d", d.Session.GetHead().GetNextIndex()))
	}
	return d
}

// Message appends a message.
func (d *Draft) Message(m *compactordv1.Message) *Draft {
	head := d.Session.GetHead()
	d.Messages = append(d.Messages, &compactordv1.LoggedMessage{
		Index:      head.GetNextIndex(),
		Sequence:   head.GetNextSequence(),
		Message:    m,
		Tokens:     7,
		AppendedAt: d.Session.GetChangedAt(),
	})
	head.NextIndex++
	head.NextSequence++
	return d
}

// Record appends a record with the head after it.
func (d *Draft) Record(r *compactordv1.Record) *Draft {
	head := d.Session.GetHead()
	r.Sequence = head.GetNextSequence()
	r.NextIndex = head.GetNextIndex()
	head.NextSequence++
	d.Records = append(d.Records, &storagev1.StoredRecord{Schema: 1, Record: r, Head: proto.CloneOf(head)})
	return d
}

// Policy appends a PolicyChange.
func (d *Draft) Policy() *Draft {
	return d.Record(&compactordv1.Record{
		Kind: &compactordv1.Record_PolicyChange{PolicyChange: &compactordv1.PolicyChange{}},
	})
}

// Compaction appends a compaction entry.
func (d *Draft) Compaction(firstKept uint32, summary string) *Draft {
	return d.Record(&compactordv1.Record{
		Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
			Id:             fmt.Sprintf("entry-%d", d.Session.GetHead().GetNextSequence()),
			Sequence:       d.Session.GetHead().GetNextSequence(),
			FirstKeptIndex: firstKept,
			Summary:        summary,
		}},
	})
}

// Prune appends a prune entry that hides a result of each of these messages.
func (d *Draft) Prune(indexes ...uint32) *Draft {
	entry := &compactordv1.PruneEntry{Sequence: d.Session.GetHead().GetNextSequence()}
	for i, index := range indexes {
		entry.Edits = append(entry.Edits, &compactordv1.Edit{
			Index:       index,
			Part:        uint32(i),
			Kind:        compactordv1.EditKind_EDIT_KIND_HIDE_RESULT,
			Replacement: fmt.Sprintf("hidden by record %d", entry.GetSequence()),
		})
	}
	return d.Record(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}})
}

// Remember adds a request to remember.
func (d *Draft) Remember(id string) *Draft {
	d.Request = &storage.Request{ID: id, Stored: &storagev1.StoredRequest{
		Schema:   1,
		Digest:   []byte("digest of " + id),
		Response: []byte("response to " + id),
		Sequence: d.Session.GetHead().GetNextSequence(),
	}}
	return d
}

// Labels replaces the labels. It takes a key, its value, the next key, and so on.
func (d *Draft) Labels(pairs ...string) *Draft {
	d.Session.Labels = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		d.Session.Labels[pairs[i]] = pairs[i+1]
	}
	return d
}

// ChildOf names the session with this uid as the parent, for new sessions.
func (d *Draft) ChildOf(uid string) *Draft {
	d.Session.Parent = &compactordv1.ParentSession{SessionId: "id of " + uid, Uid: uid, Depth: 1}
	return d
}

// CreatedAt sets the time of creation, for new sessions.
func (d *Draft) CreatedAt(seconds int) *Draft {
	d.Session.CreatedAt = At(seconds)
	return d
}

// ChangedAt sets the time of the change.
func (d *Draft) ChangedAt(seconds int) *Draft {
	d.Session.ChangedAt = At(seconds)
	return d
}

// Ref returns the Ref of the draft's session.
func (d *Draft) Ref() storage.Ref {
	return storage.RefOf(d.Session)
}
