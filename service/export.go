package service

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

const (
	// requestChunk is the number of remembered requests that are read at a time. It is small since an answer can hold a
	// long summary.
	requestChunk = 16
	// childChunk is the number of children that are read at a time.
	childChunk = 100
)

// ExportSession implements compactordv1.StoreServiceServer. The log up to the row's head never changes, so that all of it
// is of one moment; requests that are remembered later, and children that are begun later, may be there too.
func (s *Service) ExportSession(
	req *compactordv1.ExportSessionRequest, stream grpc.ServerStreamingServer[compactordv1.ExportSessionResponse],
) error {
	ctx := stream.Context()
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	for _, kind := range storage.Kinds() {
		if err := s.exporters()[kind](ctx, row, stream.Send); err != nil {
			if errors.Is(err, storage.ErrNotFound) {
				return apierror.SessionNotFound(req.GetSessionId())
			}
			return err
		}
	}
	return s.exportChildren(ctx, row, stream.Send)
}

// send sends a piece of an export.
type send func(*compactordv1.ExportSessionResponse) error

// exporters sends, for each kind of what a store keeps of a session, all of that kind.
func (s *Service) exporters() map[storage.Kind]func(context.Context, *storagev1.Session, send) error {
	return map[storage.Kind]func(context.Context, *storagev1.Session, send) error{
		storage.RowKind:     s.exportRow,
		storage.MessageKind: s.exportMessages,
		storage.RecordKind:  s.exportRecords,
		storage.RequestKind: s.exportRequests,
	}
}

func (s *Service) exportRow(ctx context.Context, row *storagev1.Session, to send) error {
	content, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(row)
	if err != nil {
		return err
	}
	children, err := s.logs.Children(ctx, row)
	if err != nil {
		return err
	}
	answer := sessionOf(row)
	answer.Children = uint32(children)
	return to(&compactordv1.ExportSessionResponse{Item: &compactordv1.ExportSessionResponse_Session{
		Session: &compactordv1.StoredSession{Session: answer, RowJson: string(content)},
	}})
}

func (s *Service) exportMessages(ctx context.Context, row *storagev1.Session, to send) (err error) {
	all := []*compactordv1.IndexRange{{End: row.GetHead().GetNextIndex()}}
	read := s.logs.EachMessage(ctx, row, all, func(l *compactordv1.LoggedMessage) bool {
		l.State, l.Pinned = session.StateOf(row.GetHead(), l.GetIndex()), session.Pinned(row.GetHead(), l.GetIndex())
		err = to(&compactordv1.ExportSessionResponse{Item: &compactordv1.ExportSessionResponse_Message{Message: l}})
		return err == nil
	})
	return errors.Join(err, read)
}

func (s *Service) exportRecords(ctx context.Context, row *storagev1.Session, to send) error {
	for next, end := uint32(0), row.GetHead().GetNextSequence(); next < end; {
		chunk, err := s.logs.Records(ctx, row, next, end)
		if err != nil || len(chunk) == 0 {
			return err
		}
		for _, stored := range chunk {
			r := stored.GetRecord()
			next, r.PutAside = r.GetSequence()+1, !session.InForce(row.GetHead(), r.GetSequence())
			if err := to(&compactordv1.ExportSessionResponse{Item: &compactordv1.ExportSessionResponse_Record{Record: r}}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) exportRequests(ctx context.Context, row *storagev1.Session, to send) error {
	for after := ""; ; {
		chunk, err := s.logs.Requests(ctx, row, after, requestChunk)
		if err != nil || len(chunk) == 0 {
			return err
		}
		for _, r := range chunk {
			after = r.ID
			if err := to(&compactordv1.ExportSessionResponse{Item: &compactordv1.ExportSessionResponse_Request{
				Request: &compactordv1.RememberedRequest{
					RequestId: r.ID, Sequence: r.Stored.GetSequence(), Digest: r.Stored.GetDigest(), Response: r.Stored.GetResponse(),
				},
			}}); err != nil {
				return err
			}
		}
	}
}

func (s *Service) exportChildren(ctx context.Context, row *storagev1.Session, to send) error {
	for q := (storage.SessionQuery{Parent: row.GetUid(), Limit: childChunk}); ; {
		rows, next, err := s.logs.Rows(ctx, q)
		if err != nil {
			return err
		}
		for _, child := range rows {
			if err := s.logs.AddPolicy(ctx, child); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if err := to(&compactordv1.ExportSessionResponse{Item: &compactordv1.ExportSessionResponse_Child{Child: sessionOf(child)}}); err != nil {
				return err
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}
